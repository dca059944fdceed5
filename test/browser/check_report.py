#!/usr/bin/env python3
"""check_report.py CASE PAGE [DATABASE [CAMPAIGN]]: what a report does in a headless Chromium. Exit code 0: as it
should."""
import os
import re
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chromium
from check_table import case_energy, case_lacks, case_table
from report_page import READY, check, near, number_of, opened, pick, quiet, rows, see_all


# Steps, each a best so far or a front, of which a point is left of the one before it or above it
BACKWARDS = """[...document.querySelectorAll('.chart')]
  .flatMap(e => (e.chart.drawn ? e.chart.drawn.getOption().series || [] : []).filter(s => s.step === 'end'))
  .filter(s => s.data.some((d, k) => k && (d[0] < s.data[k - 1][0] || d[1] > s.data[k - 1][1])))
  .map(s => s.name)"""

# Texts of a chart that lie on each other; left out are those that are turned, and a legend's hidden "1/1"
OVERLAPS = """[...document.querySelectorAll('.chart')].flatMap(e => {
  const texts = e.chart.drawn.getZr().storage.getDisplayList(true)
    .filter(t => t.type === 'tspan' && t.style.text.trim() && !/^[0-9]+[/][0-9]+$/.test(t.style.text))
    .filter(t => !t.ignore && !(t.transform && t.transform[1]))
    .map(t => {
      const r = t.getBoundingRect().clone()
      if (t.transform) r.applyTransform(t.transform)
      return [t.style.text, r]
    })
  const meet = (a, b) => Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x) > 2 &&
    Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) > 3
  return texts.flatMap(([name, a], k) => texts.slice(k + 1).filter(([, b]) => meet(a, b))
    .map(([other]) => e.ariaLabel.slice(0, 30) + ': ' + name + ' and ' + other))
})"""

# Charts without a point, and axes of which two labels are the same
EMPTY = """[...document.querySelectorAll('.chart')].filter(e => !(e.chart.drawn.getOption().series || [])
  .some(s => (s.data || []).length)).map(e => e.ariaLabel)"""
REPEATED = """[...document.querySelectorAll('.chart')].filter(e => {
  const o = e.chart.drawn.getOption()
  return [o.xAxis, o.yAxis, o.parallelAxis].flat().filter(a => a && a.axisLabel.customValues).some(a => {
    const texts = a.axisLabel.customValues.map(a.axisLabel.formatter)
    return new Set(texts).size < texts.length
  })
}).map(e => e.ariaLabel)"""
# Texts that are no text of anybody's: of values that are not there
STRAY = """(() => {
  const walk = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT), met = []
  for (let n; (n = walk.nextNode()); ) if (/^(null|undefined|NaN|false|true)$/.test(n.data.trim())) met.push(n.data)
  return met
})()"""

# Colours of text on what they stand on that have a contrast below 4.5 (WCAG 2.2, 1.4.3)
CONTRAST = """(() => {
  const value = n => getComputedStyle(document.documentElement).getPropertyValue('--' + n).trim()
  const light = n => [1, 3, 5].map(k => parseInt(value(n).slice(k, k + 2), 16) / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((s, v, k) => s + v * [0.2126, 0.7152, 0.0722][k], 0)
  const pairs = [['accent-ink', 'accent'], ['good', 'good-bg'], ['bad', 'bad-bg'], ['mild', 'mild-bg']]
  for (const on of ['card', 'page', 'row', 'code'])
    for (const ink of ['ink', 'ink2', 'ink3']) pairs.push([ink, on])
  for (const on of ['card', 'code']) for (let k = 1; k <= 6; k++) pairs.push(['s' + k, on])
  return pairs.filter(([a, b]) => {
    const [x, y] = [light(a), light(b)].sort((p, q) => q - p)
    return !((x + 0.05) / (y + 0.05) >= 4.5)
  }).map(p => p.join(' on '))
})()"""


