/* charts.js: charts that are drawn when they come into sight, in the colours of the theme, and again when it changes.
 * What a chart shows is an option of ECharts, made by a function each time. */

const charts = new Set()

function cssVar(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim()
}
function seriesColour(k) {
  return cssVar('--s' + ((k % 6) + 1))
}
function narrow() {
  return window.innerWidth < 640
}

/* What all charts share; own settings go over it. */
function base(option) {
  const ink = cssVar('--ink2'),
    line = cssVar('--line'),
    grid = cssVar('--grid')
  const axis = a =>
    Object.assign(
      {
        axisLine: { lineStyle: { color: line } },
        axisTick: { show: false },
        nameLocation: 'middle',
        nameGap: 30,
        nameTextStyle: { color: ink, fontSize: 12 },
        splitLine: { lineStyle: { color: grid } },
        minorSplitLine: { show: false }
      },
      a,
      { axisLabel: Object.assign({ color: ink, fontSize: 11, hideOverlap: true }, a.axisLabel) }
    )
  const out = Object.assign(
    {
      animation: false,
      textStyle: { fontFamily: 'inherit', color: ink },
      aria: { enabled: true, decal: { show: false } },
      grid: { left: 62, right: 22, top: 36, bottom: 46 },
      legend: { show: false },
      tooltip: {}
    },
    option
  )
  out.tooltip = Object.assign(
    {
      backgroundColor: cssVar('--card'),
      borderColor: line,
      textStyle: { color: cssVar('--ink'), fontSize: 12 },
      confine: true,
      extraCssText: 'max-width:26rem;white-space:normal;overflow-wrap:anywhere'
    },
    option.tooltip
  )
  if (option.legend)
    out.legend = Object.assign(
      {
        show: true,
        type: 'scroll',
        top: 0,
        left: 0,
        itemWidth: 14,
        itemHeight: 9,
        icon: 'roundRect',
        pageTextStyle: { color: ink },
        pageIconColor: ink,
        inactiveColor: cssVar('--ink3'),
        textStyle: { color: ink, fontSize: 12 }
      },
      option.legend
    )
  if (option.xAxis) out.xAxis = axis(option.xAxis)
  if (option.yAxis) out.yAxis = axis(Object.assign({ nameGap: 44 }, option.yAxis))
  return out
}

/* A figure: caption (a sentence that says what it shows), the chart, and what is said below it. make() gives the
 * option, or null for nothing to show. */
function chart(caption, make, { size = '', label = '', rem = 0 } = {}) {
  const box = h('div', { class: 'chart ' + size, role: 'img', 'aria-label': label || caption.replace(/\*/g, '') })
  if (rem) box.style.height = rem + 'rem'
  const words = caption.split('*') // *strong* words
  const figure = h(
    'figure',
    {},
    h(
      'figcaption',
      {},
      words.map((w, k) => (k % 2 ? h('b', {}, w) : w))
    ),
    box
  )
  const one = { box, drawn: null, dirty: true, visible: false }
  one.draw = () => {
    const option = make()
    one.dirty = false
    if (!option) {
      box.textContent = ''
      return
    }
    if (!one.drawn)
      one.drawn = echarts.init(box, null, {
        renderer: 'canvas',
        devicePixelRatio: Math.max(2, window.devicePixelRatio)
      })
    one.drawn.setOption(base(option), { notMerge: true })
    one.drawn.getZr().setCursorStyle('default')
  }
  one.refresh = () => {
    if (one.visible) one.draw()
    else one.dirty = true
  }
  box.chart = one
  charts.add(one)
  seen.observe(box)
  sized.observe(box)
  return figure
}

const seen = new IntersectionObserver(
  entries => {
    for (const e of entries) {
      const one = e.target.chart
      if (!one) continue
      one.visible = e.isIntersecting
      if (one.visible && one.dirty) one.draw()
    }
  },
  { rootMargin: '100px' }
)

const sized = new ResizeObserver(entries => {
  for (const e of entries) if (e.target.chart && e.target.chart.drawn) e.target.chart.drawn.resize()
})

/* All charts of elements that left the page are let go. */
function forgetCharts() {
  for (const one of charts) {
    seen.unobserve(one.box)
    sized.unobserve(one.box)
    if (one.drawn) one.drawn.dispose()
  }
  charts.clear()
}
function redrawCharts(all) {
  for (const one of charts)
    if (all || one.visible) one.draw()
    else one.dirty = true
}

