/* charts_time.js: how times fell: against trials, against seconds, of several campaigns, and how they spread. */

/* Pixels that the labels of lines at these times are moved down by, so that none lies on another; of a plot that is so
 * many pixels high, with timeAxis(low, high). */
function apart(times, low, high, pixels) {
  const share = t => (high / low > 4 ? Math.log(high / t) / Math.log(high / low) : (high - t) / (high - low))
  const at = times.map(t => pixels * share(t))
  return spread(at, 13, pixels - 6).map((y, k) => y - at[k])
}

/* Trials as a cloud a kernel, the best so far as steps, the baselines as lines. x: of a row; height: the chart's, in
 * pixels. */
function progressOption(c, x, xName, height) {
  const times = sortedSought(c)
  if (!times.length) return null
  const lines = lineBaselines(c).filter(i => c.sought(i) > 0)
  const range = shownRange(
    times,
    lines.map(i => c.sought(i))
  )
  const longest = Math.max(11, ...lines.map(i => c.text('kernel', i).length)) // letters
  const improved = c.improvements(x)
  const moved = apart(
    lines.concat(improved.slice(-1)).map(i => c.sought(i)),
    range.low,
    range.high,
    height - 82
  )
  const endLabel = (k, color) => ({
    show: !narrow(),
    formatter: '{a}',
    width: 150,
    overflow: 'truncate',
    color,
    fontSize: 11,
    distance: 4,
    offset: [0, moved[k]]
  })
  const last = c.candidates.reduce((m, i) => Math.max(m, x(i) || 0), 0)
  const steps = improved.map(i => [x(i), c.sought(i), i])
  if (steps.length) steps.push([last, steps[steps.length - 1][1], improved[improved.length - 1]])
  const right = i => c.text('outcome', i) === 'ok'
  const cloud = (name, colour, of) => ({
    name,
    type: 'scatter',
    large: c.timed.length > 5000,
    largeThreshold: 5000,
    symbolSize: c.timed.length > 5000 ? 2 : 5,
    itemStyle: { color: colour, opacity: 0.45 },
    data: c.timed.filter(i => of(i) && c.sought(i) <= range.high).map(i => [x(i), c.sought(i), i])
  })
  const clouds = c.kernels.map((k, s) => cloud(k, seriesColour(s), i => c.text('kernel', i) === k && right(i)))
  const others = cloud('not right', cssVar('--mild'), i => !right(i)) // they may lie below the best so far
  others.symbol = 'emptyCircle'
  others.itemStyle.opacity = 0.8
  if (others.data.length) clouds.push(others)
  return {
    legend: {},
    grid: { left: 62, right: narrow() ? 14 : Math.min(170, Math.max(40, 16 + 6.2 * longest)), top: 36, bottom: 46 },
    tooltip: {
      trigger: 'item',
      formatter: p =>
        p.value && p.value[2] >= 0
          ? trialTip(c, p.value[2])
          : esc(p.seriesName) + ': ' + num(p.value[1], 5) + ' ' + c.unit
    },
    xAxis: {
      type: 'value',
      name: xName,
      min: 0,
      max: last || 1,
      axisLabel: { formatter: v => num(v, 4), showMaxLabel: false }
    },
    yAxis: timeAxis(range.low, range.high, c.unit),
    series: clouds.concat(
      [
        steps.length && {
          name: 'best so far',
          type: 'line',
          step: 'end',
          data: steps,
          symbol: 'circle',
          symbolSize: 6,
          showSymbol: steps.length < 60,
          color: cssVar('--ink'),
          lineStyle: { width: 2 },
          endLabel: endLabel(lines.length, cssVar('--ink')),
          z: 5
        }
      ].filter(Boolean),
      lines.map((i, k) => ({
        name: c.text('kernel', i),
        type: 'line',
        data: [
          [0, c.sought(i), -1],
          [last || 1, c.sought(i), -1]
        ],
        symbol: 'none',
        z: 4,
        color: seriesColour(c.kernels.length + k),
        lineStyle: { type: 'dashed', width: 1.5 },
        endLabel: endLabel(k, seriesColour(c.kernels.length + k))
      }))
    )
  }
}

