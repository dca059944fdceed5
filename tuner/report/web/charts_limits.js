/* charts_limits.js: trials against what limits them: outcomes, the roofline, the fronts of error and energy. */

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

function limitTip(c, i) {
  const limit = limitOf(c, i)
  return limit ? '<br>' + esc(limit[0] + ': ' + percent(limit[1]) + ', ' + limit[2]) : ''
}

/* What a roofline has: campaigns on a device of the same peaks, and of them the winners, after c's baselines; none
 * where memory's ceiling is not known. */
function rooflinePoints(all, c) {
  const device = o => JSON.stringify([o.raw.target.peak_tflops_f32, o.peakGbps])
  const same = c.memoryRoof > 0 ? all.filter(o => device(o) === device(c) && o.intensity > 0) : []
  const points = [],
    winner = narrow() ? '#' : 'winner of #'
  if (!same.length) return { same, points }
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
      points.push({ c: o, i: o.best, kind: 0, name: same.length > 1 ? winner + o.raw.id : 'winner' })
  return { same, points }
}

/* Rates against operations a byte, both logarithmic: this report's winners and baselines, memory's ceiling and those of
 * the units that they compute with. */
function rooflineOption(all, c, width, height) {
  const { same, points } = rooflinePoints(all, c)
  if (!points.length) return null
  const knee = u => (u.peak_tflops * 1000) / c.peakGbps
  const roofs = [] // the highest first; units that are as fast share one
  for (const u of points.map(p => p.c.unitOf(p.i)).filter(u => u.peak_tflops > 0)) {
    const like = roofs.find(r => r.peak_tflops === u.peak_tflops)
    if (!like) roofs.push({ peak_tflops: u.peak_tflops, names: new Set([unitName(u)]) })
    else like.names.add(unitName(u))
  }
  roofs.sort((a, b) => b.peak_tflops - a.peak_tflops)
  const xs = same.map(o => o.intensity).concat(roofs.map(knee))
  const low = Math.min(...xs) / 8,
    high = Math.max(...xs) * 8,
    end = roofs.length ? knee(roofs[0]) : high // of memory's slope
  const rates = points.map(p => p.c.tflops(p.i)).concat(roofs.map(u => u.peak_tflops))
  const bottom = Math.min(...rates, ((low * c.peakGbps) / 1000) * 4) / 2,
    top = Math.max(...rates) * 1.5
  const cloud = c.timed.length > 4000 ? c.timed.filter((_, k) => k % Math.ceil(c.timed.length / 4000) === 0) : c.timed
  // right of the plot is a column of labels, where none lies on a line
  const grid = { left: 62, right: narrow() ? 112 : 156, top: 20, bottom: 46 },
    at = rate => grid.top + ((height - grid.top - grid.bottom) * Math.log(top / rate)) / Math.log(top / bottom)
  const places = spread(
    points.map(p => at(p.c.tflops(p.i))),
    14,
    height - grid.bottom
  )
  return {
    grid,
    tooltip: { formatter: p => (p.data && p.data.tip ? p.data.tip : '') },
    xAxis: roundAxis(low, high, true, 'FLOP per byte that the problem has to move'),
    yAxis: roundAxis(bottom, top, true, 'TFLOP/s'),
    series: [
      ...[
        [[low, (low * c.peakGbps) / 1000], [end, (end * c.peakGbps) / 1000], num(c.peakGbps, 4) + ' GB/s'],
        ...roofs.map(u => [
          [knee(u), u.peak_tflops],
          [high, u.peak_tflops],
          num(u.peak_tflops, 4) + ': ' + [...u.names].join('; ')
        ])
      ].map(([from, to, text], k) => ({
        type: 'line',
        symbol: 'none',
        silent: true,
        color: cssVar('--ink2'),
        lineStyle: { width: 2 },
        data: [from, to],
        markPoint: {
          symbol: 'rect',
          symbolSize: 0.1,
          silent: true,
          label: { color: cssVar('--ink2'), fontSize: 11 },
          data: [
            {
              coord: k ? to : from.map((v, d) => v * Math.pow(to[d] / v, 0.35)),
              label: { formatter: text, position: 'left', offset: k ? [4, -9] : [0, 0] }
            }
          ]
        }
      })),
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
        labelLayout: p => ({
          x: width - grid.right + 14,
          y: places[p.dataIndex],
          align: 'left',
          verticalAlign: 'middle'
        }),
        labelLine: { show: true, length2: 6, lineStyle: { color: cssVar('--ink3'), width: 0.7, opacity: 0.6 } },
        data: points.map(p => ({
          value: [p.c.intensity, p.c.tflops(p.i)],
          symbol: p.kind ? 'diamond' : 'circle',
          symbolSize: 11,
          itemStyle: {
            color: p.kind ? seriesColour(1) : seriesColour(0),
            borderColor: cssVar('--card'),
            borderWidth: 1.5
          },
          label: {
            show: true,
            position: 'right',
            color: cssVar('--ink'),
            fontSize: 11,
            formatter: cut(p.name, narrow() ? 10 : 19) + '  ' + num(p.c.tflops(p.i), 3)
          },
          tip:
            esc(p.name) +
            ': ' +
            num(p.c.tflops(p.i), 4) +
            ' TFLOP/s' +
            limitTip(p.c, p.i)
        }))
      }
    ]
  }
}

/* Where 0 is drawn on a logarithmic axis of these values, sorted: below them all. */
function zeroBelow(values) {
  return values[0] / Math.max(3, Math.pow(values[values.length - 1] / values[0], 0.15))
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
  const zero = rows.some(i => y(i) === 0) ? zeroBelow(values) : 0,
    at = i => y(i) || zero,
    text = v => (v === zero ? '0' : v < 1e-3 ? v.toExponential(1) : num(v, 4)),
    top = values[values.length - 1]
  const groups = [
    ['ok', seriesColour(0)],
    ['inaccurate', seriesColour(1)]
  ].filter(g => rows.some(i => c.outcome(i) === g[0]))
  return {
    legend: {},
    tooltip: {
      formatter: p =>
        p.value && p.value[2] >= 0 ? trialTip(c, p.value[2]) + '<br>' + esc(yName) + ' ' + num(y(p.value[2]), 4) : ''
    },
    xAxis: timeAxis(range.low, range.high, 'ms'),
    yAxis: Object.assign(
      { name: yName, nameGap: 50, axisLabel: { formatter: text } },
      zero
        ? {
            type: 'log',
            min: zero / 1.2,
            max: top * 1.5,
            axisLabel: { formatter: text, customValues: [zero, ...ticks(values[0] / 1.5, top * 1.5, true)] }
          }
        : top > 1.5 * values[0]
          ? { type: 'log', min: values[0] / 1.5, max: top * 1.5 }
          : { type: 'value', scale: true }
    ),
    series: groups
      .map(g => ({
        name: g[0],
        type: 'scatter',
        large: rows.length > 5000,
        symbolSize: rows.length > 5000 ? 2 : 6,
        itemStyle: { color: g[1], opacity: 0.5 },
        data: rows
          .filter(i => c.outcome(i) === g[0] && at(i) > 0 && c.ms(i) <= range.high)
          .map(i => [c.ms(i), at(i), i])
      }))
      .concat([
        front.length && {
          name: 'front',
          type: 'line',
          step: 'end',
          color: cssVar('--ink'),
          lineStyle: { width: 1.5 },
          symbolSize: 7,
          z: 5,
          data: front.filter(i => at(i) > 0).map(i => [c.ms(i), at(i), i])
        }
      ])
      .filter(Boolean)
  }
}
