/* dom.js: elements and numbers as text. Text from the data only ever becomes text nodes. */

const TABLE_LOCALE = 'en-US'

/* h('p', {class: 'x'}, 'text', child): an element. Attributes that are functions are listeners. */
function h(tag, attributes, ...children) {
  const e = document.createElement(tag)
  for (const [key, value] of Object.entries(attributes || {})) {
    if (typeof value === 'function') e.addEventListener(key, value)
    else if (value === true) e.setAttribute(key, '')
    else if (value !== false && value !== null && value !== undefined) e.setAttribute(key, value)
  }
  e.append(...children.flat(Infinity).filter(c => c !== null && c !== undefined && c !== false))
  return e
}

/* For the charts' tooltips, which are HTML. */
function esc(text) {
  return String(text).replace(/[&<>"']/g, c => '&#' + c.charCodeAt(0) + ';')
}

/* x with `digits` significant digits, never in powers of ten between 1e-3 and 1e7. */
function num(x, digits = 4) {
  if (x === null || x === undefined || !Number.isFinite(x)) return '–'
  if (x === 0) return '0'
  const size = Math.floor(Math.log10(Math.abs(x)))
  if (size < -3 || size > 7) return x.toExponential(Math.max(0, digits - 2))
  return x.toLocaleString(TABLE_LOCALE, {
    maximumFractionDigits: Math.max(0, digits - 1 - size),
    minimumFractionDigits: 0
  })
}
/* The same with zeros at its end, for columns. */
function same(x, digits = 4) {
  if (!Number.isFinite(x) || x === 0) return num(x)
  const size = Math.floor(Math.log10(Math.abs(x))),
    places = Math.max(0, digits - 1 - size)
  return size < -3 || size > 7
    ? num(x, digits)
    : x.toLocaleString(TABLE_LOCALE, { maximumFractionDigits: places, minimumFractionDigits: places })
}
function fixed(x, digits) {
  return Number.isFinite(x) ? x.toFixed(digits) : '–'
}
/* An integer; one that no double holds comes as text (tuner/report/pack.h). */
function count(x) {
  if (typeof x === 'string') return BigInt(x).toLocaleString(TABLE_LOCALE)
  return Number.isFinite(x) ? x.toLocaleString(TABLE_LOCALE) : '–'
}
function percent(x, digits = 1) {
  return Number.isFinite(x) ? (100 * x).toFixed(digits) + ' %' : '–'
}
function duration(s) {
  if (!Number.isFinite(s)) return '–'
  if (s < 120) return num(s, 3) + ' s'
  return s < 7200 ? num(s / 60, 3) + ' min' : num(s / 3600, 3) + ' h'
}
function bytes(x) {
  if (!Number.isFinite(x)) return '–'
  return x < 1024 ? x + ' B' : x < 1048576 ? num(x / 1024, 3) + ' KiB' : num(x / 1048576, 3) + ' MiB'
}
function cut(text, letters) {
  return text.length > letters ? text.slice(0, letters - 1) + '…' : text
}
function plural(n, word) {
  return count(n) + ' ' + word + (n === 1 ? '' : 's')
}

/* For screen readers: what just changed. */
function say(text) {
  document.getElementById('said').textContent = text
}

/* A section of the page with a heading; the navigation is made of these. */
function section(id, title, ...children) {
  return h(
    'section',
    { id, 'aria-labelledby': id + '-title', 'data-title': title },
    h('h2', { id: id + '-title' }, title),
    ...children
  )
}

/* Rows of cells as a table; a cell is text or an element. numeric: indices of columns of numbers. */
function simpleTable(caption, head, rows, numeric = []) {
  const align = k => (numeric.includes(k) ? 'n' : null)
  return h(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    h(
      'table',
      {},
      h('caption', {}, caption),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          head.map((t, k) => h('th', { scope: 'col', class: align(k) }, t))
        )
      ),
      h(
        'tbody',
        {},
        rows.map(r =>
          h(
            'tr',
            {},
            r.map((c, k) => (k ? h('td', { class: align(k) }, c) : h('th', { scope: 'row', class: align(k) }, c)))
          )
        )
      )
    )
  )
}

function select(label, options, value, changed) {
  const s = h(
    'select',
    { change: () => changed(s.value) },
    options.map(o => h('option', { value: o[0] }, o[1]))
  )
  s.value = value
  return h('label', { class: 'pick' }, label + ' ', s)
}

const OUTCOME_MARK = { ok: '✓', in_flight: '…', inaccurate: '≈' }
function badge(outcome) {
  const kind =
    outcome === 'ok'
      ? 'good'
      : outcome === 'in_flight' || outcome === 'inaccurate' || outcome === 'skipped'
        ? 'mild'
        : 'bad'
  return h('span', { class: 'badge ' + kind }, (OUTCOME_MARK[outcome] || '✕') + ' ' + outcome)
}

/* Names and what they stand for: [name, value, class]; those without a value are left out. */
function facts(pairs) {
  return h(
    'dl',
    { class: 'facts' },
    pairs
      .filter(p => p && p[1] !== null && p[1] !== '' && p[1] !== '–')
      .map(p => [h('dt', {}, p[0]), h('dd', { class: p[2] || null }, p[1])])
  )
}
