/* main.js: the page, put together of its sections; the theme, printing, and newer data where it is served. */

const state = {
  at: 0,
  table: { query: '', outcome: '', kernel: '', sort: 'rank', down: false, page: 0 },
  kernel: '',
  a: '',
  b: '',
  median: false
}
let campaigns = [],
  drawn = 0

/* done: called when the last section is there. */
function draw(done) {
  const main = document.getElementById('main'),
    c = campaigns[state.at],
    pick = document.querySelector('#pick-campaign')
  forgetCharts()
  if (!c) {
    main.replaceChildren(section('none', 'Nothing yet', h('p', {}, 'The database has no campaign yet.')))
    if (done) done()
    return
  }
  pick.hidden = campaigns.length < 2
  const list = pick.querySelector('select')
  list.replaceChildren(...campaigns.map((o, k) => h('option', { value: k }, o.name())))
  list.value = state.at
  if (live) offerAll(pick, list)
  const parts = [
    summary,
    campaigns.length > 1 ? overview : () => null,
    progress,
    limits,
    failures,
    parameters,
    fronts,
    trials,
    winnerCode,
    provenance
  ]
  const nav = document.getElementById('nav'),
    turn = ++drawn
  main.replaceChildren()
  nav.replaceChildren()
  document.body.dataset.ready = ''
  // a section a turn of the event loop: the first can be read while the others are made
  const next = () => {
    if (turn !== drawn) return
    const s = parts.length ? parts.shift()(c) : null
    if (s) {
      main.append(s)
      nav.append(h('a', { href: '#' + s.id }, s.dataset.title))
      reading.observe(s)
    }
    if (parts.length) setTimeout(next)
    else {
      document.body.dataset.ready = 'yes'
      if (done) done()
    }
  }
  next()
}

const reading = new IntersectionObserver(
  entries => {
    for (const e of entries) {
      const a = e.isIntersecting && document.querySelector('#nav a[href="#' + e.target.id + '"]')
      if (!a) continue
      for (const other of document.querySelectorAll('#nav a[aria-current]')) other.removeAttribute('aria-current')
      a.setAttribute('aria-current', 'true')
    }
  },
  { rootMargin: '-20% 0px -70% 0px' }
)

/* The theme: the system's, or as the button says; the choice is kept where the browser keeps things for files. */
const systemDark = matchMedia('(prefers-color-scheme: dark)')
let chosen = null
try {
  chosen = localStorage.getItem('lathe-theme')
} catch (_) {
  /* not kept */
}
function setTheme(name) {
  document.documentElement.dataset.theme = name
  document.documentElement.style.colorScheme = name
}
function applyTheme() {
  const name = chosen || (systemDark.matches ? 'dark' : 'light'),
    b = document.getElementById('theme')
  setTheme(name)
  b.textContent = name === 'dark' ? '☀ Light' : '☾ Dark'
  b.setAttribute('aria-label', 'Change to ' + (name === 'dark' ? 'light' : 'dark') + ' colours')
  redrawCharts(false)
}
document.getElementById('theme').addEventListener('click', () => {
  chosen = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'
  try {
    localStorage.setItem('lathe-theme', chosen)
  } catch (_) {
    /* not kept */
  }
  applyTheme()
})
systemDark.addEventListener('change', applyTheme)
/* Printed, a page is light, and as wide as paper is: a chart is a picture of the size that it had when it was drawn. */
addEventListener('beforeprint', () => {
  setTheme('light')
  document.documentElement.classList.add('printing')
  fitCharts()
  paperCharts()
})
addEventListener('afterprint', () => {
  document.documentElement.classList.remove('printing')
  unpaperCharts()
  applyTheme()
})

function load(document_) {
  const id = campaigns[state.at] && campaigns[state.at].raw.id
  campaigns = document_.campaigns.map(raw => new Campaign(raw))
  const k = campaigns.findIndex(c => c.raw.id === id)
  state.at = k >= 0 ? k : campaigns.length - 1
  listed = document_.list || []
  tag = document_.tag || ''
  window.lathe = { campaigns } // for the browser's console, and for tests
  document.getElementById('made').textContent =
    'Made by lathe ' +
    document_.tool_version +
    ' at ' +
    document_.made +
    '. Charts: Apache ECharts (Apache License 2.0).'
}

