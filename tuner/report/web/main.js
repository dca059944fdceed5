/* main.js: the page: its sections from a campaign, the theme, printing, and newer data where it is served. */

const state = {
  at: 0,
  byTime: false,
  table: { query: '', outcome: '', kernel: '', sort: 'rank', down: false, page: 0 },
  kernel: '',
  a: '',
  b: '',
  median: false
}
let campaigns = [],
  drawn = 0

function tile(name, value, unit, of) {
  return h(
    'div',
    { class: 'tile' },
    h('dt', {}, name),
    h('dd', {}, value, unit ? h('small', {}, ' ' + unit) : null, of ? h('span', { class: 'of' }, of) : null)
  )
}

/* Bytes first where there are fewer than four FLOPs to each; GFLOP/s where TFLOP/s would be thousandths. */
function rateTile(tflops, gbps) {
  const flops = tflops < 0.1 ? [num(1000 * tflops, 4), 'GFLOP/s'] : [num(tflops, 4), 'TFLOP/s']
  const bytes = [num(gbps, 4), 'GB/s']
  if (!(tflops > 0)) return gbps > 0 ? tile('Rate', ...bytes, null) : null
  if (!(gbps > 0)) return tile('Rate', ...flops, null)
  const [main, other] = 1000 * tflops < 4 * gbps ? [bytes, flops] : [flops, bytes]
  return tile('Rate', ...main, other.join(' '))
}

function summary(c) {
  const w = c.best,
    col = c.col,
    first = c.firstBaseline
  const ok = c.candidates.filter(i => c.outcome(i) === 'ok').length
  const tiles =
    w >= 0
      ? [
          tile(
            'Best time',
            num(c.ms(w), 5),
            'ms',
            col.cold_ms[w] > 0
              ? 'cold, in the final'
              : 'median of ' + c.measurements(w).map(m => m.count)[0] + ' samples'
          ),
          first >= 0 && c.speedup(w, first) > 0
            ? tile('Speed-up', fixed(c.speedup(w, first), 3), '×', 'over ' + c.text('kernel', first))
            : null,
          rateTile(c.tflops(w), c.gbps(w)),
          c.ceiling > 0
            ? tile(
                'Of the roofline',
                percent(c.tflops(w) / c.ceiling),
                '',
                c.memoryBound()
                  ? 'memory bound: ' + num(c.peakGbps, 4) + ' GB/s'
                  : 'compute bound: ' + num(c.peakTflops, 3) + ' TFLOP/s float32'
              )
            : null,
          Number.isFinite(col.error[w])
            ? tile(
                'Error',
                col.error[w].toExponential(1),
                '',
                'relative Frobenius' +
                  (first >= 0 && col.error[first] > 0
                    ? '; ' + c.text('kernel', first) + ' ' + col.error[first].toExponential(1)
                    : '')
              )
            : null,
          col.sustained_ms[w] > 0 ? tile('Sustained', num(col.sustained_ms[w], 5), 'ms', 'back to back') : null,
          c.energy[w] > 0
            ? tile(
                'Energy',
                num(c.energy[w] / 1000, 3),
                'J',
                c.energyMeasured
                  ? 'a run'
                  : 'a run, power × time back to back' +
                      (first >= 0 && c.energy[first] > 0
                        ? '; ' + c.text('kernel', first) + ' ' + num(c.energy[first] / 1000, 3) + ' J'
                        : '')
              )
            : null
        ]
      : []
  const rows = c.baselines.map(b => [
    c.text('kernel', b),
    badge(c.outcome(b)),
    same(col.time_ms[b], 5),
    same(col.cold_ms[b], 5),
    same(col.sustained_ms[b], 5),
    w >= 0 && c.speedup(w, b) > 0 ? fixed(c.speedup(w, b), 3) + '×' : '–',
    Number.isFinite(col.error[b]) ? col.error[b].toExponential(1) : '–'
  ])
  if (w >= 0)
    rows.unshift([
      h('b', {}, 'winner'),
      badge(c.outcome(w)),
      same(col.time_ms[w], 5),
      same(col.cold_ms[w], 5),
      same(col.sustained_ms[w], 5),
      '',
      Number.isFinite(col.error[w]) ? col.error[w].toExponential(1) : '–'
    ])
  const live = c.raw.state === 'running' ? 'running' : c.raw.state + ' after ' + duration(c.raw.seconds)
  return h(
    'section',
    { id: 'summary', 'aria-labelledby': 'title', 'data-title': 'Summary' },
    h('h1', { id: 'title' }, c.raw.problem + ' on ' + c.raw.device),
    h(
      'p',
      { class: 'sub' },
      c.sizeText() +
        ' · campaign ' +
        c.raw.id +
        ', strategy ' +
        c.raw.strategy +
        ', seed ' +
        c.raw.seed +
        ' · ' +
        live +
        ' · ' +
        plural(c.candidates.length, 'trial') +
        ', ' +
        count(ok) +
        ' ok'
    ),
    c.raw.note ? h('p', { class: 'warn' }, c.raw.note) : null,
    w >= 0
      ? h('dl', { class: 'tiles' }, tiles.filter(Boolean))
      : h('p', { class: 'warn' }, 'No configuration has been verified yet, so there is no winner.'),
    w >= 0
      ? h(
          'p',
          {},
          'Winner: trial ' + col.id[w] + ', kernel ' + c.text('kernel', w) + ' ',
          h('span', { class: 'conf' }, c.configuration(w))
        )
      : null,
    rows.length
      ? simpleTable(
          'The winner and the baselines',
          ['', 'Outcome', 'Time ms', 'Cold ms', 'Sustained ms', 'Winner’s speed-up', 'Error'],
          rows,
          [2, 3, 4, 5, 6]
        )
      : null
  )
}