/* An axis for times: logarithmic where they spread, so that what is near the best can be told apart. */
function timeAxis(low, high, name) {
  const wide = high / low > 4
  return {
    type: wide ? 'log' : 'value',
    logBase: high / low > 100 ? 10 : 2,
    scale: true,
    name,
    min: low,
    max: high,
    axisLabel: { formatter: v => num(v, 3) }
  }
}
/* The part of sorted times that a chart shows, and how many are beyond it. */
function shownRange(sorted, extra) {
  const low = Math.min(sorted[0], ...extra),
    top = sorted[sorted.length - 1]
  const high = Math.max(Math.min(top, Math.max(quantile(sorted, 0.98), low * 6)), ...extra)
  const pad = high / low > 4 ? 1.05 : 1 + (0.06 * (high - low)) / low
  return { low: low / pad, high: high * pad, beyond: sorted.filter(t => t > high * pad).length }
}
function sortedTimes(c) {
  return c.times || (c.times = Float64Array.from(c.timed, i => c.col.time_ms[i]).sort())
}
/* Baselines whose line means something: verified, or timed only. */
function lineBaselines(c) {
  return c.baselines.filter(i => c.outcome(i) === 'ok' && c.col.time_ms[i] > 0)
}

function trialTip(c, i) {
  return (
    '<b>trial ' +
    c.col.id[i] +
    '</b> (no. ' +
    c.col.number[i] +
    '), ' +
    esc(c.text('kernel', i)) +
    '<br>' +
    num(c.col.time_ms[i], 5) +
    ' ms' +
    (c.col.cold_ms[i] > 0 ? ', ' + num(c.col.cold_ms[i], 5) + ' ms cold in the final' : '') +
    '<br>' +
    esc(c.configuration(i))
  )
}

/* Trials as a cloud a kernel, the best so far as steps, the baselines as lines. x: of a row. */
function progressOption(c, x, xName) {
  const times = sortedTimes(c)
  if (!times.length) return null
  const lines = lineBaselines(c)
  const range = shownRange(
    times,
    lines.map(i => c.col.time_ms[i])
  )
  const improved = c.improvements()
  const last = c.candidates.reduce((m, i) => Math.max(m, x(i) || 0), 0)
  const steps = improved.map(i => [x(i), c.col.time_ms[i], i])
  if (steps.length) steps.push([last, steps[steps.length - 1][1], improved[improved.length - 1]])
  const clouds = c.kernels.map((k, s) => ({
    name: k,
    type: 'scatter',
    large: c.timed.length > 5000,
    largeThreshold: 5000,
    symbolSize: c.timed.length > 5000 ? 2 : 5,
    itemStyle: { color: seriesColour(s), opacity: 0.45 },
    data: c.timed
      .filter(i => c.text('kernel', i) === k && c.col.time_ms[i] <= range.high)
      .map(i => [x(i), c.col.time_ms[i], i])
  }))
  return {
    legend: {},
    grid: { left: 62, right: narrow() ? 14 : 104, top: 36, bottom: 46 },
    tooltip: {
      trigger: 'item',
      formatter: p =>
        p.value && p.value[2] >= 0 ? trialTip(c, p.value[2]) : esc(p.seriesName) + ': ' + num(p.value[1], 5) + ' ms'
    },
    xAxis: {
      type: 'value',
      name: xName,
      min: 0,
      max: last || 1,
      axisLabel: { formatter: v => num(v, 4), showMaxLabel: false }
    },
    yAxis: timeAxis(range.low, range.high, 'ms'),
    series: clouds.concat(
      [
        {
          name: 'best so far',
          type: 'line',
          step: 'end',
          data: steps,
          symbol: 'circle',
          symbolSize: 6,
          showSymbol: steps.length < 60,
          color: cssVar('--ink'),
          lineStyle: { width: 2 },
          z: 5
        }
      ],
      lines.map((i, k) => ({
        name: c.text('kernel', i),
        type: 'line',
        data: [
          [0, c.col.time_ms[i], -1],
          [last || 1, c.col.time_ms[i], -1]
        ],
        symbol: 'none',
        z: 4,
        color: seriesColour(c.kernels.length + k),
        lineStyle: { type: 'dashed', width: 1.5 },
        endLabel: {
          show: !narrow(),
          formatter: '{a}',
          color: seriesColour(c.kernels.length + k),
          fontSize: 11,
          distance: 4
        },
        labelLayout: { moveOverlap: 'shiftY' }
      }))
    )
  }
}

function distributionOption(c) {
  const times = sortedTimes(c)
  if (times.length < 2) return null
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
    const t = c.col.time_ms[i]
    if (t > range.high) continue
    const at = log
      ? Math.log(t / range.low) / Math.log(range.high / range.low)
      : (t - range.low) / (range.high - range.low)
    counts[c.kernels.indexOf(c.text('kernel', i))][Math.min(bins - 1, Math.floor(at * bins))]++
  }
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
        ' to ' +
        num(p.value[1], 4) +
        ' ms: ' +
        plural(p.value[4], 'trial')
    },
    xAxis: timeAxis(range.low, range.high, 'ms'),
    yAxis: { type: 'value', name: 'trials', minInterval: 1, max: top },
    series: bars.concat(marks)
  }
}

