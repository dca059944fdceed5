/* table.js: all trials, a page at a time: sorted by any column, filtered by words and conditions, each with its
 * details. */

const PAGE_ROWS = 50

/* key, title, what it is worth when sorted, how it is shown; text: a text column; aside: left out
 * on paper */
const TABLE_COLUMNS = [
  { key: 'id', title: 'Trial', get: (c, i) => c.col.id[i], show: x => String(x) },
  { key: 'rank', title: 'Rank', get: (c, i) => c.col.rank[i], show: x => num(x, 4) },
  { key: 'time', title: 'Time ms', get: (c, i) => c.col.time_ms[i], show: x => same(x, 5) },
  { key: 'kernel', title: 'Kernel', text: true, get: (c, i) => c.text('kernel', i) },
  { key: 'outcome', title: 'Outcome', text: true, get: (c, i) => c.outcome(i), element: (c, i) => badge(c.outcome(i)) },
  { key: 'cold', title: 'Cold ms', get: (c, i) => c.col.cold_ms[i], show: x => same(x, 5) },
  { key: 'sustained', aside: true, title: 'Sustained ms', get: (c, i) => c.col.sustained_ms[i], show: x => same(x, 5) },
  {
    key: 'speedup',
    title: 'Speed-up',
    get: (c, i) => (c.firstBaseline < 0 ? NONE : c.speedup(i, c.firstBaseline)),
    show: x => (Number.isFinite(x) ? fixed(x, 3) + '×' : '–')
  },
  { key: 'tflops', aside: true, title: 'TFLOP/s', get: (c, i) => c.tflops(i), show: x => same(x, 4) },
  { key: 'gbps', aside: true, title: 'GB/s', get: (c, i) => c.gbps(i), show: x => same(x, 4) },
  {
    key: 'error',
    title: 'Error',
    get: (c, i) => c.col.error[i],
    show: x => (Number.isFinite(x) ? x.toExponential(1) : '–')
  },
  { key: 'registers', title: 'Registers', get: (c, i) => c.col.registers[i], show: x => num(x) },
  { key: 'local', aside: true, title: 'Local B', get: (c, i) => c.col.local_bytes[i], show: count },
  { key: 'shared', title: 'Shared B', get: (c, i) => c.col.shared_static[i] + c.col.shared_dynamic[i], show: count },
  { key: 'occupancy', title: 'Occupancy', get: (c, i) => c.col.occupancy[i], show: x => percent(x, 0) },
  { key: 'at', aside: true, title: 'At s', get: (c, i) => c.col.at_seconds[i], show: x => fixed(x, 1) },
  {
    key: 'configuration',
    title: 'Configuration, or why it is not ok',
    text: true,
    wide: true,
    get: (c, i) => c.configuration(i),
    show: (x, c, i) =>
      c.outcome(i) !== 'ok' && c.text('reason', i) ? c.text('reason', i).slice(0, 240) : c.configuration(i, c.varied)
  }
]

function columnClass(k) {
  return [k.wide ? 'conf' : k.text ? '' : 'n', k.aside ? 'aside' : ''].filter(Boolean).join(' ') || null
}

/* "time<5.2", "BM=128", "outcome!=ok", or a word that stands anywhere in a row: all must hold. Returns row ->
 * boolean. */
function rowFilter(c, query) {
  const tests = query
    .trim()
    .split(/\s+/)
    .filter(Boolean)
    .map(word => {
      const m = /^([\w.]+)(<=|>=|!=|=|<|>)(.+)$/.exec(word)
      const column = m && TABLE_COLUMNS.find(k => k.key === m[1].toLowerCase())
      const named = m ? c.parameters.filter(p => p.name === m[1]) : [] // one a type: kernels may differ in that
      if (m && (column || named.length)) {
        const get = named.length
          ? i => named.map(p => c.value(p, i)).find(v => v !== undefined)
          : i => column.get(c, i)
        const wanted = m[3],
          n = Number(wanted)
        return i => {
          const v = get(i)
          if (v === undefined || Number.isNaN(v)) return false
          if (m[2] === '=') return String(v) === wanted || (typeof v === 'number' && v === n)
          if (m[2] === '!=') return !(String(v) === wanted || (typeof v === 'number' && v === n))
          return m[2] === '<' ? v < n : m[2] === '>' ? v > n : m[2] === '<=' ? v <= n : v >= n
        }
      }
      const low = word.toLowerCase()
      return i =>
        (
          c.text('kernel', i) +
          ' ' +
          c.outcome(i) +
          ' ' +
          c.configuration(i) +
          ' ' +
          c.text('reason', i) +
          ' #' +
          c.col.id[i]
        )
          .toLowerCase()
          .includes(low)
    })
  return i => tests.every(t => t(i))
}

/* What is missing is last, either way; what is equal goes by time, then by number. */
function compareBy(c, column, down) {
  const sign = down ? -1 : 1,
    time = Float64Array.from(c.col.time_ms, t => (t > 0 ? t : Infinity))
  const rest = (a, b) => (time[a] < time[b] ? -1 : time[a] > time[b] ? 1 : a - b)
  if (column.text) {
    const values = Array.from({ length: c.n }, (_, i) => column.get(c, i))
    return (a, b) =>
      values[a] === values[b]
        ? rest(a, b)
        : values[a] === '' || (values[b] !== '' && values[a] > values[b] === !down)
          ? 1
          : -1
  }
  const keys = new Float64Array(c.n)
  for (let i = 0; i < c.n; i++) {
    const v = column.get(c, i)
    keys[i] = Number.isNaN(v) ? Infinity : sign * v
  }
  return (a, b) => (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : rest(a, b))
}