function overview() {
  const rows = campaigns.map((c, k) => [
    h(
      'button',
      {
        type: 'button',
        class: k === state.at ? 'main' : '',
        'aria-pressed': String(k === state.at),
        click: () => {
          state.at = k
          draw()
        }
      },
      '#' + c.raw.id
    ),
    c.raw.problem + ' ' + c.sizeText(),
    c.raw.device,
    c.raw.strategy,
    count(c.candidates.length),
    c.best >= 0 ? num(c.ms(c.best), 5) : '–',
    c.best >= 0 && c.firstBaseline >= 0 ? fixed(c.speedup(c.best, c.firstBaseline), 3) + '×' : '–',
    duration(c.raw.seconds),
    c.raw.state
  ])
  const c = campaigns[state.at]
  const like = campaigns.filter(
    o => o.raw.problem === c.raw.problem && o.raw.device === c.raw.device && o.sizeText() === c.sizeText()
  )
  return section(
    'campaigns',
    'Campaigns',
    simpleTable(
      'The campaigns of this report; the one chosen is shown below',
      ['', 'Problem', 'Device', 'Strategy', 'Trials', 'Best ms', 'Speed-up', 'Took', 'State'],
      rows,
      [4, 5, 6, 7]
    ),
    like.length > 1
      ? h(
          'div',
          { class: 'two' },
          chart(
            '*Best so far against trials*, campaigns of this problem, size and device',
            () => comparisonOption(like, false),
            { size: 'low' }
          ),
          chart('*Best so far against time*', () => comparisonOption(like, true), { size: 'low' })
        )
      : null
  )
}