def case_opens(page):
    for width, dark in ((1280, False), (1280, True), (390, False)):
        with chromium.Browser(width, 900, dark) as b:
            opened(b, page)
            see_all(b)
            quiet(b)
            check(b.js("document.documentElement.dataset.theme") == ("dark" if dark else "light"),
                  "the system's theme is not taken")
            check(b.js("document.documentElement.scrollWidth") <= width, "wider than %d" % width)
            check(b.js(BACKWARDS) == [], "a step chart goes back in x, or up in y: %s" % b.js(BACKWARDS))
            check(b.js(OVERLAPS) == [], "texts of charts overlap: %s" % b.js(OVERLAPS))
            check(b.js(EMPTY) == [], "a chart shows nothing: %s" % b.js(EMPTY))
            check(b.js(REPEATED) == [], "labels of an axis are the same: %s" % b.js(REPEATED))
            check(b.js(STRAY) == [], "a value that is not there is shown: %s" % b.js(STRAY))
            check(b.js(CONTRAST) == [], "too little contrast: %s" % b.js(CONTRAST))
            check(b.js("[...document.querySelectorAll('.chart')].every(e => "
                       "e.closest('figure').querySelector('figcaption') && !/^This is a chart/.test(e.ariaLabel))"),
                  "a chart does not say what it shows")
            b.js("document.querySelectorAll('.numbers').forEach(d => { d.open = true })")
            check(b.until("[...document.querySelectorAll('.chart')].every(e => "
                          "e.closest('figure').querySelectorAll('.numbers tbody td, .numbers p').length)", 10),
                  "the numbers of a chart can't be read: %s" % b.js(
                      "[...document.querySelectorAll('figure')]"
                      ".filter(f => !f.querySelector('.numbers tbody td, .numbers p'))"
                      ".map(f => f.textContent)"))
            check(b.js("document.documentElement.scrollWidth") <= width, "numbers make it wider than %d" % width)
            check(b.js("[...document.querySelectorAll('#nav a')]"
                       ".every(a => document.querySelector(a.getAttribute('href')))"),
                  "the navigation leads nowhere")
            if b.js("document.querySelectorAll('#campaigns tbody button').length") > 1:
                b.js("document.querySelector('#campaigns tbody button').focus()")
                b.key("Enter", 13)
                chosen = "document.activeElement === document.querySelector('#campaigns button[aria-pressed=true]')"
                check(b.until(READY + " && " + chosen, 30), "choosing a campaign loses the focus")
                check(b.js("document.activeElement.textContent === '#' + lathe.campaigns[0].raw.id"), "another's chosen")


def case_numbers(page, database, campaign):
    """Every number of every trial that the page holds is the database's, bit for bit; those shown are these,
    rounded."""
    db = sqlite3.connect(database)
    db.row_factory = sqlite3.Row
    keys = ("time_ms", "time_low_ms", "time_high_ms", "registers", "local_bytes", "occupancy", "compile_seconds",
            "measure_seconds")
    trials = {r["id"]: r for r in db.execute("SELECT * FROM trial WHERE campaign_id = ?", (campaign,))}
    reports = {r["trial_id"]: r for r in db.execute("SELECT * FROM trial_report WHERE campaign_id = ?", (campaign,))}
    check(trials, "the database has no trials")
    with chromium.Browser() as b:
        opened(b, page)
        c = "lathe.campaigns.find(c => c.raw.id === %s)" % campaign
        ids = b.js("Array.from(%s.col.id)" % c)
        check(sorted(ids) == sorted(trials), "not the same trials")
        for key in keys:
            got = b.js("Array.from(%s.col.%s, x => Number.isNaN(x) ? null : x)" % (c, key))
            check(all(near(g, trials[i][key]) for i, g in zip(ids, got)), key + " differs")
        for key in ("cold_ms", "sustained_ms", "error", "max_abs", "mismatches"):
            got = b.js("Array.from(%s.col.%s, x => Number.isNaN(x) ? null : x)" % (c, key))
            check(all(near(g, reports[i][key]) for i, g in zip(ids, got)), key + " differs")
        for name, expression in (("speedup", "c.speedup(i, c.firstBaseline)"), ("tflops", "c.tflops(i)"),
                                 ("gbps", "c.gbps(i)")):
            got = b.js("(c => Array.from({length: c.n}, (_, i) => { const x = %s; "
                       "return Number.isFinite(x) ? x : null }))(%s)" % (expression, c))
            check(all(near(g, reports[i][name], 1e-12) for i, g in zip(ids, got)), name + " differs")
        # what the histogram draws is every timed trial
        bars = ("[...document.querySelectorAll('#limits .chart')].at(-1).chart.drawn.getOption().series"
                ".filter(s => s.type === 'custom').flatMap(s => s.data).reduce((n, d) => n + d[4], 0)")
        if number_of(db, "time_ms > 0 AND role = 'candidate'", campaign) > 0:
            pick(b, c)
            b.js("[...document.querySelectorAll('#limits .chart')].at(-1).scrollIntoView()")
            check(b.until("[...document.querySelectorAll('#limits .chart')].at(-1).querySelector('canvas') !== null"),
                  "no histogram")
            check(b.js(bars) == number_of(db, "time_ms > 0 AND role = 'candidate'", campaign),
                  "the histogram has %s trials" % b.js(bars))
            axes = ("[...document.querySelectorAll('.chart')].filter(e => e.chart && e.chart.drawn)"
                    ".flatMap(e => { const o = e.chart.drawn.getOption(); return (o.xAxis || []).concat(o.yAxis || []) })"
                    ".filter(a => a.min !== null && a.min >= a.max).length")
            check(b.js(axes) == 0, "an axis has no length")
        got = b.js("(c => Array.from({length: c.n}, (_, i) => c.configuration(i)))(%s)" % c)
        order = lambda text: sorted(text.split())
        check(all(order(g) == order(trials[i]["configuration"]) for i, g in zip(ids, got)), "configurations differ")
        samples = db.execute("SELECT m.trial_id, s.ms FROM sample s JOIN measurement m ON m.id = s.measurement_id "
                             "JOIN trial t ON t.id = m.trial_id WHERE t.campaign_id = ? ORDER BY m.id, s.number",
                             (campaign,)).fetchall()
        got = b.js("Array.from(%s.samples)" % c)
        check(got == [r["ms"] for r in samples], "samples differ")
        # what is shown
        pick(b, c)
        best = db.execute("SELECT trial_id, coalesce(cold_ms, time_ms) AS ms FROM trial_report WHERE campaign_id = ? "
                          "AND score_ms IS NOT NULL ORDER BY score_ms, time_ms, trial_id", (campaign,)).fetchone()
        shown = b.js("document.querySelector('.tile dd').textContent")
        check(shown.startswith("%.5g" % best["ms"]), "the winner's time is shown as " + shown)
        row = b.js("[...document.querySelectorAll('#trials-table tbody tr')[0].children].map(c => c.textContent)")
        check(row[0] == str(best["trial_id"]), "the first row is trial " + row[0])
        quiet(b)