function outcomesOption(c) {
  const list = c.outcomes().reverse()
  if (!list.length) return null
  const tone = o =>
    cssVar(o === 'ok' ? '--good' : o === 'inaccurate' || o === 'skipped' || o === 'in_flight' ? '--mild' : '--bad')
  return {
    grid: { left: 86, right: 90, top: 6, bottom: 26 },
    tooltip: { formatter: p => esc(p.name) + ': ' + plural(p.value, 'trial') },
    xAxis: { type: 'value', minInterval: 1 },
    yAxis: { type: 'category', data: list.map(o => o[0]), axisLabel: { fontSize: 12 } },
    series: [
      {
        type: 'bar',
        barMaxWidth: 22,
        data: list.map(o => ({ value: o[1], itemStyle: { color: tone(o[0]), borderRadius: [0, 4, 4, 0] } })),
        label: {
          show: true,
          position: 'right',
          color: cssVar('--ink'),
          formatter: p => count(p.value) + ' (' + percent(p.value / c.candidates.length, 1) + ')'
        }
      }
    ]
  }
}

/* Rates against operations a byte, both logarithmic: the two ceilings, this report's winners and baselines. */
function rooflineOption(all, c) {
  if (!(c.ceiling > 0)) return null
  const knee = (c.peakTflops * 1000) / c.peakGbps
  const same = all.filter(o => o.peakTflops === c.peakTflops && o.peakGbps === c.peakGbps && o.intensity > 0)
  const xs = same.map(o => o.intensity).concat([knee])
  const low = Math.min(...xs) / 8,
    high = Math.max(...xs) * 8
  const points = []
  for (const i of c.baselines)
    if (c.ms(i) > 0)
      points.push({
        c,
        i,
        kind: 1,
        name: c.text('kernel', i) + (c.outcome(i) === 'ok' ? '' : ' (' + c.outcome(i) + ')')
      })
  for (const o of same)
    if (o.best >= 0)
      points.push({ c: o, i: o.best, kind: 0, name: same.length > 1 ? 'winner of #' + o.raw.id : 'winner' })
  const rates = points.map(p => p.c.tflops(p.i)).concat([c.peakTflops])
  const bottom = Math.min(...rates, ((low * c.peakGbps) / 1000) * 4) / 2,
    top = Math.max(...rates) * 1.5
  const cloud = c.timed.length > 4000 ? c.timed.filter((_, k) => k % Math.ceil(c.timed.length / 4000) === 0) : c.timed
  // near ones of a kind share the label of the first
  const near = (p, q) =>
    p.kind === q.kind && p.c.intensity === q.c.intensity && Math.abs(Math.log(p.c.tflops(p.i) / q.c.tflops(q.i))) < 0.12
  points.forEach((p, k) => {
    p.lead = points.findIndex(q => near(p, q)) === k
  })
  const label = p => ({
    show: p.lead,
    position: p.kind ? 'left' : 'right',
    color: cssVar('--ink'),
    fontSize: 11,
    lineHeight: 14,
    formatter: points
      .filter(q => near(p, q))
      .map(q => q.name + '  ' + num(q.c.tflops(q.i), 3))
      .join('\n')
  })
  return {
    grid: { left: 62, right: 26, top: 20, bottom: 46 },
    tooltip: { formatter: p => (p.data && p.data.tip ? p.data.tip : '') },
    xAxis: {
      type: 'log',
      name: 'FLOP per byte that the problem has to move',
      min: low,
      max: high,
      axisLabel: { formatter: v => num(v, 2) }
    },
    yAxis: { type: 'log', name: 'TFLOP/s', min: bottom, max: top, axisLabel: { formatter: v => num(v, 2) } },
    series: [
      {
        type: 'line',
        symbol: 'none',
        silent: true,
        color: cssVar('--ink2'),
        lineStyle: { width: 2 },
        data: [
          [low, (low * c.peakGbps) / 1000],
          [knee, c.peakTflops],
          [high, c.peakTflops]
        ],
        markPoint: {
          symbol: 'rect',
          symbolSize: 0.1,
          silent: true,
          label: { color: cssVar('--ink2'), fontSize: 11 },
          data: [
            {
              coord: [Math.sqrt(low * knee), (Math.sqrt(low * knee) * c.peakGbps) / 1000],
              label: { formatter: num(c.peakGbps, 4) + ' GB/s', position: 'left' }
            },
            {
              coord: [Math.sqrt(high * knee), c.peakTflops],
              label: { formatter: num(c.peakTflops, 3) + ' TFLOP/s, float32', position: 'top' }
            }
          ]
        }
      },
      {
        type: 'scatter',
        symbolSize: 4,
        silent: true,
        itemStyle: { color: seriesColour(0), opacity: 0.15 },
        data: cloud.map(i => [c.intensity, c.raw.flops / (c.col.time_ms[i] * 1e9)])
      },
      {
        type: 'scatter',
        z: 5,
        data: points.map(p => ({
          value: [p.c.intensity, p.c.tflops(p.i)],
          symbol: p.kind ? 'diamond' : 'circle',
          symbolSize: 11,
          itemStyle: {
            color: p.kind ? seriesColour(1) : seriesColour(0),
            borderColor: cssVar('--card'),
            borderWidth: 1.5
          },
          label: label(p),
          tip:
            esc(p.name) +
            ': ' +
            num(p.c.tflops(p.i), 4) +
            ' TFLOP/s, ' +
            percent(p.c.tflops(p.i) / p.c.ceiling) +
            ' of the roofline'
        }))
      }
    ]
  }
}

