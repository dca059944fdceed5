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
 * option, or null for nothing to show; numbers() the table of what it shows. make(width, height), in
 * pixels, is asked again where they change. */
function chart(caption, make, numbers, { size = '', label = '', rem = 0 } = {}) {
  const title = label || caption.replace(/\*/g, '')
  const box = h('div', { class: 'chart ' + size, role: 'img', 'aria-label': title })
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
    box,
    numbersOf(title, numbers)
  )
  const one = { box, drawn: null, dirty: true, visible: false, sized: make.length > 0 }
  one.draw = () => {
    const option = make(box.clientWidth, box.clientHeight)
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
    // on paper all points at once: there is no later
    if (document.documentElement.classList.contains('printing'))
      for (const s of [option.series].flat()) s.progressive = 0
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
  for (const e of entries) {
    const one = e.target.chart
    if (!one || !one.drawn) continue
    one.drawn.resize()
    if (one.sized) one.draw()
  }
})

/* At once, where the observer would be too late. */
function fitCharts() {
  for (const one of charts) if (one.drawn) one.drawn.resize()
}

/* All charts as one picture each. NOTE: what ECharts paints on a canvas beside the first one (many points) Chromium
 * does not print. */
function paperCharts() {
  redrawCharts(true)
  for (const one of charts) {
    if (!one.drawn) continue
    const picture = one.drawn.renderToCanvas({ pixelRatio: 2 })
    picture.className = 'paper'
    one.box.append(picture)
  }
}
function unpaperCharts() {
  for (const picture of document.querySelectorAll('.chart > .paper')) picture.remove()
  fitCharts()
}

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

/* Round values from low to high, at most about eight. NOTE: ECharts puts labels at the ends too, which are no round
 * values and come to lie on their neighbours. */
function ticks(low, high, log) {
  const out = []
  if (!log) {
    const rough = (high - low) / 6,
      power = Math.pow(10, Math.floor(Math.log10(rough))),
      step = power * [1, 2, 5, 10].find(m => m * power >= rough)
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high * (1 + 1e-12); k++)
      out.push(Number((k * step).toPrecision(12)))
    return out
  }
  const apart = Math.log(high / low) / 8
  for (const round of [[1], [2, 5], [3, 7], [1.5, 4, 6, 8]])
    for (let k = Math.floor(Math.log10(low)); k <= Math.log10(high); k++)
      for (const m of round) {
        const v = Number((m * Math.pow(10, k)).toPrecision(12))
        if (v >= low && v <= high && out.every(o => Math.abs(Math.log(o / v)) >= apart)) out.push(v)
      }
  return out.length > 1 ? out.sort((a, b) => a - b) : ticks(low, high, false)
}

/* Where labels at these heights are put so that none lies on another, `gap` apart, and none below `most`; in pixels. */
function spread(heights, gap, most) {
  const order = heights.map((_, k) => k).sort((a, b) => heights[a] - heights[b]),
    y = heights.slice()
  for (let k = 1; k < order.length; k++) y[order[k]] = Math.max(y[order[k]], y[order[k - 1]] + gap)
  for (let k = order.length - 1; k >= 0; most = y[order[k]] - gap, k--) y[order[k]] = Math.min(y[order[k]], most)
  return y
}

/* The least digits, 3 or more, that tell values apart which are not the same. */
function digitsFor(values) {
  const different = new Set(values).size
  let digits = 3
  while (digits < 9 && new Set(values.map(v => num(v, digits))).size < different) digits++
  return digits
}

/* An axis for times: logarithmic where they spread, so that what is near the best can be told apart. */
function timeAxis(low, high, name) {
  return roundAxis(low, high, high / low > 4, name)
}
/* NOTE: min and max, and round values between them. */
function roundAxis(low, high, log, name) {
  const customValues = ticks(low, high, log),
    digits = digitsFor(customValues)
  return {
    type: log ? 'log' : 'value',
    logBase: 10,
    scale: true,
    name,
    min: low,
    max: high,
    axisTick: { show: false, customValues },
    axisLabel: { formatter: v => num(v, digits), customValues }
  }
}
/* The part of sorted times that a chart shows, and how many are beyond it. */
function shownRange(sorted, extra) {
  const low = Math.min(sorted[0], ...extra),
    top = sorted[sorted.length - 1]
  const high = Math.max(Math.min(top, Math.max(quantile(sorted, 0.98), low * 6)), ...extra)
  const pad = high / low > 4 ? 1.05 : Math.max(1.02, 1 + (0.06 * (high - low)) / low) // of one time, or equal ones, too
  return { low: low / pad, high: high * pad, beyond: sorted.filter(t => t > high * pad).length }
}
function sortedTimes(c) {
  return c.times || (c.times = Float64Array.from(c.timed, i => c.col.time_ms[i]).sort())
}
/* The same of what the campaign sought. */
function sortedSought(c) {
  return c.forEnergy ? Float64Array.from(c.timed.map(i => c.sought(i)).filter(x => x > 0)).sort() : sortedTimes(c)
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
    (c.energyMeasured && c.energy[i] > 0 ? ', ' + num(c.energy[i], 5) + ' mJ' : '') +
    '<br>' +
    esc(c.configuration(i))
  )
}
