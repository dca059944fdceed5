/* summary.js: sections of the page: what won, beside the baselines, and the campaigns where there are several. */

function tile(name, value, unit, of) {
  return h(
    'div',
    { class: 'tile' },
    h('dt', {}, name),
    h('dd', {}, value, unit ? h('small', {}, ' ' + unit) : null, of ? h('span', { class: 'of' }, of) : null)
  )
}

/* Bytes first where there are fewer than four FLOPs to each; GFLOP/s where TFLOP/s would be thousandths. */
function rateTile(tflops, gbps) {
  const flops = tflops < 0.1 ? [num(1000 * tflops, 4), 'GFLOP/s'] : [num(tflops, 4), 'TFLOP/s']
  const bytes = [num(gbps, 4), 'GB/s']
  if (!(tflops > 0)) return gbps > 0 ? tile('Rate', ...bytes, null) : null
  if (!(gbps > 0)) return tile('Rate', ...flops, null)
  const [main, other] = 1000 * tflops < 4 * gbps ? [bytes, flops] : [flops, bytes]
  return tile('Rate', ...main, other.join(' '))
}

function summary(c) {
  const w = c.best,
    col = c.col,
    first = c.firstBaseline
  const ok = c.candidates.filter(i => c.outcome(i) === 'ok').length
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
          rateTile(c.tflops(w), c.gbps(w)),
          c.ceiling > 0
            ? tile(
                'Of the roofline',
                percent(c.tflops(w) / c.ceiling),
                '',
                c.memoryBound()
                  ? 'memory bound: ' + num(c.peakGbps, 4) + ' GB/s'
                  : 'compute bound: ' + num(c.peakTflops, 3) + ' TFLOP/s float32'
              )
            : null,
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
                num(c.energy[w] / 1000, 3),
                'J',
                c.energyMeasured
                  ? 'a run'
                  : 'a run, power × time back to back' +
                      (first >= 0 && c.energy[first] > 0
                        ? '; ' + c.text('kernel', first) + ' ' + num(c.energy[first] / 1000, 3) + ' J'
                        : '')
              )
            : null
        ]
      : []
  const rows = c.baselines.map(b => [
    c.text('kernel', b),
    badge(c.outcome(b)),
    same(col.time_ms[b], 5),
    same(col.cold_ms[b], 5),
    same(col.sustained_ms[b], 5),
    w >= 0 && c.speedup(w, b) > 0 ? fixed(c.speedup(w, b), 3) + '×' : '–',
    Number.isFinite(col.error[b]) ? col.error[b].toExponential(1) : '–'
  ])
  if (w >= 0)
    rows.unshift([
      h('b', {}, 'winner'),
      badge(c.outcome(w)),
      same(col.time_ms[w], 5),
      same(col.cold_ms[w], 5),
      same(col.sustained_ms[w], 5),
      '',
      Number.isFinite(col.error[w]) ? col.error[w].toExponential(1) : '–'
    ])
  const live = c.raw.state === 'running' ? 'running' : c.raw.state + ' after ' + duration(c.raw.seconds)
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
        ' ok'
    ),
    c.raw.note ? h('p', { class: 'warn' }, c.raw.note) : null,
    w >= 0
      ? h('dl', { class: 'tiles' }, tiles.filter(Boolean))
      : h('p', { class: 'warn' }, 'No configuration has been verified yet, so there is no winner.'),
    w >= 0
      ? h(
          'p',
          {},
          'Winner: trial ' + col.id[w] + ', kernel ' + c.text('kernel', w) + ' ',
          h('span', { class: 'conf' }, c.configuration(w))
        )
      : null,
    rows.length
      ? simpleTable(
          'The winner and the baselines',
          ['', 'Outcome', 'Time ms', 'Cold ms', 'Sustained ms', 'Winner’s speed-up', 'Error'],
          rows,
          [2, 3, 4, 5, 6]
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
          state.at = k
          draw()
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
    duration(c.raw.seconds),
    c.raw.state
  ])
  const c = campaigns[state.at]
  const like = campaigns.filter(
    o => o.raw.problem === c.raw.problem && o.raw.device === c.raw.device && o.sizeText() === c.sizeText()
  )
  return section(
    'campaigns',
    'Campaigns',
    simpleTable(
      'The campaigns of this report; the one chosen is shown below',
      ['', 'Problem', 'Device', 'Strategy', 'Trials', 'Best ms', 'Speed-up', 'Took', 'State'],
      rows,
      [4, 5, 6, 7]
    ),
    like.length > 1
      ? h(
          'div',
          { class: 'two' },
          chart(
            '*Best so far against trials*, campaigns of this problem, size and device',
            () => comparisonOption(like, false),
            { size: 'low' }
          ),
          chart('*Best so far against time*', () => comparisonOption(like, true), { size: 'low' })
        )
      : null
  )
}
