/* data.js: the document's columns as numbers, and what follows from them by arithmetic. Row i is trial i. */

const NONE = NaN
const NUMBER = /[-+]?\b\d[\d.]*(e[-+]?\d+)?/gi

const WHOLE = { i1: [Int8Array, -128], i2: [Int16Array, -32768], i4: [Int32Array, -2147483648] }

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64)
  const text = atob(base64),
    raw = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) raw[i] = text.charCodeAt(i)
  return raw
}

/* A column, packed (tuner/report/pack.h) or a plain array, as doubles; null is NaN. */
function numbers(list) {
  if (Array.isArray(list)) return Float64Array.from(list, x => (x === null ? NONE : Number(x)))
  if (list.of) {
    const different = numbers(list.of)
    return numbers({ as: list.as, n: list.n, data: list.data }).map(k => (k >= 0 ? different[k] : NONE))
  }
  if (list.as === 'all') return new Float64Array(list.n).fill(list.data === null ? NONE : list.data)
  const raw = bytesOf(list.data)
  if (list.as === 'f8') return new Float64Array(raw.buffer)
  const [type, none] = WHOLE[list.as],
    whole = new type(raw.buffer),
    out = new Float64Array(list.n)
  for (let i = 0; i < list.n; i++) out[i] = whole[i] === none ? NONE : whole[i]
  return out
}
/* A parameter's values, which are packed as a column where they are many numbers. */
function valuesOf(list) {
  return Array.isArray(list) ? list : Array.from(numbers(list))
}

/* A value as the database's texts of configurations have it: a float that is whole ends in .0 */
function valueText(p, value) {
  const whole = p.type === 'float' && Number.isInteger(value) && Math.abs(value) < 1e15
  return whole ? value.toFixed(1) : String(value)
}

/* A campaign of the document (docs/report.md) with quick access to its columns. */
class Campaign {
  constructor(raw) {
    this.raw = raw
    this.col = {}
    for (const [key, list] of Object.entries(raw.columns)) this.col[key] = numbers(list)
    this.n = this.col.id.length
    this.parameters = raw.parameters.map(p => ({
      name: p.name,
      type: p.type,
      values: p.type === 'boolean' ? p.values.map(v => Boolean(v)) : valuesOf(p.values),
      at: Int32Array.from(numbers(p.column))
    }))
    this.rowOf = new Map(Array.from(this.col.id, (id, i) => [id, i]))
    this.baselines = []
    this.candidates = []
    for (let i = 0; i < this.n; i++) (this.col.number[i] > 0 ? this.candidates : this.baselines).push(i)
    this.baselines.reverse() // numbers 0, -1, ...: the first baseline first
    this.kernels = [...new Set(this.candidates.map(i => this.text('kernel', i)))]
    this.times = null
    this.timed = this.candidates.filter(i => this.col.time_ms[i] > 0)
    this.varied = this.parameters.filter(p => this.candidates.some(i => p.at[i] !== p.at[this.candidates[0]]))
    this.best = raw.winner ? this.rowOf.get(raw.winner.trial) : -1
    this.recorded = raw.device_kind === 'replay' || raw.device_kind === 'imported' // nothing was measured
    this.seconds = raw.recorded_seconds === null ? raw.seconds : raw.recorded_seconds
    this.addMeasurements(raw.measurements)
    this.forEnergy = raw.objective === 'energy' && this.energyMeasured
    const fastest = this.timed.reduce((most, i) => Math.max(most, this.tflops(i) || 0), 0)
    // as `lathe best`: GFLOP/s where TFLOP/s would be hundredths
    this.rate = fastest > 0 && fastest < 0.1 ? { name: 'GFLOP/s', scale: 1000 } : { name: 'TFLOP/s', scale: 1 }
  }

