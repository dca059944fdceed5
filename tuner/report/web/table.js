/* table.js: all trials, a page at a time: sorted by any column, filtered by words and conditions, each with its
 * details. */

const PAGE_ROWS = 50

/* key, title, what it is worth when sorted and filtered, how it is shown; text: a text column; aside: left out
 * on paper */
function allColumns(c) {
  const seconds = c.raw.device_kind === 'replay' ? 'At s, recorded' : 'At s'
  return [
    { key: 'id', title: 'Trial', get: i => c.col.id[i], show: x => String(x) },
    { key: 'rank', title: 'Rank', get: i => c.col.rank[i], show: x => num(x, 4) },
    { key: 'time', title: 'Time ms', get: i => c.col.time_ms[i], show: x => same(x, 5) },
    { key: 'kernel', title: 'Kernel', text: true, get: i => c.text('kernel', i) },
    { key: 'outcome', title: 'Outcome', text: true, get: i => c.outcome(i), show: badge },
    { key: 'cold', title: 'Cold ms', get: i => c.col.cold_ms[i], show: x => same(x, 5) },
    { key: 'sustained', aside: true, title: 'Sustained ms', get: i => c.col.sustained_ms[i], show: x => same(x, 5) },
    {
      key: 'energy',
      title: 'Energy mJ',
      get: i => (c.energyMeasured && c.energy[i] > 0 ? c.energy[i] : NONE),
      show: x => same(x, 5)
    },
    {
      key: 'speedup',
      title: 'Speed-up',
      get: i => (c.firstBaseline < 0 ? NONE : c.speedup(i, c.firstBaseline)),
      show: x => (Number.isFinite(x) ? fixed(x, 3) + '×' : '–')
    },
    {
      key: c.rate.scale > 1 ? 'gflops' : 'tflops',
      aside: true,
      title: c.rate.name,
      get: i => c.rate.scale * c.tflops(i),
      show: x => same(x, 4)
    },
    { key: 'gbps', aside: true, title: 'GB/s', get: i => c.gbps(i), show: x => same(x, 4) },
    {
      key: 'error',
      title: 'Error',
      get: i => c.col.error[i],
      show: x => (Number.isFinite(x) ? x.toExponential(1) : '–')
    },
    { key: 'registers', title: 'Registers', get: i => c.col.registers[i], show: x => num(x) },
    { key: 'local', aside: true, title: 'Local B', get: i => c.col.local_bytes[i], show: count },
    { key: 'shared', title: 'Shared B', get: i => c.col.shared_static[i] + c.col.shared_dynamic[i], show: count },
    { key: 'occupancy', title: 'Occupancy %', get: i => 100 * c.col.occupancy[i], show: x => num(x, 3) },
    { key: 'at', aside: true, title: seconds, get: i => c.col.at_seconds[i], show: x => fixed(x, 1) },
    {
      key: 'configuration',
      title: 'Configuration, or why it is not ok',
      text: true,
      wide: true,
      get: i => c.configuration(i),
      show: (x, i) =>
        (c.outcome(i) !== 'ok' || c.refused(i)) && c.text('reason', i)
          ? c.text('reason', i).slice(0, 240)
          : c.configuration(i, c.varied)
    }
  ]
}
/* Those of which a trial of the campaign has a value. */
function shownColumns(c, columns) {
  const has = k => {
    for (let i = 0; i < c.n; i++) if (!Number.isNaN(k.get(i))) return true
    return false
  }
  return columns.filter(k => k.text || k.key === 'time' || has(k))
}

function columnClass(k) {
  return [k.wide ? 'conf' : k.text ? '' : 'n', k.aside ? 'aside' : ''].filter(Boolean).join(' ') || null
}

