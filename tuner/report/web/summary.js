/* summary.js: sections of the page: what won, beside the baselines, and the campaigns where there are several. */

function tile(name, value, unit, of) {
  return h(
    'div',
    { class: 'tile' },
    h('dt', {}, name),
    h('dd', {}, value, unit ? h('small', {}, ' ' + unit) : null, of ? h('span', { class: 'of' }, of) : null)
  )
}

/* Bytes first where there are fewer than four FLOPs to each. */
function rateTile(tflops, gbps, rate) {
  const flops = [num(rate.scale * tflops, 4), rate.name]
  const bytes = [num(gbps, 4), 'GB/s']
  if (!(tflops > 0)) return gbps > 0 ? tile('Rate', ...bytes, null) : null
  if (!(gbps > 0)) return tile('Rate', ...flops, null)
  const [main, other] = 1000 * tflops < 4 * gbps ? [bytes, flops] : [flops, bytes]
  return tile('Rate', ...main, other.join(' '))
}

/* "bf16, 3 products" */
function unitName(u) {
  return (u.unit === 'f32' ? 'float32' : u.unit) + (u.products === 1 ? '' : ', ' + num(u.products, 3) + ' products')
}

/* "tensor cores in bf16, 3 products each" */
function unitText(u) {
  return (
    (u.unit === 'f32' ? 'float32 units' : 'tensor cores in ' + u.unit) +
    (u.products === 1 ? '' : ', ' + num(u.products, 3) + ' products each')
  )
}

/* [name, share, what it is of]: of the roofline, or of memory's bandwidth where the peak of the units is not known. */
function limitOf(c, i) {
  const u = c.unitOf(i),
    of = c.gbps(i) / c.peakGbps
  if (!(c.memoryRoof > 0 && c.ms(i) > 0)) return null
  const memory = num(c.peakGbps, 4) + ' GB/s',
    cached = of > 1 ? '; above it, caches hold part of the bytes, or fewer are moved' : ''
  const floats = num(c.raw.target.peak_tflops_f32, 4) + ' TFLOP/s'
  if (!(c.ceiling(i) > 0))
    return [
      'Of memory’s bandwidth',
      of,
      memory +
        cached +
        (u.unit
          ? '; the peak of the ' + unitText(u) + ' is not known'
          : c.tflops(i) > c.raw.target.peak_tflops_f32
            ? '; it does not compute with the float32 units, so their ' + floats + ' are no ceiling'
            : '; it is not known which units compute')
    ]
  if (c.memoryBound(i)) return ['Of the roofline', of, 'memory bound: ' + memory + cached]
  const share = c.tflops(i) / c.computeRoof(i)
  return [
    'Of the roofline',
    share,
    'compute bound: ' +
      num(c.computeRoof(i), 4) +
      ' TFLOP/s, ' +
      unitText(u) +
      (u.from === 'assumed' ? ' (its specification names no others)' : '') +
      (share > 1 ? '; above it, others compute, or less is computed' : '')
  ]
}

function limitTile(c, i) {
  const limit = limitOf(c, i)
  return limit && tile(limit[0], percent(limit[1]), '', limit[2])
}

/* Why there is no winner. */
function noWinner(c) {
  const ok = c.candidates.filter(i => c.outcome(i) === 'ok'),
    refused = ok.filter(i => c.refused(i))
  if (!c.candidates.length) return 'There is no winner: the campaign has no trials.'
  if (c.raw.state === 'running' && !refused.length)
    return 'No configuration has been verified yet, so there is no winner.'
  if (!ok.length) return 'There is no winner: no trial was ok. Below, Outcomes says why.'
  if (!refused.length) return 'There is no winner: no trial that was ok may win.'
  const first = refused.reduce((a, b) => (c.sought(b) < c.sought(a) ? b : a)),
    why = c.text('reason', first)
  return (
    'There is no winner: ' +
    (refused.length === ok.length
      ? 'the final refused all ' + count(ok.length) + ' that were ok'
      : 'the final refused ' + count(refused.length) + ' of ' + count(ok.length) + ' that were ok') +
    '. Trial ' +
    c.col.id[first] +
    ': ' +
    cut(why.replace(/^refused by the final: /, ''), 240)
  )
}