function progress(c) {
  const times = sortedTimes(c)
  if (!times.length) return null
  const beyond = shownRange(
    times,
    lineBaselines(c).map(i => c.col.time_ms[i])
  ).beyond
  const left = c.baselines
    .filter(i => !lineBaselines(c).includes(i))
    .map(i => c.text('kernel', i) + ' (' + c.outcome(i) + ')')
  return section(
    'progress',
    'Progress',
    h(
      'div',
      { class: 'two' },
      chart(
        '*Best so far against trials.* Each dot is a trial.',
        () => progressOption(c, i => c.col.number[i], 'trials'),
        { label: 'Best time so far against the number of trials, with the baselines as lines' }
      ),
      chart('*Best so far against time.*', () => progressOption(c, i => c.col.at_seconds[i], 'seconds'), {
        label: 'Best time so far against seconds, with the baselines as lines'
      })
    ),
    h(
      'p',
      { class: 'note' },
      'Times are those of the campaign’s ordinary samples. ' +
        (beyond ? plural(beyond, 'slower trial') + ' above the edge. ' : '') +
        (left.length ? 'Not drawn, since not verified: ' + left.join(', ') + '.' : '')
    ),
    h(
      'details',
      {},
      h('summary', {}, 'As a table'),
      simpleTable(
        'Each trial that was better than all before it',
        ['Trial', 'No.', 'Seconds', 'Time ms', 'Configuration'],
        c
          .improvements()
          .map(i => [
            c.col.id[i],
            count(c.col.number[i]),
            fixed(c.col.at_seconds[i], 1),
            num(c.col.time_ms[i], 6),
            h('span', { class: 'conf' }, c.configuration(i))
          ]),
        [0, 1, 2, 3]
      )
    )
  )
}

function limits(c) {
  if (!c.timed.length) return null
  const distribution = chart('*Distribution of times* of ' + plural(c.timed.length, 'timed trial'), () =>
    distributionOption(c)
  )
  if (!(c.ceiling > 0))
    return section(
      'limits',
      'Times',
      distribution,
      h(
        'p',
        { class: 'note' },
        'There is no roofline: the device’s peak rates, or the problem’s FLOPs and bytes, are not recorded.'
      )
    )
  return section(
    'limits',
    'Roofline and times',
    h(
      'div',
      { class: 'two' },
      chart('*Roofline.* Labels are TFLOP/s.', () => rooflineOption(campaigns, c), { size: '' }),
      distribution
    ),
    h(
      'p',
      { class: 'note' },
      'The roofline (Williams, Waterman, Patterson, 2009): no more than the peak rate of the float32 units, and no ' +
        'more than memory’s bandwidth times the FLOPs that each byte is good for. Bytes are those that the problem ' +
        'has to move once. Tensor cores, with products of another format, can be above it.'
    )
  )
}

function failures(c) {
  const reasons = c.reasons(),
    most = 25
  return section(
    'outcomes',
    'Outcomes',
    chart('*How trials ended*', () => outcomesOption(c), { rem: 3.5 + 2 * c.outcomes().length }),
    reasons.length
      ? simpleTable(
          'Why trials are not ok, the most frequent reasons first' +
            (reasons.length > most ? ' (' + most + ' of ' + count(reasons.length) + ')' : ''),
          ['Outcome', 'Trials', 'Reason', 'Example'],
          reasons
            .slice(0, most)
            .map(r => [badge(r.outcome), count(r.count), r.reason.slice(0, 400), 'trial ' + c.col.id[r.row]]),
          [1]
        )
      : h('p', { class: 'note' }, 'Every trial is ok.')
  )
}

