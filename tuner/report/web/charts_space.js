/* charts_space.js: what the parameters do: importance, parallel coordinates, heat maps of pairs. */

const PARALLEL_LINES = 1500

/* Parameters of a kernel that have more than one value among its timed trials. */
function variedParameters(c, kernel) {
  const rows = c.timed.filter(i => c.text('kernel', i) === kernel)
  return c.parameters.filter(p => {
    const first = rows.length ? p.at[rows[0]] : -1
    return rows.some(i => p.at[i] !== first)
  })
}
/* Values in their natural order, as texts; the last is `inactive` where that occurs. */
function orderedValues(p, rows, inactive = 'not active') {
  const met = [...new Set(rows.map(i => p.at[i]))]
  const value = k => (k < 0 ? undefined : p.values[k])
  met.sort((a, b) =>
    a < 0
      ? 1
      : b < 0
        ? -1
        : typeof value(a) === 'number' && typeof value(b) === 'number'
          ? value(a) - value(b)
          : String(value(a)) < String(value(b))
            ? -1
            : 1
  )
  return { places: new Map(met.map((m, k) => [m, k])), names: met.map(m => (m < 0 ? inactive : String(value(m)))) }
}

function importanceOption(one, most) {
  const list = one.alone.slice(0, most).reverse()
  return {
    grid: { left: narrow() ? 96 : 130, right: 56, top: 6, bottom: 44 },
    tooltip: {
      formatter: p =>
        esc(p.name) + ': ' + percent(p.value) + ' ± ' + percent(list[p.dataIndex].deviation) + ' across trees'
    },
    xAxis: {
      type: 'value',
      min: 0,
      name: 'share of the variance of log time',
      axisLabel: { formatter: v => Math.round(100 * v) + ' %' }
    },
    yAxis: {
      type: 'category',
      data: list.map(a => a.name),
      axisLabel: { fontSize: 11, width: narrow() ? 88 : 120, overflow: 'truncate' }
    },
    series: [
      {
        type: 'bar',
        barMaxWidth: 18,
        data: list.map(a => a.share),
        itemStyle: { color: seriesColour(0), borderRadius: [0, 4, 4, 0] },
        label: { show: true, position: 'right', color: cssVar('--ink'), fontSize: 11, formatter: p => percent(p.value) }
      }
    ]
  }
}

/* The best trials and a spread of the others: what is drawn last lies on top. */
function parallelRows(rows, time) {
  const sorted = rows.slice().sort((a, b) => time(b) - time(a))
  if (sorted.length <= PARALLEL_LINES) return sorted
  const best = PARALLEL_LINES / 3,
    rest = sorted.slice(0, sorted.length - best),
    step = rest.length / (PARALLEL_LINES - best)
  return Array.from({ length: PARALLEL_LINES - best }, (_, k) => rest[Math.floor(k * step)]).concat(
    sorted.slice(sorted.length - best)
  )
}

function parallelOption(c, kernel, parameters, width) {
  const rows = c.timed.filter(i => c.text('kernel', i) === kernel)
  if (rows.length < 2 || !parameters.length) return null
  const shown = parallelRows(rows, i => c.col.time_ms[i])
  const order = parameters.map(p => orderedValues(p, rows, '–'))
  const left = 30,
    right = 58,
    top = 30 + 3.6 * Math.max(...parameters.map(p => cut(p.name, 20).length)),
    letters = Math.max(3, Math.floor(((width - left - right) / parameters.length - 16) / 6)) // up to the next axis
  const times = Float64Array.from(rows, i => c.col.time_ms[i]).sort()
  const low = times[0],
    high = Math.max(low * 1.0001, quantile(times, 0.9)),
    beyond = times[times.length - 1] > high
  // the ends, and what is not near them; equal times have one mark
  const equal = times[times.length - 1] === low
  const marks = equal
    ? [low]
    : ticks(low, high, high / low > 4)
        .filter(v => Math.min(v - low, high - v) > (high - low) / 16)
        .concat([low, high])
  const digits = digitsFor(marks)
  const ink = cssVar('--ink2')
  return {
    tooltip: { formatter: p => trialTip(c, shown[p.dataIndex]) },
    // NOTE: ECharts cuts an axis' name to the width between two axes, however it is turned
    graphic: parameters
      .map(p => cut(p.name, 20))
      .concat(['ms'])
      .map((text, k, all) => ({
        type: 'text',
        silent: true,
        x: left + (k * (width - left - right)) / (all.length - 1),
        y: top - 10,
        rotation: Math.PI / 5,
        style: { text, fill: ink, font: '10px ' + getComputedStyle(document.body).fontFamily, verticalAlign: 'middle' }
      })),
    parallel: {
      left,
      right,
      top,
      bottom: 20,
      parallelAxisDefault: {
        axisLine: { lineStyle: { color: cssVar('--line') } },
        axisTick: { show: false },
        axisLabel: {
          color: ink,
          fontSize: 10,
          backgroundColor: cssVar('--card'),
          padding: [1, 2],
          borderRadius: 2,
          formatter: v => cut(v, letters)
        },
        areaSelectStyle: { color: cssVar('--accent'), opacity: 0.25 }
      }
    },
    parallelAxis: parameters
      .map((p, k) => ({ dim: k, type: 'category', data: order[k].names }))
      .concat([
        {
          dim: parameters.length,
          type: high / low > 4 ? 'log' : 'value',
          scale: true,
          min: low,
          max: high,
          axisTick: { show: false, customValues: marks },
          axisLabel: {
            formatter: v => (v === high && beyond ? '≥ ' : '') + num(v, digits),
            customValues: marks
          }
        }
      ]),
    visualMap: {
      show: false,
      dimension: parameters.length,
      min: Math.log(low),
      max: Math.log(high),
      seriesIndex: 0,
      inRange: { color: cssVar('--ramp').split(',') }
    },
    series: [
      {
        type: 'parallel',
        lineStyle: { width: 1, opacity: shown.length > 400 ? 0.25 : 0.5 },
        inactiveOpacity: 0.02,
        activeOpacity: 0.7,
        data: shown.map(i => ({
          value: parameters
            .map((p, k) => order[k].names[order[k].places.get(p.at[i])])
            .concat([Math.min(high, c.col.time_ms[i])]),
          lineStyle: {
            color: rampColour((Math.log(Math.min(high, c.col.time_ms[i])) - Math.log(low)) / Math.log(high / low))
          }
        }))
      }
    ]
  }
}

