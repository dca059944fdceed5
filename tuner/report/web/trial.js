/* trial.js: all that is known of one trial, as the table opens it. */

/* One dot a sample over its place in the series' range, and its median. */
function sampleStrip(ms, median) {
  const ns = 'http://www.w3.org/2000/svg',
    low = Math.min(...ms),
    high = Math.max(...ms),
    x = v => (high > low ? 1 + (98 * (v - low)) / (high - low) : 50)
  const svg = document.createElementNS(ns, 'svg')
  const put = (tag, a) => {
    const e = document.createElementNS(ns, tag)
    for (const k in a) e.setAttribute(k, a[k])
    svg.append(e)
  }
  svg.setAttribute('class', 'strip')
  svg.setAttribute('role', 'img')
  svg.setAttribute('aria-label', plural(ms.length, 'sample') + ' from ' + num(low, 5) + ' to ' + num(high, 5) + ' ms')
  put('line', { x1: x(median) + '%', x2: x(median) + '%', y1: 2, y2: 33, 'stroke-width': 1.5 })
  ms.forEach((v, k) => put('circle', { cx: x(v) + '%', cy: 9 + ((k * 7) % 19), r: 3 }))
  return svg
}

function trialDetails(c, i) {
  const col = c.col,
    series = c.measurements(i),
    limit = limitOf(c, i)
  return h(
    'div',
    { class: 'inner' },
    facts([
      ['Configuration', c.configuration(i), 'conf'],
      ['Why', c.text('reason', i)],
      ['Number', col.number[i] > 0 ? count(col.number[i]) : 'a baseline'],
      [
        'Time',
        Number.isFinite(col.time_ms[i])
          ? num(col.time_ms[i], 6) +
            ' ms (95 % of the median: ' +
            num(col.time_low_ms[i], 6) +
            ' to ' +
            num(col.time_high_ms[i], 6) +
            ')'
          : null
      ],
      [
        'Speed-up',
        c.baselines
          .filter(b => c.speedup(i, b) > 0 && b !== i)
          .map(b => fixed(c.speedup(i, b), 3) + '× over ' + c.text('kernel', b))
          .join(', ')
      ],
      limit ? [limit[0], percent(limit[1]) + ' (' + limit[2] + ')'] : ['Of the roofline', null],
      [
        'Energy',
        c.energy[i] > 0
          ? num(c.energy[i], 6) + ' mJ a run' + (c.energyMeasured ? '' : ' (power × time back to back)')
          : null
      ],
      [
        'Error',
        Number.isFinite(col.error[i])
          ? col.error[i].toExponential(3) +
            ' relative Frobenius, largest ' +
            num(col.max_abs[i], 3) +
            (col.mismatches[i] > 0 ? ', ' + plural(col.mismatches[i], 'element') + ' outside the tolerance' : '') +
            (col.deterministic[i] === 1 ? ', two runs equal bit for bit' : '')
          : null
      ],
      [
        'Resources',
        [
          Number.isFinite(col.registers[i]) ? num(col.registers[i]) + ' registers a thread' : '',
          col.local_bytes[i] > 0 ? bytes(col.local_bytes[i]) + ' local a thread (spills, stack)' : '',
          col.shared_static[i] + col.shared_dynamic[i] > 0
            ? bytes(col.shared_static[i] + col.shared_dynamic[i]) + ' shared a block'
            : '',
          Number.isFinite(col.occupancy[i]) ? 'occupancy ' + percent(col.occupancy[i], 0) : ''
        ]
          .filter(Boolean)
          .join(', ')
      ],
      [
        'Stages',
        [
          ['compile', 'compile_seconds'],
          ['load', 'load_seconds'],
          ['verify', 'verify_seconds'],
          ['measure', 'measure_seconds']
        ]
          .filter(s => Number.isFinite(col[s[1]][i]))
          .map(s => s[0] + ' ' + duration(col[s[1]][i]))
          .join(', ')
      ]
    ]),
    series.map(m =>
      h(
        'div',
        {},
        h(
          'h3',
          {},
          (m.regime === 'trial' ? 'Samples' : m.regime === 'cold' ? 'Final, cold' : 'Final, back to back') +
            ': median ' +
            num(m.median_ms, 6) +
            ' ms of ' +
            m.count
        ),
        h(
          'p',
          { class: 'note' },
          [
            m.sm_mhz ? 'SM ' + num(m.sm_mhz) + ' MHz' : '',
            m.mem_mhz ? 'memory ' + num(m.mem_mhz) + ' MHz' : '',
            m.power_w ? num(m.power_w) + ' W' : '',
            m.energy_mj > 0 ? num(m.energy_mj, 5) + ' mJ a run' : '',
            m.temperature_c ? num(m.temperature_c) + ' °C' : '',
            m.throttle_reasons ? 'throttled (0x' + Number(m.throttle_reasons).toString(16) + ')' : ''
          ]
            .filter(Boolean)
            .join(', ')
        ),
        m.ms && m.ms.length
          ? [
              sampleStrip(m.ms.filter(Number.isFinite), m.median_ms),
              h(
                'details',
                {},
                h('summary', {}, plural(m.ms.length, 'sample') + ' in the order taken'),
                h('p', { class: 'samples' }, m.ms.map(v => num(v, 6)).join(' '))
              )
            ]
          : h('p', { class: 'note' }, 'Its samples are in the database, not in this page.')
      )
    )
  )
}