function parameters(c) {
  const kernels = c.kernels.filter(k => variedParameters(c, k).length)
  if (!kernels.length) return null
  if (!kernels.includes(state.kernel))
    state.kernel = c.best >= 0 && kernels.includes(c.text('kernel', c.best)) ? c.text('kernel', c.best) : kernels[0]
  const box = h('div', {})
  const fill = () => {
    const varied = variedParameters(c, state.kernel),
      one = c.raw.importance.find(m => m.kernel === state.kernel)
    const names = varied.map(p => p.name),
      named = n => varied.find(p => p.name === n)
    if (!names.includes(state.a) || !names.includes(state.b) || state.a === state.b) {
      const pair = one && one.pairs.find(p => names.includes(p.a) && names.includes(p.b))
      state.a = pair ? pair.a : names[0]
      state.b = pair ? pair.b : names[1] || names[0]
    }
    const heat = h('div', {})
    const drawHeat = () =>
      heat.replaceChildren(
        chart(
          '*' + (state.median ? 'Median' : 'Best') + ' time, ms, by ' + state.a + ' and ' + state.b + '*',
          () => heatOption(c, state.kernel, named(state.a), named(state.b), state.median),
          { size: 'tall' }
        )
      )
    drawHeat()
    const options = names.map(n => [n, n])
    box.replaceChildren(
      one
        ? h(
            'div',
            { class: 'two' },
            chart('*Importance* of each parameter alone', () => importanceOption(one, 16), { size: 'tall' }),
            h(
              'div',
              {},
              simpleTable(
                'Pairs that explain more together than each alone',
                ['Pair', 'Share'],
                one.pairs.filter(p => p.share >= 0.005).map(p => [p.a + ' × ' + p.b, percent(p.share)]),
                [1]
              ),
              h(
                'p',
                { class: one.fit < 0.5 ? 'warn' : 'note' },
                'Functional analysis of variance on a random forest (Hutter, Hoos, Leyton-Brown, 2014) of ' +
                  plural(one.trials, 'timed trial') +
                  '; on trials that it has not seen the forest explains ' +
                  percent(Math.max(0, one.fit), 0) +
                  ' of the variation of log time' +
                  (one.fit < 0.5
                    ? ', so take the shares as hints only.'
                    : '. The shares say what matters over the whole space, not near the best.')
              )
            )
          )
        : h('p', { class: 'note' }, 'Too few timed trials of this kernel for an estimate of importance.'),
      varied.length
        ? chart(
            '*Parallel coordinates:* a line a trial, the strongest the fastest' +
              (c.timed.length > PARALLEL_LINES
                ? ' (the fastest ' + PARALLEL_LINES / 3 + ' and a spread of the others)'
                : '') +
              '. Drag along an axis to select.',
            () => parallelOption(c, state.kernel, orderParameters(varied, one).slice(0, narrow() ? 5 : 14)),
            { size: 'tall' }
          )
        : null,
      names.length > 1
        ? h(
            'div',
            {},
            h(
              'div',
              { class: 'row' },
              select('Across', options, state.a, v => {
                state.a = v
                drawHeat()
              }),
              select('Up', options, state.b, v => {
                state.b = v
                drawHeat()
              }),
              select(
                'Show',
                [
                  ['best', 'best time'],
                  ['median', 'median time']
                ],
                state.median ? 'median' : 'best',
                v => {
                  state.median = v === 'median'
                  drawHeat()
                }
              )
            ),
            heat
          )
        : null
    )
  }
  fill()
  return section(
    'parameters',
    'Parameters',
    kernels.length > 1
      ? h(
          'div',
          { class: 'row' },
          select(
            'Kernel',
            kernels.map(k => [k, k]),
            state.kernel,
            v => {
              state.kernel = v
              fill()
            }
          )
        )
      : null,
    box
  )
}
function orderParameters(varied, one) {
  const place = p => {
    const k = one ? one.alone.findIndex(a => a.name === p.name) : 0
    return k < 0 ? 999 : k
  }
  return varied.slice().sort((a, b) => place(a) - place(b))
}

function fronts(c) {
  const rows = c.timed.filter(i => c.col.error[i] >= 0 && (c.outcome(i) === 'ok' || c.outcome(i) === 'inaccurate'))
  const powered = c.candidates.filter(i => c.energy[i] > 0)
  const error =
    rows.length > 1
      ? chart('*Error against time:* the line is what nothing beats in both', () =>
          frontOption(c, i => c.col.error[i], 'relative Frobenius error', rows)
        )
      : null
  const energy =
    powered.length > 1
      ? chart('*Energy against time,* J a run' + (c.energyMeasured ? '' : ' (power × time, trials of the final)'), () =>
          frontOption(c, i => c.energy[i] / 1000, 'J', powered)
        )
      : null
  return error || energy
    ? section(
        'fronts',
        'Accuracy' + (energy ? ' and energy' : ''),
        error && energy ? h('div', { class: 'two' }, error, energy) : error || energy
      )
    : null
}

function trials(c) {
  return section('trials', 'Trials', trialTable(c, state.table))
}

function winnerCode(c) {
  const w = c.raw.winner
  if (!w) return null
  return section(
    'code',
    'The winner’s code',
    w.text
      ? codeBlock(w.text, 'trial ' + w.trial + ' as `lathe export` writes it')
      : h('p', { class: 'warn' }, 'There is no code: ' + (w.why_not || 'none was asked for') + '.')
  )
}