/* Served, a page is one campaign's, and asks for newer data of it; the others are pages of their own. */
const live = document.body.dataset.live
let listed = [],
  tag = ''
function offerAll(pick, list) {
  pick.hidden = listed.length < 2
  list.replaceChildren(
    ...listed
      .slice()
      .reverse()
      .map(o =>
        h(
          'option',
          { value: o.id },
          '#' +
            o.id +
            ' ' +
            o.problem +
            ' ' +
            Object.entries(o.size)
              .map(([k, v]) => k + '=' + v)
              .join(' ') +
            (o.state === 'running' ? ' (running)' : '')
        )
      )
  )
  list.value = campaigns[0].raw.id
}
/* Does the reader have something in hand that drawing anew would take away? */
function inHand() {
  const e = document.activeElement
  return (
    Boolean(document.querySelector('tr.detail, main details[open]')) ||
    ['INPUT', 'SELECT'].includes(e && e.tagName) ||
    String(getSelection()) !== ''
  )
}

/* Where the reader is: the page's place, that of each part that scrolls in itself, and what has the focus. Returns what
 * brings it back on the page that was drawn anew. */
const CAN_FOCUS = 'button, a, summary, [tabindex]'
function keepPlace() {
  const main = document.getElementById('main'),
    held = document.activeElement,
    home = held && held !== main && main.contains(held) ? held.closest('section') : null,
    name = e => e.getAttribute('aria-label') || e.textContent.replace(/ [↑↓]$/, ''),
    within = (id, what) => [...document.querySelectorAll('#' + id + ' :is(' + what + ')')]
  const y = scrollY,
    parts = [...main.querySelectorAll('section')].map(s => [
      s.id,
      within(s.id, '.scroll, pre').map(e => [e.scrollLeft, e.scrollTop])
    ])
  const at = home ? within(home.id, CAN_FOCUS).indexOf(held) : -1
  main.style.minHeight = main.offsetHeight + 'px'
  return () => {
    main.style.minHeight = ''
    for (const [id, places] of parts)
      within(id, '.scroll, pre').forEach((e, k) => {
        if (places[k]) [e.scrollLeft, e.scrollTop] = places[k]
      })
    if (at >= 0 && document.activeElement === document.body) {
      const all = within(home.id, CAN_FOCUS),
        same = all.filter(e => name(e) === name(held)),
        to = same.includes(all[at]) ? all[at] : same[0] || all[at]
      if (to) to.focus({ preventScroll: true })
    }
    scrollTo({ top: y, behavior: 'instant' })
  }
}

/* An answer of many trials takes a while to make, and to draw: at most a tenth of the time goes into that. */
let took = 0
function pollSoon() {
  setTimeout(poll, Math.max(campaigns[0].raw.state === 'running' ? 2000 : 5000, 9 * took))
}
async function poll() {
  const said = document.querySelector('.brand span')
  try {
    if (inHand()) return pollSoon()
    const asked = performance.now()
    const answer = await fetch(live, { headers: { 'If-None-Match': '"' + tag + '"' }, cache: 'no-store' })
    if (answer.status === 200) {
      const newer = await answer.json(),
        back = keepPlace()
      load(newer)
      await new Promise(draw)
      back()
    }
    took = performance.now() - asked
    said.textContent = campaigns[0].raw.state === 'running' ? 'live' : 'report'
  } catch (_) {
    said.textContent = 'the server is gone'
  }
  pollSoon()
}

document.querySelector('#pick-campaign select').addEventListener('change', e => {
  if (live) {
    location.href = '/campaign/' + Number(e.target.value)
    return
  }
  state.at = Number(e.target.value)
  draw()
  say('campaign ' + campaigns[state.at].raw.id)
})
const first = JSON.parse(document.getElementById('data').textContent)
document.getElementById('data').textContent = ''
load(first)
applyTheme()
draw()
if (live) pollSoon()