function summary(c) {
  const w = c.best,
    col = c.col,
    first = c.firstBaseline
  const ok = c.candidates.filter(i => c.outcome(i) === 'ok').length,
    refused = c.candidates.filter(i => c.refused(i)).length
  const tiles =
    w >= 0
      ? [
          tile(
            'Best time',
            num(c.ms(w), 5),
            'ms',
            col.cold_ms[w] > 0
              ? 'cold, in the final'
              : 'median of ' + c.measurements(w).map(m => m.count)[0] + ' samples'
          ),
          first >= 0 && c.speedup(w, first) > 0
            ? tile('Speed-up', fixed(c.speedup(w, first), 3), '×', 'over ' + c.text('kernel', first))
            : null,
          rateTile(c.tflops(w), c.gbps(w), c.rate),
          limitTile(c, w),
          Number.isFinite(col.error[w])
            ? tile(
                'Error',
                col.error[w].toExponential(1),
                '',
                'relative Frobenius' +
                  (first >= 0 && col.error[first] > 0
                    ? '; ' + c.text('kernel', first) + ' ' + col.error[first].toExponential(1)
                    : '')
              )
            : null,
          col.sustained_ms[w] > 0 ? tile('Sustained', num(col.sustained_ms[w], 5), 'ms', 'back to back') : null,
          c.energy[w] > 0
            ? tile(
                'Energy',
                num(c.energy[w], 4),
                'mJ',
                (c.energyMeasured ? 'a run' : 'a run, power × time back to back') +
                  (first >= 0 && c.energy[first] > 0
                    ? '; ' + c.text('kernel', first) + ' ' + num(c.energy[first], 4) + ' mJ'
                    : '')
              )
            : null
        ]
      : []
  const shown = w >= 0 ? [w, ...c.baselines] : c.baselines
  const columns = [
    ['', i => (i === w ? h('b', {}, 'winner') : c.text('kernel', i))],
    ['Outcome', i => badge(c.outcome(i))],
    ['Time ms', i => same(col.time_ms[i], 5)],
    ['Cold ms', i => same(col.cold_ms[i], 5)],
    ['Sustained ms', i => same(col.sustained_ms[i], 5)],
    shown.some(i => c.energy[i] > 0)
      ? ['Energy mJ' + (c.energyMeasured ? '' : ' (power × time)'), i => same(c.energy[i], 5)]
      : null,
    ['Winner’s speed-up', i => (i === w ? '' : w >= 0 && c.speedup(w, i) > 0 ? fixed(c.speedup(w, i), 3) + '×' : '–')],
    ['Error', i => (Number.isFinite(col.error[i]) ? col.error[i].toExponential(1) : '–')]
  ].filter(Boolean)
  const took = duration(c.seconds) + (c.recorded ? ' of recorded time' : '')
  const live = c.raw.state === 'running' ? 'running' : c.raw.state + ' after ' + took
  return h(
    'section',
    { id: 'summary', 'aria-labelledby': 'title', 'data-title': 'Summary' },
    h('h1', { id: 'title' }, c.raw.problem + ' on ' + c.raw.device),
    h(
      'p',
      { class: 'sub' },
      (c.sizeText() ? c.sizeText() + ' · ' : '') +
        'campaign ' +
        c.raw.id +
        ', strategy ' +
        c.raw.strategy +
        ', seed ' +
        c.raw.seed +
        (c.raw.objective === 'energy' ? ', for the least energy' : '') +
        ' · ' +
        live +
        ' · ' +
        plural(c.candidates.length, 'trial') +
        ', ' +
        count(ok) +
        ' ok' +
        (refused ? ', ' + count(refused) + ' of them refused by a final' : '')
    ),
    c.raw.note ? h('p', { class: 'warn' }, c.raw.note) : null,
    w >= 0
      ? h('dl', { class: 'tiles' }, tiles.filter(Boolean))
      : h('p', { class: 'warn' }, noWinner(c)),
    w >= 0
      ? h(
          'p',
          {},
          'Winner: trial ' + col.id[w] + ', kernel ' + c.text('kernel', w) + ' ',
          h('span', { class: 'conf' }, c.configuration(w))
        )
      : null,
    shown.length
      ? simpleTable(
          'The winner and the baselines',
          columns.map(k => k[0]),
          shown.map(i => columns.map(k => k[1](i))),
          columns.map((_, k) => k).slice(2)
        )
      : null
  )
}

function overview() {
  const rows = campaigns.map((c, k) => [
    h(
      'button',
      {
        type: 'button',
        class: k === state.at ? 'main' : '',
        'aria-pressed': String(k === state.at),
        click: () => {
          const back = keepPlace()
          state.at = k
          draw(back)
        }
      },
      '#' + c.raw.id
    ),
    c.raw.problem + ' ' + c.sizeText(),
    c.raw.device,
    c.raw.strategy,
    count(c.candidates.length),
    c.best >= 0 ? num(c.ms(c.best), 5) : '–',
    c.best >= 0 && c.firstBaseline >= 0 ? fixed(c.speedup(c.best, c.firstBaseline), 3) + '×' : '–',
    duration(c.seconds),
    c.raw.state
  ])
  const c = campaigns[state.at]
  const like = campaigns.filter(
    o =>
      o.raw.problem === c.raw.problem &&
      o.raw.device === c.raw.device &&
      o.sizeText() === c.sizeText() &&
      o.unit === c.unit
  )
  const edge = byTime => {
    const drawn = comparison(like, byTime)
    return drawn && drawn.cut ? '; what was worse than ' + num(drawn.high, 4) + ' ' + c.unit + ' is above the edge' : ''
  }
  return section(
    'campaigns',
    'Campaigns',
    simpleTable(
      'The campaigns of this report; the one chosen is shown below',
      ['', 'Problem', 'Device', 'Strategy', 'Trials', 'Best ms', 'Speed-up', 'Took', 'State'],
      rows,
      [4, 5, 6, 7]
    ),
    like.length > 1 && !comparison(like, false)
      ? h('p', { class: 'note' }, 'There is no chart of their best so far: none of them has a trial that may win.')
      : null,
    like.length > 1 && comparison(like, false)
      ? h(
          'div',
          { class: 'two' },
          chart(
            '*Best so far against trials*, campaigns of this problem, size and device' + edge(false),
            () => comparisonOption(like, false),
            () => comparisonNumbers(like, false),
            { size: 'low' }
          ),
          chart(
            '*Best so far against time*' + edge(true),
            () => comparisonOption(like, true),
            () => comparisonNumbers(like, true),
            { size: 'low' }
          )
        )
      : null
  )
}