function provenance(c) {
  const r = c.raw,
    environment = r.environment || {}
  return section(
    'provenance',
    'Provenance',
    facts([
      ['Command', r.command_line, 'conf'],
      ['Problem', r.summary],
      ['Specification', r.specification_hash, 'conf'],
      ['Kernels', r.kernels],
      [
        'Space',
        r.space_size >= 9223372036854775807
          ? 'more than 9 · 10¹⁸ configurations'
          : plural(r.space_size, 'valid configuration')
      ],
      ['Device', r.device + ' (' + r.handle + '), compiled for ' + r.arch],
      ['Driver', r.driver],
      ['Toolchain', r.toolchain],
      ['Machine', r.host],
      ['Strategy', r.strategy + (r.options ? ' (' + r.options + ')' : '')],
      ['Strategy’s text', r.strategy_hash, 'conf'],
      ['Seed', String(r.seed)],
      [
        'Budget',
        [r.budget_trials ? plural(r.budget_trials, 'trial') : '', r.budget_seconds ? duration(r.budget_seconds) : '']
          .filter(Boolean)
          .join(', ') || 'none'
      ],
      [
        'Tolerance',
        Object.entries(r.tolerance || {})
          .map(([k, v]) => k + '=' + v)
          .join(' ')
      ],
      ['Inputs', r.inputs],
      ['Restricted to', (r.restrictions || []).join('; '), 'conf'],
      ['FLOPs, bytes', num(r.flops, 6) + ', ' + num(r.bytes, 6)],
      [
        'Where time went',
        r.pace
          ? Object.entries(r.pace.phases)
              .filter(p => p[1] > 0)
              .map(p => p[0] + ' ' + duration(p[1]))
              .join(', ') +
            '; of the search ' +
            Object.entries(r.pace.stages)
              .filter(p => p[1] > 0)
              .map(p => p[0] + ' ' + duration(p[1]))
              .join(', ')
          : null
      ],
      ['Trials a minute', r.pace && r.pace.trials_per_minute > 0 ? num(r.pace.trials_per_minute, 4) : null],
      [
        'Drift of baselines',
        (r.drift || [])
          .map(d => d.kernel + ' ' + d.phase + ' ' + percent(d.least) + ' to ' + percent(d.most))
          .join(', ')
      ],
      ['Began', r.created],
      ['Ended', r.ended || '–'],
      ['lathe', r.tool_version],
      [
        'Environment',
        Object.entries(environment)
          .map(([k, v]) => k + '=' + (typeof v === 'object' ? JSON.stringify(v) : v))
          .join(' '),
        'conf'
      ]
    ])
  )
}

/* done: called when the last section is there. */
function draw(done) {
  const main = document.getElementById('main'),
    c = campaigns[state.at],
    pick = document.querySelector('#pick-campaign')
  forgetCharts()
  if (!c) {
    main.replaceChildren(section('none', 'Nothing yet', h('p', {}, 'The database has no campaign yet.')))
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
addEventListener('beforeprint', () => {
  setTheme('light')
  for (const d of document.querySelectorAll('#parameters details')) d.open = true
  redrawCharts(true)
})
addEventListener('afterprint', applyTheme)

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
    Boolean(document.querySelector('tr.detail')) ||
    ['INPUT', 'SELECT'].includes(e && e.tagName) ||
    String(getSelection()) !== ''
  )
}
function pollSoon() {
  setTimeout(poll, campaigns[0].raw.state === 'running' ? 2000 : 5000)
}
async function poll() {
  const said = document.querySelector('.brand span')
  try {
    if (inHand()) return pollSoon()
    const answer = await fetch(live, { headers: { 'If-None-Match': '"' + tag + '"' }, cache: 'no-store' })
    if (answer.status === 200) {
      const newer = await answer.json(),
        y = scrollY,
        main = document.getElementById('main')
      main.style.minHeight = main.offsetHeight + 'px'
      load(newer)
      draw(() => {
        main.style.minHeight = ''
        scrollTo({ top: y, behavior: 'instant' })
      })
    }
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