  addMeasurements(m) {
    const at = {}
    for (const key of Object.keys(m)) at[key] = numbers(m[key])
    const sustained = this.raw.texts.regime.indexOf('sustained')
    this.measured = at
    this.samples = numbers(this.raw.samples)
    this.lastOf = new Int32Array(this.n).fill(-1) // of a trial: its last measurement; before[k]: the one before k
    this.before = new Int32Array(at.trial.length)
    this.samplesFrom = new Int32Array(at.trial.length)
    this.coldOn = Float64Array.from(this.col.device_position) // where its latest cold measurement was
    const cold = this.raw.texts.regime.indexOf('cold'),
      inTrial = this.raw.texts.regime.indexOf('trial')
    // mJ a run; where it was not measured, W * ms of launches back to back: else the power is partly that of waiting
    this.energy = Float64Array.from(this.col.energy_mj)
    this.energyMeasured = this.energy.some(x => x > 0)
    this.trialEnergy = Float64Array.from(this.energy) // of the trial itself, also where a final measured it again
    for (let k = 0, from = 0; k < at.trial.length; k++) {
      const row = at.trial[k]
      this.before[k] = this.lastOf[row]
      this.lastOf[row] = k
      this.samplesFrom[k] = from
      from += at.samples[k]
      if (at.regime[k] === cold) this.coldOn[row] = at.device_position[k]
      if (at.regime[k] === inTrial && at.energy_mj[k] > 0) this.trialEnergy[row] = at.energy_mj[k]
      if (!this.energyMeasured && at.regime[k] === sustained && at.power_w[k] > 0)
        this.energy[row] = at.power_w[k] * at.median_ms[k]
    }
  }

  /* A trial's measurements, the first first: {regime, median_ms, ..., ms: its samples that are here}. */
  measurements(i) {
    const out = []
    for (let k = this.lastOf[i]; k >= 0; k = this.before[k]) {
      const one = {}
      for (const key of Object.keys(this.measured)) one[key] = this.measured[key][k]
      one.regime = this.raw.texts.regime[one.regime]
      one.ms = Array.from(this.samples.subarray(this.samplesFrom[k], this.samplesFrom[k] + one.samples))
      out.unshift(one)
    }
    return out
  }

  text(key, i) {
    return this.raw.texts[key][this.col[key][i]]
  }
  outcome(i) {
    return this.text('outcome', i)
  }
  value(p, i) {
    return p.at[i] < 0 ? undefined : p.values[p.at[i]]
  }
  /* "BM=128 BN=64": the active ones of all parameters, or of those given. */
  configuration(i, parameters = this.parameters) {
    let out = ''
    for (const p of parameters)
      if (p.at[i] >= 0) out += (out ? ' ' : '') + p.name + '=' + valueText(p, p.values[p.at[i]])
    return out
  }

  /* The time that a trial is ranked by: the final's cold median where there is one. */
  ms(i) {
    return this.col.cold_ms[i] > 0 ? this.col.cold_ms[i] : this.col.time_ms[i]
  }
  /* As `lathe best`: cold against cold where both have it; of a campaign on several devices, on the same one. */
  speedup(i, baseline) {
    const on = position =>
      this.baselines.find(
        b => this.col.kernel[b] === this.col.kernel[baseline] && this.col.device_position[b] === position
      )
    const many = this.baselines.some(b => this.col.device_position[b] > 0)
    const cold = this.col.cold_ms[many ? on(this.coldOn[i]) : baseline] / this.col.cold_ms[i]
    return cold > 0 ? cold : this.col.time_ms[many ? on(this.col.device_position[i]) : baseline] / this.col.time_ms[i]
  }
  get firstBaseline() {
    const b = this.baselines.find(i => this.col.checked[i] === 1)
    return b === undefined ? -1 : b
  }
  /* What the campaign looked for the least of, as its trials had it: ms, or mJ. */
  sought(i) {
    return this.forEnergy ? this.trialEnergy[i] : this.col.time_ms[i]
  }
  get unit() {
    return this.forEnergy ? 'mJ' : 'ms'
  }
  /* NaN where the problem's FLOPs, or bytes, are not known */
  tflops(i) {
    return this.raw.flops > 0 ? this.raw.flops / (this.ms(i) * 1e9) : NONE
  }
  gbps(i) {
    return this.raw.bytes > 0 ? this.raw.bytes / (this.ms(i) * 1e6) : NONE
  }
  get peakGbps() {
    return this.raw.target.peak_gbps
  }
  get intensity() {
    return this.raw.flops / this.raw.bytes
  }
  /* TFLOP/s that memory allows at the problem's intensity; 0: not known */
  get memoryRoof() {
    const roof = this.peakGbps > 0 && this.raw.target.peak_tflops_f32 > 0 ? (this.intensity * this.peakGbps) / 1000 : 0
    return roof > 0 ? roof : 0
  }
  /* With what a trial computes: {unit, products, from, unit_tflops, peak_tflops}, null where it is not known. */
  unitOf(i) {
    return this.raw.ceilings[this.col.ceiling[i]] || { unit: null, products: null, from: 'unknown', peak_tflops: null }
  }
  /* TFLOP/s of the problem that the units allow, and those that the device does; 0: not known */
  computeRoof(i) {
    return this.unitOf(i).peak_tflops || 0
  }
  ceiling(i) {
    return this.memoryRoof > 0 && this.computeRoof(i) > 0 ? Math.min(this.memoryRoof, this.computeRoof(i)) : 0
  }
  memoryBound(i) {
    return this.memoryRoof < this.computeRoof(i)
  }