/* Trials by time: {range, bins, edge: number of a bin -> ms, counts: of each kernel, lines: baselines}; or null. */
function distribution(c) {
  const times = sortedTimes(c)
  if (!times.length) return null
  const lines = lineBaselines(c)
  const range = shownRange(
    times,
    lines.map(i => c.col.time_ms[i])
  )
  const bins = Math.max(8, Math.min(60, Math.round(Math.sqrt(times.length) * 1.6))),
    log = range.high / range.low > 4
  const edge = k =>
    log ? range.low * Math.pow(range.high / range.low, k / bins) : range.low + ((range.high - range.low) * k) / bins
  const counts = c.kernels.map(() => new Array(bins).fill(0))
  for (const i of c.timed) {
    const t = Math.min(c.col.time_ms[i], range.high) // what is slower is in the last bar
    const at = log
      ? Math.log(t / range.low) / Math.log(range.high / range.low)
      : (t - range.low) / (range.high - range.low)
    counts[c.kernels.indexOf(c.text('kernel', i))][Math.min(bins - 1, Math.floor(at * bins))]++
  }
  return { range, bins, edge, counts, lines }
}

function distributionOption(c) {
  const d = distribution(c)
  if (!d) return null
  const { range, bins, edge, counts, lines } = d
  const top = Math.max(1, ...Array.from({ length: bins }, (_, k) => counts.reduce((s, l) => s + l[k], 0)))
  const marks = lines.map((i, k) => ({
    name: c.text('kernel', i),
    type: 'line',
    symbol: 'none',
    silent: true,
    color: seriesColour(c.kernels.length + k),
    lineStyle: { type: 'dashed', width: 1.5 },
    data: [
      [c.col.time_ms[i], 0],
      [c.col.time_ms[i], top]
    ]
  }))
  const bars = counts.map((list, s) => ({
    name: c.kernels[s],
    type: 'custom',
    clip: true,
    itemStyle: { color: seriesColour(s) },
    encode: { x: [0, 1], y: 3 },
    data: list
      .map((n, k) => [edge(k), edge(k + 1), counts.slice(0, s).reduce((sum, l) => sum + l[k], 0), 0, n])
      .map(d => {
        d[3] = d[2] + d[4]
        return d
      }),
    renderItem: (params, api) => {
      const a = api.coord([api.value(0), api.value(3)]),
        b = api.coord([api.value(1), api.value(2)])
      return api.value(4)
        ? {
            type: 'rect',
            shape: { x: a[0] + 0.5, y: a[1], width: Math.max(1, b[0] - a[0] - 1), height: b[1] - a[1] },
            style: { fill: api.visual('color') }
          }
        : null
    }
  }))
  return {
    legend: {},
    tooltip: {
      formatter: p =>
        esc(p.seriesName) +
        '<br>' +
        num(p.value[0], 4) +
        (range.beyond && p.dataIndex === bins - 1 ? ' ms or more: ' : ' to ' + num(p.value[1], 4) + ' ms: ') +
        plural(p.value[4], 'trial')
    },
    xAxis: timeAxis(range.low, range.high, 'ms'),
    yAxis: { type: 'value', name: 'trials', minInterval: 1, max: top },
    series: bars.concat(marks)
  }
}

/* Best so far of several campaigns of one problem, size and device: steps of each, [x, value], and the values that are
 * shown: from the best to the worst that one had after a twentieth of the longest; what was before is above the
 * edge. */
function comparison(list, byTime) {
  const all = list.map(c => {
    const x = i => (byTime ? c.col.at_seconds[i] : c.col.number[i])
    const steps = c.improvements(x).map(i => [x(i), c.sought(i)])
    const last = c.candidates.reduce((m, i) => Math.max(m, x(i) || 0), 0)
    if (steps.length) steps.push([last, steps[steps.length - 1][1]])
    return steps
  })
  const met = all.filter(s => s.length)
  if (!met.length) return null
  const longest = Math.max(...met.map(s => s[s.length - 1][0])),
    low = Math.min(...met.map(s => s[s.length - 1][1]))
  const early = s => (s.filter(d => d[0] <= longest / 20).pop() || s[0])[1]
  const first = Math.max(...met.map(s => s[0][1])),
    high = Math.max(low * 1.02, ...met.map(early))
  const pad = (high - low) / 20
  return { all, longest, low: low - pad, high: high + pad, cut: first > high + pad }
}

function comparisonOption(list, byTime) {
  const drawn = comparison(list, byTime)
  if (!drawn) return null
  const series = list.map((c, k) => {
    return {
      name: '#' + c.raw.id + ' ' + c.raw.strategy,
      type: 'line',
      step: 'end',
      data: drawn.all[k],
      symbol: 'none',
      lineStyle: { width: 2 },
      color: seriesColour(k)
    }
  })
  return {
    legend: {},
    tooltip: { trigger: 'axis', valueFormatter: v => num(v, 5) + ' ' + list[0].unit },
    xAxis: {
      type: 'value',
      name: byTime ? 'seconds' : 'trials',
      min: 0,
      max: drawn.longest,
      axisLabel: { formatter: v => num(v, 4), showMaxLabel: false }
    },
    yAxis: timeAxis(drawn.low, drawn.high, list[0].unit),
    series
  }
}