/* What is missing is last, either way; what is equal goes by time, then by number. */
function compareBy(c, column, down) {
  const sign = down ? -1 : 1,
    time = Float64Array.from(c.col.time_ms, t => (t > 0 ? t : Infinity))
  const rest = (a, b) => (time[a] < time[b] ? -1 : time[a] > time[b] ? 1 : a - b)
  if (column.text) {
    const values = Array.from({ length: c.n }, (_, i) => column.get(i))
    return (a, b) =>
      values[a] === values[b]
        ? rest(a, b)
        : values[a] === '' || (values[b] !== '' && values[a] > values[b] === !down)
          ? 1
          : -1
  }
  const keys = new Float64Array(c.n)
  for (let i = 0; i < c.n; i++) {
    const v = column.get(i)
    keys[i] = Number.isNaN(v) ? Infinity : sign * v
  }
  return (a, b) => (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : rest(a, b))
}

/* state: {query, outcome, kernel, sort, down, page}: kept when the page is drawn anew. */
function trialTable(c, state) {
  const known = allColumns(c),
    columns = shownColumns(c, known)
  const body = h('tbody', {}),
    told = h('span', { 'aria-live': 'polite' }),
    hint = h('p', { class: 'warn', id: 'search-hint', role: 'status' })
  const heads = columns.map(k => h('button', { type: 'button', click: () => sortBy(k) }, k.title))
  const head = h(
    'tr',
    {},
    columns.map((k, at) => h('th', { scope: 'col', class: columnClass({ ...k, wide: false }) }, heads[at]))
  )
  const back = h('button', { type: 'button', click: () => turn(-1) }, 'Previous'),
    on = h('button', { type: 'button', click: () => turn(1) }, 'Next')
  const search = h('input', {
    type: 'search',
    id: 'search',
    value: state.query,
    placeholder: 'e.g. BM=128 time<5.3 outcome=ok',
    'aria-describedby': 'search-help search-hint',
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
  const sorted = () => columns.find(k => k.key === state.sort) || columns.find(k => k.key === 'time')
  function find() {
    const filter = rowFilter(c, state.query, known, columns),
      all = []
    hint.textContent = filter.hints.join(' ')
    hint.hidden = !filter.hints.length
    for (let i = 0; i < c.n; i++)
      if (
        (!state.outcome || c.outcome(i) === state.outcome) &&
        (!state.kernel || c.text('kernel', i) === state.kernel) &&
        filter.pass(i)
      )
        all.push(i)
    rows = all.sort(compareBy(c, sorted(), state.down))
    draw()
  }
  function sortBy(column) {
    state.down = sorted() === column ? !state.down : false
    state.sort = column.key
    state.page = 0
    find()
    say('sorted by ' + column.title + (state.down ? ', descending' : ', ascending'))
  }
  function cells(i) {
    return columns.map((k, at) => {
      const value = k.get(i),
        shown = k.show ? k.show(value, i) : value
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
    const by = sorted() // the buttons stay, so that one that has the focus keeps it
    heads.forEach((button, at) => {
      const is = columns[at] === by
      button.textContent = columns[at].title + (is ? (state.down ? ' ↓' : ' ↑') : '')
      if (is) button.parentNode.setAttribute('aria-sort', state.down ? 'descending' : 'ascending')
      else button.parentNode.removeAttribute('aria-sort')
    })
    body.replaceChildren(
      ...rows
        .slice(state.page * PAGE_ROWS, (state.page + 1) * PAGE_ROWS)
        .flatMap(i =>
          [
            h('tr', { class: 'pickable', 'data-row': i }, cells(i)),
            open.has(i)
              ? h('tr', { class: 'detail' }, h('td', { colspan: columns.length }, trialDetails(c, i)))
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
      : c.n
        ? 'No trial passes the filter'
        : 'There are no trials'
    const focused = document.activeElement
    back.disabled = state.page === 0
    on.disabled = state.page >= pages - 1
    if (focused === back && back.disabled) on.focus()
    if (focused === on && on.disabled) back.focus()
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
        columns
          .filter(k => !k.wide)
          .map(k => k.key)
          .join(', ') +
        ', with =, !=, <, >, <= or >=. A trial’s number opens its details.'
    ),
    hint,
    h(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Trials' },
      h('table', { id: 'trials-table' }, h('caption', { class: 'hidden' }, 'Trials'), h('thead', {}, head), body)
    ),
    h('div', { class: 'pager' }, back, on, told)
  )
}
