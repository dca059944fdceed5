/* numbers.js: what the charts show as tables, for those who can't see them, or want the digits. */

/* Below a chart: its table, which is made when it is opened first; of one without rows, that there are none. */
function numbersOf(title, make) {
  const summary = h('summary', {}, 'Numbers', h('span', { class: 'hidden' }, ': ' + title))
  const box = h('details', { class: 'numbers' }, summary)
  box.addEventListener('toggle', () => {
    if (!box.open || box.children.length > 1) return
    const table = make(),
      of = table && table.querySelector('caption').textContent
    box.append(
      table && table.querySelector('td') ? table : h('p', { class: 'note' }, (of ? of + ': t' : 'T') + 'here are none.')
    )
  })
  return box
}

function progressNumbers(c, x) {
  const row = i => [
    c.col.id[i],
    c.text('kernel', i),
    c.col.number[i] > 0 ? count(c.col.number[i]) : 'baseline',
    fixed(c.col.at_seconds[i], 1),
    num(c.sought(i), 6),
    h('span', { class: 'conf' }, c.configuration(i))
  ]
  const lines = lineBaselines(c).filter(i => c.sought(i) > 0)
  return simpleTable(
    'Each trial that was better than all before it' + (lines.length ? ', and the baselines' : ''),
    ['Trial', 'Kernel', 'No.', 'Seconds', c.forEnergy ? 'Energy mJ' : 'Time ms', 'Configuration'],
    c.improvements(x).concat(lines).map(row),
    [0, 2, 3, 4]
  )
}

function comparisonNumbers(list, byTime) {
  return simpleTable(
    'Each trial that was better than all before it of its campaign',
    ['Campaign', 'Strategy', 'Trial', 'No.', 'Seconds', list[0].forEnergy ? 'Energy mJ' : 'Time ms'],
    list.flatMap(c =>
      c
        .improvements(byTime ? i => c.col.at_seconds[i] : undefined)
        .map(i => [
          '#' + c.raw.id,
          c.raw.strategy,
          c.col.id[i],
          count(c.col.number[i]),
          fixed(c.col.at_seconds[i], 1),
          num(c.sought(i), 6)
        ])
    ),
    [2, 3, 4, 5]
  )
}

function distributionNumbers(c) {
  const d = distribution(c)
  if (!d) return null
  const rows = Array.from({ length: d.bins }, (_, k) => [
    num(d.edge(k), 4),
    d.range.beyond && k === d.bins - 1 ? num(sortedTimes(c).at(-1), 4) : num(d.edge(k + 1), 4),
    ...d.counts.map(list => count(list[k]))
  ])
  return simpleTable(
    'Trials by time',
    ['From ms', 'To ms', ...c.kernels],
    rows.filter((_, k) => d.counts.some(list => list[k])),
    [0, 1, ...c.kernels.map((_, k) => k + 2)]
  )
}

function rooflineNumbers(all, c) {
  const row = (o, i, name) => {
    const limit = limitOf(o, i)
    return [
      name,
      num(o.intensity, 4),
      num(o.tflops(i), 4),
      num(o.gbps(i), 4),
      percent(limit[1]),
      limit[0].replace('Of ', '') + ', ' + limit[2]
    ]
  }
  const winners = all.filter(o => o.best >= 0 && o.memoryRoof > 0)
  return simpleTable(
    'Winners and baselines',
    ['', 'FLOP per byte', 'TFLOP/s', 'GB/s', 'Share', 'Of'],
    winners
      .map(o => row(o, o.best, all.length > 1 ? 'winner of #' + o.raw.id : 'winner'))
      .concat(
        c.baselines
          .filter(i => c.ms(i) > 0)
          .map(i => row(c, i, c.text('kernel', i) + (c.outcome(i) === 'ok' ? '' : ' (' + c.outcome(i) + ')')))
      ),
    [1, 2, 3, 4]
  )
}

function outcomesNumbers(c) {
  return simpleTable(
    'How trials ended',
    ['Outcome', 'Trials', 'Share'],
    c.outcomes().map(o => [o[0], count(o[1]), percent(o[1] / c.candidates.length, 1)]),
    [1, 2]
  )
}

function frontNumbers(c, y, yName, rows) {
  return simpleTable(
    'What nothing beats in both',
    ['Trial', 'Kernel', 'Time ms', yName, 'Configuration'],
    c
      .front(rows, i => c.ms(i), y)
      .map(i => [
        c.col.id[i],
        c.text('kernel', i),
        num(c.ms(i), 6),
        y(i) > 0 && y(i) < 1e-3 ? y(i).toExponential(3) : num(y(i), 5),
        h('span', { class: 'conf' }, c.configuration(i))
      ]),
    [0, 2, 3]
  )
}

function importanceNumbers(one) {
  return simpleTable(
    'Share of the variance of log time of each parameter alone, and its deviation across trees',
    ['Parameter', 'Share', 'Deviation'],
    one.alone.map(a => [a.name, percent(a.share, 2), percent(a.deviation, 2)]),
    [1, 2]
  )
}

const PARALLEL_ROWS = 20
function parallelNumbers(c, kernel, parameters) {
  const rows = c.timed.filter(i => c.text('kernel', i) === kernel).sort((a, b) => c.col.time_ms[a] - c.col.time_ms[b])
  return simpleTable(
    'The fastest ' + plural(Math.min(rows.length, PARALLEL_ROWS), 'trial') + '; the table of trials has all',
    ['Trial', 'Time ms', ...parameters.map(p => p.name)],
    rows
      .slice(0, PARALLEL_ROWS)
      .map(i => [
        c.col.id[i],
        num(c.col.time_ms[i], 6),
        ...parameters.map(p => (p.at[i] < 0 ? '–' : valueText(p, p.values[p.at[i]])))
      ]),
    [0, 1]
  )
}

/* Rows as the chart has them, the highest on top. */
function heatNumbers(c, kernel, a, b, median) {
  const map = heatCells(c, kernel, a, b, median)
  if (!map) return null
  const at = new Map(map.data.map(d => [d[0] + ',' + d[1], d]))
  const cell = (x, y) => {
    const d = at.get(x + ',' + y)
    return d ? num(d[2], 5) + ' (' + count(d[3]) + ')' : '–'
  }
  return simpleTable(
    (median ? 'Median' : 'Best') + ' time, ms, of how many trials: ' + b.name + ' down, ' + a.name + ' across',
    [b.name + ' \\ ' + a.name, ...map.oa.names],
    map.ob.names.map((name, y) => [name, ...map.oa.names.map((_, x) => cell(x, y))]).reverse(),
    map.oa.names.map((_, x) => x + 1)
  )
}
