/* sections.js: sections of the page: progress, limits, outcomes, accuracy and energy, trials, the winner's code. */

function progress(c) {
  const sought = sortedSought(c)
  if (!sought.length) return null
  const lines = lineBaselines(c).filter(i => c.sought(i) > 0)
  const beyond = shownRange(
    sought,
    lines.map(i => c.sought(i))
  ).beyond
  const left = c.baselines
    .filter(i => !lines.includes(i))
    .map(i => c.text('kernel', i) + ' (' + c.outcome(i) + ')')
  const what = c.forEnergy ? 'Least energy' : 'Best',
    seconds = c.raw.device_kind === 'replay' ? 'seconds of recorded time' : 'seconds'
  return section(
    'progress',
    'Progress',
    h(
      'div',
      { class: 'two' },
      chart(
        '*' + what + ' so far against trials.* Each dot is a trial.',
        (_, height) => progressOption(c, i => c.col.number[i], 'trials', height),
        () => progressNumbers(c, i => c.col.number[i]),
        { label: what + ' so far against the number of trials, with the baselines as lines' }
      ),
      chart(
        '*' + what + ' so far against time.*',
        (_, height) => progressOption(c, i => c.col.at_seconds[i], seconds, height),
        () => progressNumbers(c, i => c.col.at_seconds[i]),
        { label: what + ' so far against seconds, with the baselines as lines' }
      )
    ),
    h(
      'p',
      { class: 'note' },
      (c.forEnergy
        ? 'Energies are those of the campaign’s ordinary samples; its winner need not be the fastest. '
        : 'Times are those of the campaign’s ordinary samples. ') +
        (beyond ? plural(beyond, c.forEnergy ? 'worse trial' : 'slower trial') + ' above the edge. ' : '') +
        (left.length ? 'Not drawn, since not verified: ' + left.join(', ') + '.' : '')
    )
  )
}

function limits(c) {
  if (!c.timed.length) return null
  const slow = shownRange(
    sortedTimes(c),
    lineBaselines(c).map(i => c.col.time_ms[i])
  )
  const distribution = chart(
    '*Distribution of times* of ' +
      plural(c.timed.length, 'timed trial') +
      (slow.beyond
        ? '; the last bar has ' + count(slow.beyond) + ' that took longer than ' + num(slow.high, 4) + ' ms'
        : ''),
    () => distributionOption(c),
    () => distributionNumbers(c)
  )
  if (!rooflinePoints(campaigns, c).points.length)
    return section(
      'limits',
      'Times',
      distribution,
      h(
        'p',
        { class: 'note' },
        'There is no roofline: ' +
          (c.memoryRoof > 0
            ? 'there is no winner and no baseline that was timed.'
            : 'the device’s peak rates, or the problem’s FLOPs and bytes, are not recorded.')
      )
    )
  return section(
    'limits',
    'Roofline and times',
    h(
      'div',
      { class: 'two' },
      chart(
        '*Roofline.* Labels are TFLOP/s.',
        (width, height) => rooflineOption(campaigns, c, width, height),
        () => rooflineNumbers(campaigns, c)
      ),
      distribution
    ),
    h(
      'p',
      { class: 'note' },
      'The roofline (Williams, Waterman, Patterson, 2009): no more than the peak rate of the units that compute, ' +
        'over the products that they need for one of the problem’s, and no more than memory’s bandwidth times the ' +
        'FLOPs that each byte is good for. Bytes are those that the problem has to move once; peaks are those at the ' +
        'highest clock. What computes with units that its specification does not name has no peak here.'
    )
  )
}

function failures(c) {
  const reasons = c.reasons(),
    flying = c.candidates.filter(i => c.outcome(i) === 'in_flight').length,
    most = 25
  if (!c.candidates.length)
    return section('outcomes', 'Outcomes', h('p', { class: 'note' }, 'The campaign has no trials.'))
  return section(
    'outcomes',
    'Outcomes',
    chart(
      '*How trials ended*',
      () => outcomesOption(c),
      () => outcomesNumbers(c),
      { rem: 3.5 + 2 * c.outcomes().length }
    ),
    reasons.length
      ? simpleTable(
          'Why trials are not ok, or may not win, the most frequent reasons first; those that differ in numbers alone ' +
            'are one' +
            (reasons.length > most ? ' (' + most + ' of ' + count(reasons.length) + ')' : ''),
          ['Outcome', 'Trials', 'Reason', 'Example'],
          reasons
            .slice(0, most)
            .map(r => [badge(r.outcome), count(r.count), r.reason.slice(0, 400), 'trial ' + c.col.id[r.row]]),
          [1]
        )
      : h(
          'p',
          { class: 'note' },
          flying
            ? 'No trial that ended was not ok; ' + count(flying) + (flying === 1 ? ' is' : ' are') + ' under way.'
            : 'Every trial is ok.'
        )
  )
}

function fronts(c) {
  const rows = c.timed.filter(i => c.col.error[i] >= 0 && (c.outcome(i) === 'ok' || c.outcome(i) === 'inaccurate'))
  const powered = c.candidates.filter(i => c.energy[i] > 0)
  const error =
    rows.length > 1 && rows.every(i => c.col.error[i] === 0)
      ? h(
          'p',
          { class: 'note' },
          'There is no chart of them: the errors of all ' + plural(rows.length, 'timed trial') + ' are 0.'
        )
      : rows.length > 1
        ? chart(
            '*Error against time:* the line is what nothing beats in both',
            () => frontOption(c, i => c.col.error[i], 'relative Frobenius error', rows),
            () => frontNumbers(c, i => c.col.error[i], 'Relative Frobenius error', rows)
          )
        : null
  const energy =
    powered.length > 1
      ? chart(
          '*Energy against time,* mJ a run' + (c.energyMeasured ? '' : ' (power × time, trials of the final)'),
          () => frontOption(c, i => c.energy[i], 'mJ', powered),
          () => frontNumbers(c, i => c.energy[i], 'Energy mJ', powered)
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