  /* Rows at which the least so far of what was sought fell: those that may win, in the order of x(row), which is that
   * of the numbers or another: of several trials under way one may end before another that was proposed first. */
  improvements(x = i => this.col.number[i]) {
    const out = []
    let best = Infinity
    const rows = this.candidates.filter(i => this.outcome(i) === 'ok' && this.col.eligible[i] === 1 && x(i) >= 0)
    for (const i of rows.sort((a, b) => x(a) - x(b)))
      if (this.sought(i) < best) {
        best = this.sought(i)
        out.push(i)
      }
    return out
  }

  outcomes() {
    const counts = new Map()
    for (const i of this.candidates) counts.set(this.outcome(i), (counts.get(this.outcome(i)) || 0) + 1)
    return [...counts].sort((a, b) => b[1] - a[1])
  }

  /* Was it right, and then refused by a final? Its reason says why. */
  refused(i) {
    return this.outcome(i) === 'ok' && this.col.eligible[i] !== 1 && Boolean(this.text('reason', i))
  }
  /* Why trials failed, or were refused: {outcome, reason, count, row}, the most frequent first. Reasons that are alike
   * but for their numbers are one, which is told as the first trial, row, has it; db/query_reasons.c groups the same
   * way. */
  reasons() {
    const met = new Map()
    for (const i of this.candidates) {
      if ((this.outcome(i) === 'ok' && !this.refused(i)) || this.outcome(i) === 'in_flight') continue
      const key = this.outcome(i) + ' ' + this.text('reason', i).replace(NUMBER, '#')
      const one = met.get(key)
      if (one) one.count++
      else met.set(key, { outcome: this.outcome(i), reason: this.text('reason', i), count: 1, row: i })
    }
    return [...met.values()].sort((a, b) => b.count - a.count || a.row - b.row)
  }

  /* Rows, of those that no final refused, of which no other has both a lower x and a lower y; from the lowest x. */
  front(rows, x, y) {
    const out = []
    let least = Infinity
    const may = rows.filter(i => x(i) > 0 && y(i) >= 0 && !this.refused(i))
    for (const i of may.sort((a, b) => x(a) - x(b) || y(a) - y(b)))
      if (y(i) < least) {
        least = y(i)
        out.push(i)
      }
    return out
  }

  sizeText() {
    return Object.entries(this.raw.size)
      .map(([k, v]) => k + '=' + v)
      .join(' ')
  }
  name() {
    return '#' + this.raw.id + ' ' + this.raw.problem + ' ' + this.sizeText()
  }
}

function quantile(sorted, q) {
  if (!sorted.length) return NONE
  const at = (sorted.length - 1) * q,
    low = Math.floor(at),
    high = Math.ceil(at)
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low)
}
