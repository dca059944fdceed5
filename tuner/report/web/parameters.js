/* parameters.js: the section of the page on what the parameters do, with what the reader chose of it. */

const IMPORTANCE_BARS = 16

function parameters(c) {
  const kernels = c.kernels.filter(k => variedParameters(c, k).length)
  if (!kernels.length) return null
  if (!kernels.includes(state.kernel))
    state.kernel = c.best >= 0 && kernels.includes(c.text('kernel', c.best)) ? c.text('kernel', c.best) : kernels[0]
  const box = h('div', {})
  const fill = () => {
    const varied = variedParameters(c, state.kernel),
      one = c.raw.importance.find(m => m.kernel === state.kernel)
    const names = varied.map(p => p.name),
      named = n => varied.find(p => p.name === n)
    if (!names.includes(state.a) || !names.includes(state.b) || state.a === state.b) {
      const pair = one && one.pairs.find(p => names.includes(p.a) && names.includes(p.b))
      state.a = pair ? pair.a : names[0]
      state.b = pair ? pair.b : names[1] || names[0]
    }
    const heat = h('div', {})
    const drawHeat = () =>
      heat.replaceChildren(
        chart(
          '*' + (state.median ? 'Median' : 'Best') + ' time, ms, by ' + state.a + ' and ' + state.b + '*',
          () => heatOption(c, state.kernel, named(state.a), named(state.b), state.median),
          () => heatNumbers(c, state.kernel, named(state.a), named(state.b), state.median),
          { size: 'tall' }
        )
      )
    drawHeat()
    const options = names.map(n => [n, n])
    const parts = [
      one
        ? h(
            'div',
            { class: 'two' },
            chart(
              '*Importance* of each parameter alone' +
                (one.alone.length > IMPORTANCE_BARS
                  ? ', the ' + IMPORTANCE_BARS + ' most important of ' + count(one.alone.length)
                  : ''),
              () => importanceOption(one, IMPORTANCE_BARS),
              () => importanceNumbers(one),
              { size: 'tall' }
            ),
            h(
              'div',
              {},
              simpleTable(
                'Pairs that explain more together than each alone',
                ['Pair', 'Share'],
                one.pairs.filter(p => p.share >= 0.005).map(p => [p.a + ' × ' + p.b, percent(p.share)]),
                [1]
              ),
              h(
                'p',
                { class: one.fit < 0.5 ? 'warn' : 'note' },
                'Functional analysis of variance on a random forest (Hutter, Hoos, Leyton-Brown, 2014) of ' +
                  plural(one.trials, 'timed trial') +
                  '; on trials that it has not seen the forest explains ' +
                  percent(Math.max(0, one.fit), 0) +
                  ' of the variation of log time' +
                  (one.fit < 0.5
                    ? ', so take the shares as hints only.'
                    : '. The shares say what matters over the whole space, not near the best.')
              )
            )
          )
        : h('p', { class: 'note' }, 'Too few timed trials of this kernel for an estimate of importance.'),
      parallelChart(c, orderParameters(varied, one), Boolean(one)),
      names.length > 1
        ? h(
            'div',
            {},
            h(
              'div',
              { class: 'row' },
              select('Across', options, state.a, v => {
                state.a = v
                drawHeat()
              }),
              select('Up', options, state.b, v => {
                state.b = v
                drawHeat()
              }),
              select(
                'Show',
                [
                  ['best', 'best time'],
                  ['median', 'median time']
                ],
                state.median ? 'median' : 'best',
                v => {
                  state.median = v === 'median'
                  drawHeat()
                }
              )
            ),
            heat
          )
        : null
    ]
    box.replaceChildren(...parts.filter(Boolean))
  }
  fill()
  return section(
    'parameters',
    'Parameters',
    kernels.length > 1
      ? h(
          'div',
          { class: 'row' },
          select(
            'Kernel',
            kernels.map(k => [k, k]),
            state.kernel,
            v => {
              state.kernel = v
              fill()
            }
          )
        )
      : null,
    box
  )
}
/* NOTE: what there is room for is asked when the section is made: a window that is made wider does not bring more. */
function parallelChart(c, ordered, ranked) {
  const room = narrow() ? 5 : 14,
    shown = ordered.slice(0, room),
    left = ordered.slice(room).map(p => p.name)
  return h(
    'div',
    {},
    chart(
      '*Parallel coordinates:* a line a trial, the strongest the fastest' +
        (c.timed.length > PARALLEL_LINES
          ? ' (the fastest ' + PARALLEL_LINES / 3 + ' and a spread of the others)'
          : '') +
        '; –: not active. The slowest tenth is at the top.',
      width => parallelOption(c, state.kernel, shown, width),
      () => parallelNumbers(c, state.kernel, shown),
      { size: 'tall' }
    ),
    h('p', { class: 'note screen' }, 'Drag along an axis to select.'),
    left.length
      ? h(
          'p',
          { class: 'note' },
          (ranked ? 'Left out, the least important: ' : 'Left out for want of room: ') + left.join(', ') + '.'
        )
      : null
  )
}
function orderParameters(varied, one) {
  const place = p => {
    const k = one ? one.alone.findIndex(a => a.name === p.name) : 0
    return k < 0 ? 999 : k
  }
  return varied.slice().sort((a, b) => place(a) - place(b))
}
