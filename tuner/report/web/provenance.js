/* provenance.js: the section of the page that says what a campaign's numbers depend on. */

function provenance(c) {
  const r = c.raw,
    environment = r.environment || {},
    pace = c.recorded ? null : r.pace // of a recording it would be how fast this machine read it
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
      ['Device', r.device + ' (' + r.handle + ')' + (r.arch ? ', compiled for ' + r.arch : '')],
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
        c.recorded // as on the terminal
          ? null
          : Object.entries(r.tolerance || {})
              .filter(([k, v]) => v !== 0 || k === 'atol' || k === 'rtol')
              .map(([k, v]) => k + '=' + v)
              .join(' ')
      ],
      ['Inputs', c.recorded ? null : r.inputs],
      ['Restricted to', (r.restrictions || []).join('; '), 'conf'],
      ['FLOPs, bytes', r.flops > 0 || r.bytes > 0 ? num(r.flops, 6) + ', ' + num(r.bytes, 6) : null],
      [
        'Where time went',
        pace
          ? [
              ['', pace.phases],
              ['of the search ', pace.stages]
            ]
              .map(([of, seconds]) => [of, Object.entries(seconds).filter(p => p[1] > 0)])
              .filter(([, list]) => list.length)
              .map(([of, list]) => of + list.map(p => p[0] + ' ' + duration(p[1])).join(', '))
              .join('; ')
          : null
      ],
      ['Trials a minute', pace && pace.trials_per_minute > 0 ? num(pace.trials_per_minute, 4) : null],
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