/* state: {query, outcome, kernel, sort, down, page}: kept when the page is drawn anew. */
function trialTable(c, state) {
  const body = h('tbody', {}),
    head = h('tr', {}),
    told = h('span', { 'aria-live': 'polite' })
  const back = h('button', { type: 'button', click: () => turn(-1) }, 'Previous'),
    on = h('button', { type: 'button', click: () => turn(1) }, 'Next')
  const search = h('input', {
    type: 'search',
    id: 'search',
    value: state.query,
    placeholder: 'e.g. BM=128 time<5.3 outcome=ok',
    'aria-describedby': 'search-help',
    autocomplete: 'off',
    spellcheck: 'false'
  })
  let rows = [],
    timer = 0
  const open = new Set()

  function turn(by) {
    state.page += by
    draw()
  }
  function find() {
    const pass = state.query.trim() ? rowFilter(c, state.query) : () => true,
      all = []
    for (let i = 0; i < c.n; i++)
      if (
        (!state.outcome || c.outcome(i) === state.outcome) &&
        (!state.kernel || c.text('kernel', i) === state.kernel) &&
        pass(i)
      )
        all.push(i)
    rows = all.sort(
      compareBy(
        c,
        TABLE_COLUMNS.find(k => k.key === state.sort),
        state.down
      )
    )
    draw()
  }
  function sortBy(column) {
    state.down = state.sort === column.key ? !state.down : false
    state.sort = column.key
    state.page = 0
    find()
    say('sorted by ' + column.title + (state.down ? ', descending' : ', ascending'))
  }
  function cells(i) {
    return TABLE_COLUMNS.map((k, at) => {
      const value = k.get(c, i),
        shown = k.element ? k.element(c, i) : k.show ? k.show(value, c, i) : value
      if (at > 0) return h('td', { class: columnClass(k) }, shown)
      const button = h(
        'button',
        {
          type: 'button',
          class: 'open',
          'aria-expanded': String(open.has(i)),
          'aria-label': 'Details of trial ' + shown,
          click: () => {
            if (!open.delete(i)) open.add(i)
            draw(i)
          }
        },
        shown
      )
      return h('th', { scope: 'row', class: 'n' }, button)
    })
  }
  function draw(focus) {
    const pages = Math.max(1, Math.ceil(rows.length / PAGE_ROWS))
    state.page = Math.min(Math.max(0, state.page), pages - 1)
    head.replaceChildren(
      ...TABLE_COLUMNS.map(k =>
        h(
          'th',
          {
            scope: 'col',
            class: columnClass({ ...k, wide: false }),
            'aria-sort': state.sort === k.key ? (state.down ? 'descending' : 'ascending') : null
          },
          h(
            'button',
            { type: 'button', click: () => sortBy(k) },
            k.title + (state.sort === k.key ? (state.down ? ' ↓' : ' ↑') : '')
          )
        )
      )
    )
    body.replaceChildren(
      ...rows
        .slice(state.page * PAGE_ROWS, (state.page + 1) * PAGE_ROWS)
        .flatMap(i =>
          [
            h('tr', { class: 'pickable', 'data-row': i }, cells(i)),
            open.has(i)
              ? h('tr', { class: 'detail' }, h('td', { colspan: TABLE_COLUMNS.length }, trialDetails(c, i)))
              : null
          ].filter(Boolean)
        )
    )
    told.textContent = rows.length
      ? count(state.page * PAGE_ROWS + 1) +
        ' to ' +
        count(Math.min(rows.length, (state.page + 1) * PAGE_ROWS)) +
        ' of ' +
        plural(rows.length, 'trial')
      : 'No trial passes the filter'
    back.disabled = state.page === 0
    on.disabled = state.page >= pages - 1
    if (focus !== undefined) {
      const b = body.querySelector('tr[data-row="' + focus + '"] button')
      if (b) b.focus()
    }
  }
  search.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      state.query = search.value
      state.page = 0
      find()
    }, 150)
  })
  const all = (key, name) =>
    [['', name]].concat([...new Set(Array.from({ length: c.n }, (_, i) => c.text(key, i)))].sort().map(t => [t, t]))
  const pick = (key, name) => v => {
    state[key] = v
    state.page = 0
    find()
  }
  find()
  return h(
    'div',
    {},
    h(
      'div',
      { class: 'row' },
      h('label', { class: 'hidden', for: 'search' }, 'Filter'),
      search,
      select('Outcome', all('outcome', 'all'), state.outcome, pick('outcome')),
      select('Kernel', all('kernel', 'all'), state.kernel, pick('kernel'))
    ),
    h(
      'p',
      { class: 'note', id: 'search-help' },
      'Words and conditions, all of which must hold: a parameter or one of ' +
        TABLE_COLUMNS.filter(k => !k.wide)
          .map(k => k.key)
          .join(', ') +
        ', with =, !=, <, >, <= or >=. A trial’s number opens its details.'
    ),
    h(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Trials' },
      h('table', { id: 'trials-table' }, h('caption', { class: 'hidden' }, 'Trials'), h('thead', {}, head), body)
    ),
    h('div', { class: 'pager' }, back, on, told)
  )
}