/* Error (or energy) against time: every timed trial, and those that nothing beats in both. */
function frontOption(c, y, yName, rows) {
  if (rows.length < 2) return null
  const front = c.front(rows, i => c.ms(i), y)
  const times = rows.map(i => c.ms(i)).sort((a, b) => a - b),
    values = rows
      .map(y)
      .filter(v => v > 0)
      .sort((a, b) => a - b)
  if (!values.length) return null
  const range = shownRange(Float64Array.from(times), [])
  const groups = [
    ['ok', seriesColour(0)],
    ['inaccurate', seriesColour(1)]
  ].filter(g => rows.some(i => c.outcome(i) === g[0]))
  return {
    legend: {},
    tooltip: {
      formatter: p =>
        p.value && p.value[2] >= 0 ? trialTip(c, p.value[2]) + '<br>' + esc(yName) + ' ' + num(p.value[1], 4) : ''
    },
    xAxis: timeAxis(range.low, range.high, 'ms'),
    yAxis: Object.assign(
      { name: yName, nameGap: 50, axisLabel: { formatter: v => (v < 1e-3 ? v.toExponential(0) : num(v, 3)) } },
      values[values.length - 1] > 1.5 * values[0]
        ? { type: 'log', min: values[0] / 1.5, max: values[values.length - 1] * 1.5 }
        : { type: 'value', scale: true }
    ),
    series: groups
      .map(g => ({
        name: g[0],
        type: 'scatter',
        large: rows.length > 5000,
        symbolSize: rows.length > 5000 ? 2 : 6,
        itemStyle: { color: g[1], opacity: 0.5 },
        data: rows.filter(i => c.outcome(i) === g[0] && y(i) > 0 && c.ms(i) <= range.high).map(i => [c.ms(i), y(i), i])
      }))
      .concat([
        {
          name: 'front',
          type: 'line',
          step: 'end',
          color: cssVar('--ink'),
          lineStyle: { width: 1.5 },
          symbolSize: 7,
          z: 5,
          data: front.filter(i => y(i) > 0).map(i => [c.ms(i), y(i), i])
        }
      ])
  }
}

/* Best so far of several campaigns of one problem, size and device. */
function comparisonOption(list, byTime) {
  const series = list.map((c, k) => {
    const x = i => (byTime ? c.col.at_seconds[i] : c.col.number[i])
    const steps = c.improvements().map(i => [x(i), c.col.time_ms[i]])
    const last = c.candidates.reduce((m, i) => Math.max(m, x(i) || 0), 0)
    if (steps.length) steps.push([last, steps[steps.length - 1][1]])
    return {
      name: '#' + c.raw.id + ' ' + c.raw.strategy,
      type: 'line',
      step: 'end',
      data: steps,
      symbol: 'none',
      lineStyle: { width: 2 },
      color: seriesColour(k)
    }
  })
  const values = series.flatMap(s => s.data.map(d => d[1]))
  if (!values.length) return null
  return {
    legend: {},
    tooltip: { trigger: 'axis', valueFormatter: v => num(v, 5) + ' ms' },
    xAxis: {
      type: 'value',
      name: byTime ? 'seconds' : 'trials',
      min: 0,
      max: Math.max(...series.flatMap(s => s.data.map(d => d[0]))),
      axisLabel: { formatter: v => num(v, 4) }
    },
    yAxis: timeAxis(Math.min(...values) * 0.99, Math.min(Math.max(...values), Math.min(...values) * 6) * 1.01, 'ms'),
    series
  }
}