def case_summary(page, *texts):
    """Texts that the summary and the provenance must have between them."""
    case_has(page, "#summary, #provenance", *texts)


def case_has(page, where, *texts):
    """Texts that the elements of a selector must have between them."""
    with chromium.Browser() as b:
        opened(b, page)
        see_all(b)
        got = b.js("[...document.querySelectorAll('%s')].map(e => e.textContent).join('')" % where)
        for text in texts:
            check(text in got, "there is no '%s' in: %s" % (text, got))
        check("undefined" not in got and "NaN" not in got, got)
        quiet(b)


def case_zero(page, trial):
    """A trial whose error is 0 has a point, the lowest, beside a label that says 0; nothing is left out."""
    with chromium.Browser() as b:
        opened(b, page)
        see_all(b)
        drawn = "document.querySelector('#fronts .chart').chart.drawn.getOption()"
        points = "(o => o.series.filter(s => s.type === 'scatter').flatMap(s => s.data))(%s)" % drawn
        least = b.js("(p => p.reduce((m, d) => d[1] < m[1] ? d : m))(%s)" % points)
        check(b.js("lathe.campaigns[0].col.id[%d]" % least[2]) == int(trial), "the lowest is row %s" % least)
        check(b.js("(o => o.yAxis[0].axisLabel.formatter(%r))(%s)" % (least[1], drawn)) == "0", "it is not at 0")
        check(b.js("(o => o.series.find(s => s.step).data.at(-1)[1])(%s)" % drawn) == least[1], "the front is not")
        quiet(b)


def case_reasons(page, outcome, count, reason):
    """Reasons that differ in numbers alone are one row, with the first one's text."""
    with chromium.Browser() as b:
        opened(b, page)
        got = b.js("[...document.querySelectorAll('#outcomes tbody tr')]"
                   ".map(r => [...r.cells].map(c => c.textContent))")
        got = [r[:3] for r in got if r[0].endswith(outcome)]
        check(got == [["✕ " + outcome, count, reason]], got)
        quiet(b)


def case_hostile(page):
    """Text of the database that would be markup or script stays text."""
    with chromium.Browser() as b:
        b.send("Page.addScriptToEvaluateOnNewDocument", {"source": "window.alert = () => { window.harmed = true }"})
        opened(b, page)
        see_all(b)
        check(b.js("window.harmed === undefined"), "a script of the data ran")
        check(b.js("document.querySelectorAll('main img, main script, main iframe').length") == 0,
              "the data made elements")
        check(b.js("document.body.textContent.includes('<img src=x onerror=alert(1)>')"),
              "the hostile text is not shown as it is")
        check(not [c for c in b.complaints if "Content Security" in c or "alert" in c], b.complaints)
        quiet(b)


