/* filter.js: the filter of the table of trials: words and conditions, and what is said of one that can't be met. */

const FILTER_NAMES = 40 // names or values that a hint lists

/* "Speed-up" and "speedup" are one name. */
function plainName(text) {
  return text.toLowerCase().replace(/[^a-z0-9]/g, '')
}
/* By its key or its title, with or without the unit. */
function columnNamed(columns, name) {
  const wanted = plainName(name)
  return columns.find(k =>
    [k.key, k.title, k.title.split(',')[0], k.title.replace(/ \S+$/, '')].some(t => plainName(t) === wanted)
  )
}
function listOf(names) {
  const some = names.slice(0, FILTER_NAMES).join(', ')
  return names.length > FILTER_NAMES ? some + ', and ' + count(names.length - FILTER_NAMES) + ' more' : some
}
/* Can one letter more, less or other make one of the other? */
function almost(a, b) {
  if (a.length > b.length) return almost(b, a)
  if (b.length - a.length > 1) return false
  let k = 0
  while (k < a.length && a[k] === b[k]) k++
  return a.slice(a.length === b.length ? k + 1 : k) === b.slice(k + 1)
}

/* What stands in a row, in small letters. */
function rowText(c, i) {
  const parts = [c.text('kernel', i), c.outcome(i), c.configuration(i), c.text('reason', i)]
  return (parts.join(' ') + ' #' + c.col.id[i]).toLowerCase()
}

/* The parameters and columns that a name of a condition may mean: {get: row -> value or undefined or NaN, values: those
 * that a text has, name}; or {hint}. */
function fieldOf(c, name, known, columns) {
  let named = c.parameters.filter(p => p.name === name) // one a type: kernels may differ in that
  if (!named.length && !columnNamed(known, name))
    named = c.parameters.filter(p => p.name.toLowerCase() === name.toLowerCase())
  if (named.length) {
    const values = [...new Set(named.flatMap(p => p.values))]
    return { name: named[0].name, values, get: i => named.map(p => c.value(p, i)).find(v => v !== undefined) }
  }
  const column = columnNamed(known, name)
  if (column && !columns.includes(column))
    return { hint: 'no trial of this campaign has a value of ' + column.key + '.' }
  if (column) {
    const values = column.text && !column.wide ? [...new Set(c.raw.texts[column.key])] : null
    return { name: column.key, values, get: column.get, text: column.text }
  }
  const names = [...new Set(c.parameters.map(p => p.name))],
    keys = columns.filter(k => !k.wide).map(k => k.key),
    near = [...names, ...keys].find(n => almost(plainName(n), plainName(name)))
  return {
    hint:
      'there is no parameter and no column ' +
      name +
      '. ' +
      (near ? 'Is it ' + near + '? ' : '') +
      (names.length ? 'Parameters: ' + listOf(names) + '. ' : '') +
      'Columns: ' +
      keys.join(', ') +
      '.'
  }
}

/* Row -> boolean of a condition on a field; or {hint}. */
function conditionTest(field, operator, text) {
  const bare = text.replace(/[%×x]$/, ''),
    n = text.trim() !== '' && Number.isFinite(Number(bare)) ? Number(bare) : NaN,
    numeric = !field.text && (!field.values || field.values.some(v => typeof v === 'number'))
  const is = v => String(v) === text || (typeof v === 'number' && v === n)
  if (operator === '=' || operator === '!=') {
    if (operator === '=' && field.values && !field.values.some(is))
      return { hint: field.name + ' is never ' + text + '. It is one of: ' + listOf(field.values.map(String)) + '.' }
    if (!field.values && numeric && Number.isNaN(n)) return { hint: text + ' is not a number.' }
    const wanted = operator === '='
    return v => is(v) === wanted
  }
  if (!numeric) return { hint: field.name + ' is no number: it takes = and !=.' }
  if (Number.isNaN(n)) return { hint: (text || 'nothing') + ' is not a number.' }
  const compare = { '<': v => v < n, '>': v => v > n, '<=': v => v <= n, '>=': v => v >= n }[operator]
  return v => typeof v === 'number' && compare(v)
}

/* "time<5.2", "BM=128", "outcome!=ok", or a word that stands anywhere in a row: all must hold. Returns {pass: row ->
 * boolean, hints: what is said of conditions that no trial can meet}. known: all columns; columns: those shown. */
function rowFilter(c, query, known, columns) {
  const hints = []
  const tests = query
    .trim()
    .split(/\s+/)
    .filter(Boolean)
    .map(word => {
      const low = word.toLowerCase(),
        m = /^([^<>=!]+)(<=|>=|!=|==?|<|>)(.*)$/.exec(word)
      const asWord = i => rowText(c, i).includes(low)
      if (!m) return asWord
      const field = fieldOf(c, m[1], known, columns)
      const test = field.hint ? field : conditionTest(field, m[2] === '==' ? '=' : m[2], m[3])
      if (!test.hint)
        return i => {
          const v = field.get(i)
          return v !== undefined && !Number.isNaN(v) && test(v)
        }
      // a reason may have it as it stands
      if (field.hint && c.raw.texts.reason.some(t => t.toLowerCase().includes(low))) return asWord
      hints.push(word + ': ' + test.hint)
      return () => false
    })
  return { pass: i => tests.every(t => t(i)), hints }
}