/* 0 (the best) .. 1 in the theme's ramp. */
function rampColour(x) {
  const stops = cssVar('--ramp').split(','),
    at = Math.max(0, Math.min(0.9999, x)) * (stops.length - 1),
    k = Math.floor(at)
  const part = s => [1, 3, 5].map(p => parseInt(s.slice(p, p + 2), 16))
  const a = part(stops[k]),
    b = part(stops[k + 1])
  return 'rgb(' + a.map((v, p) => Math.round(v + (b[p] - v) * (at - k))).join(',') + ')'
}

/* Black or white, whichever can be read on a colour of rampColour. */
function inkOn(colour) {
  const [r, g, b] = colour.match(/\d+/g).map(v => Math.pow(v / 255, 2.2))
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? '#000' : '#fff'
}

/* Best or median time at each pair of values: {oa, ob: the values in order, data: [place of a, place of b, ms,
 * trials]}; or null. */
function heatCells(c, kernel, a, b, median) {
  const rows = c.timed.filter(i => c.text('kernel', i) === kernel)
  if (!a || !b || a === b || !rows.length) return null
  const oa = orderedValues(a, rows),
    ob = orderedValues(b, rows),
    cells = new Map()
  for (const i of rows) {
    const key = oa.places.get(a.at[i]) + ',' + ob.places.get(b.at[i])
    if (!cells.has(key)) cells.set(key, [])
    cells.get(key).push(c.col.time_ms[i])
  }
  const data = [...cells].map(([key, times]) => {
    times.sort((x, y) => x - y)
    return key
      .split(',')
      .map(Number)
      .concat([median ? quantile(times, 0.5) : times[0], times.length])
  })
  return { oa, ob, data }
}

function heatOption(c, kernel, a, b, median) {
  const map = heatCells(c, kernel, a, b, median)
  if (!map) return null
  const { oa, ob, data } = map
  const shown = data.map(d => d[2]).sort((x, y) => x - y)
  const low = shown[0],
    high = Math.max(
      shown[shown.length - 1] > low * 4 ? Math.min(shown[shown.length - 1], low * 4) : shown[shown.length - 1],
      low * 1.0001
    )
  const few = data.length <= 90 && !narrow(),
    digits = Math.max(4, digitsFor([low, high]))
  return {
    grid: { left: 74, right: 20, top: 10, bottom: 84 },
    tooltip: {
      formatter: p =>
        esc(a.name + '=' + oa.names[p.value[0]]) +
        ', ' +
        esc(b.name + '=' + ob.names[p.value[1]]) +
        '<br>' +
        (median ? 'median ' : 'best ') +
        num(p.value[2], 5) +
        ' ms of ' +
        plural(p.value[3], 'trial')
    },
    xAxis: { type: 'category', data: oa.names, name: a.name, nameGap: 26, splitLine: { show: false } },
    yAxis: {
      type: 'category',
      data: ob.names,
      name: b.name,
      nameGap: 54,
      splitLine: { show: false },
      axisLabel: { width: 44, overflow: 'truncate' }
    },
    visualMap: {
      type: 'continuous',
      dimension: 2,
      min: low,
      max: high,
      orient: 'horizontal',
      left: 'center',
      bottom: 0,
      itemHeight: 120,
      itemWidth: 10,
      calculable: false,
      formatter: v => num(v, digits) + (v >= high && shown[shown.length - 1] > high ? ' ms or more' : ' ms'),
      text:
        shown[shown.length - 1] === low
          ? ['', num(low, 4) + ' ms']
          : [num(high, digits) + ' ms' + (shown[shown.length - 1] > high ? ' or more' : ''), num(low, digits) + ' ms'],
      textStyle: { color: cssVar('--ink2'), fontSize: 11 },
      inRange: { color: cssVar('--ramp').split(',') }
    },
    series: [
      {
        // NOTE: a heatmap's cells are on a canvas of their own, which is missing in what Chromium prints
        type: 'custom',
        data,
        renderItem: (params, api) => {
          const [x, y] = api.coord([api.value(0), api.value(1)]),
            [width, height] = api.size([1, 1])
          const fill = rampColour((api.value(2) - low) / (high - low))
          return {
            type: 'rect',
            shape: { x: x - width / 2, y: y - height / 2, width, height },
            style: { fill, stroke: cssVar('--card'), lineWidth: 1 },
            textConfig: { position: 'inside' },
            textContent: few ? { style: { text: num(api.value(2), 3), fontSize: 10, fill: inkOn(fill) } } : null
          }
        }
      }
    ]
  }
}