def case_print(page, pdf):
    """On paper: light, nothing wider than A4 without its margins, charts as wide as their places, and drawn."""
    with chromium.Browser(1000, 900, True) as b:
        opened(b, page)
        b.js("dispatchEvent(new Event('beforeprint'))")
        b.media(True, "print")
        check(b.js("document.documentElement.dataset.theme") == "light", "it prints dark")
        check(b.js("Math.max(...[...document.querySelectorAll('main, table')].map(e => e.offsetWidth))") <= 690,
              "wider than paper")
        for box in b.js("[...document.querySelectorAll('.chart')].map(e => [e.ariaLabel, e.offsetWidth, "
                        "e.querySelector('.paper') ? e.querySelector('.paper').offsetWidth : 0, "
                        "[...e.querySelectorAll('canvas')].filter(c => c.offsetWidth).length])"):
            check(box[1] == box[2] and box[3] == 1, "a chart and its place: %s" % box)
        # the cells of the heat map, and the trials
        blue = ("(e => { const g = e.getContext('2d', { willReadFrequently: true });"
                "const d = g.getImageData(0, 0, e.width, e.height).data; let n = 0;"
                "for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 50 && d[i + 2] > d[i] + 20) n++;"
                "return n / (e.width * e.height) })([...document.querySelectorAll('%s .chart .paper')].at(%d))")
        check(b.js(blue % ("#parameters", -1)) > 0.1, "the heat map has no cells")
        check(b.js(blue % ("#progress", 0)) > 0.02, "the trials are missing")
        check(b.js("document.querySelector('#trials-table tbody th button').offsetWidth") > 0, "trials have no number")
        for what in ("#search", "#code pre", "#code button", ".numbers summary", ".screen"):
            check(b.js("document.querySelector('%s').offsetWidth" % what) == 0, what + " is printed")
        check("Not printed: " in b.js("document.querySelector('#code').innerText"), "the code is left out unsaid")
        # NOTE: Chromium prints no button of a head that is repeated
        display = "getComputedStyle(document.querySelector('#trials-table thead%s')).display"
        check(b.js(display % "") == "table-header-group" and b.js(display % " button") == "contents",
              "the table's head is not on each page")
        b.media(True)
        b.js("dispatchEvent(new Event('afterprint'))")
        check(b.js("document.documentElement.dataset.theme") == "dark", "the theme is not as it was")
        b.pdf(pdf)
        check(os.path.getsize(pdf) > 50000, "the printed page is empty")
        with open(pdf, "rb") as f:
            pages = len(re.findall(rb"/Type */Page\b", f.read()))
        check(3 <= pages <= 10, "%d pages" % pages)
        quiet(b)


def case_large(page, wanted):
    """Seconds of the page's process from the start to the last section, and of the clock; the limit is on the former,
    which other work on the machine changes little."""
    with chromium.Browser() as b:
        b.send("Performance.enable")
        opened(b, page)
        clock = b.js("performance.now()") / 1000
        used = {m["name"]: m["value"] for m in b.send("Performance.getMetrics")["metrics"]}["ProcessTime"]
        print("opened in %.2f s, %.2f s of a processor" % (clock, used))
        check(rows(b).endswith("of %s trials" % format(int(wanted), ",")), rows(b))
        check(used < 3, "opening took %.2f s of a processor" % used)
        see_all(b)
        quiet(b)


def case_live(page, before, after, renew):
    """A served page has `before` trials; when the command `renew` has run it has `after`, without being opened again,
    stands where it was, and what had the focus has it."""
    with chromium.Browser() as b:
        opened(b, page)
        shown = "document.querySelector('#summary .sub').textContent"
        check(" %s trials" % before in b.js(shown), b.js(shown))
        button = "document.querySelectorAll('#trials-table thead button')[2]"
        b.js("document.documentElement.style.scrollBehavior = 'auto'; %s.focus(); scrollTo(0, 400)" % button)
        subprocess.run(renew, shell=True, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        check(b.until("%s.includes(' %s trials') && %s" % (shown, after, READY), 60), "not renewed: " + b.js(shown))
        check(b.until("scrollY === 400", 10), "the place is lost")
        check(b.until("document.activeElement === " + button, 10), "the focus is lost")     # it may be renewing again
        quiet(b)


def case_patient(page):
    """Where an answer takes long, it is asked for again after nine times as long."""
    with chromium.Browser() as b:
        b.send("Page.addScriptToEvaluateOnNewDocument", {"source": """{
            const ask = fetch; window.asked = [], window.answered = []
            window.fetch = async (...a) => {
              asked.push(performance.now())
              await new Promise(done => setTimeout(done, 900))
              const answer = await ask(...a)
              answered.push(performance.now())
              return answer } }"""})
        opened(b, page)
        check(b.until("asked.length === 2", 60), "it does not ask again")
        waited = b.js("asked[1] - answered[0]")
        check(waited >= 8100, "it asks again after %d ms" % waited)
        quiet(b)


globals()["case_" + sys.argv[1]](*sys.argv[2:])
