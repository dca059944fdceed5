"""check_table.py: cases of check_report.py that are about the table of trials: sorting, the filter, details, energy."""
import sqlite3

import chromium
from report_page import check, opened, quiet, rows, search, see_all


def case_table(page, database, campaign):
    db = sqlite3.connect(database)
    number = lambda sql: db.execute(sql, (campaign,)).fetchone()[0]
    of = "FROM trial t WHERE t.campaign_id = ?"
    with chromium.Browser() as b:
        opened(b, page)
        all_ = number("SELECT count(*) " + of)
        check(rows(b).endswith("of %s trials" % format(all_, ",")), rows(b))
        # sorted by time, both ways; what has none is last
        column = b.js("[...document.querySelectorAll('#trials-table thead th')]"
                      ".findIndex(t => t.textContent.startsWith('Time'))")
        for down in (False, True):
            b.js("document.querySelectorAll('#trials-table thead th button')[%d].click()" % column)
            check(b.js("document.querySelectorAll('#trials-table thead th')[%d].getAttribute('aria-sort')" % column) ==
                  ("descending" if down else "ascending"), "aria-sort")
            order = "SELECT id %s ORDER BY time_ms IS NULL, time_ms %s, number LIMIT 50" % (of, "DESC" if down else "")
            want = [str(r[0]) for r in db.execute(order, (campaign,))]
            got = b.js("[...document.querySelectorAll('#trials-table tbody tr th')].map(c => c.textContent)")
            check(got == want, "sorted: %s, not %s" % (got[:5], want[:5]))
        # filters
        value = "EXISTS (SELECT 1 FROM parameter_value p WHERE p.trial_id = t.id AND p.name = '%s' AND p.value = %s)"
        for text, sql in (("BM=128", value % ("BM", 128)),
                          ("BM=128 BN!=64",
                           value % ("BM", 128) + " AND EXISTS (SELECT 1 FROM parameter_value p WHERE p.trial_id = t.id "
                           "AND p.name = 'BN' AND p.value <> 64)"),
                          ("time<5.3 outcome=ok", "t.time_ms < 5.3 AND t.outcome = 'ok'"),
                          ("registers>=200", "t.registers >= 200"), ("occupancy>=25", "t.occupancy >= 0.25"),
                          ("bm=128", value % ("BM", 128)), ("trial=%d" % number("SELECT max(t.id) " + of),
                                                            "t.id = (SELECT max(id) FROM trial)"),
                          ("Speed-up>1.02", "(SELECT speedup FROM trial_report r WHERE r.trial_id = t.id) > 1.02"),
                          ("sgemm", "t.kernel LIKE '%sgemm%'"), ("wrong", "t.outcome = 'wrong'")):
            search(b, text)
            want = number("SELECT count(*) " + of + " AND " + sql)
            check(want > 0, "no trial for " + text)
            got = rows(b)
            check(got.endswith("of %s trial%s" % (format(want, ","), "" if want == 1 else "s")),
                  "%s: %s, not %d" % (text, got, want))
        search(b, "no-such-thing")
        check(rows(b) == "No trial passes the filter", rows(b))
        # what can't be met is told, with what there is
        hint = "document.getElementById('search-hint').hidden ? '' : document.getElementById('search-hint').textContent"
        check(b.js(hint) == "", "a word is complained of: " + b.js(hint))
        for text, parts in (("foo=3", ("no parameter and no column foo", "SPLIT_K", "registers")),
                            ("registrs>3", ("Is it registers?",)), ("energy<4", ("no trial", "energy")),
                            ("time<abc", ("abc is not a number",)), ("BM=3", ("BM is never 3", "128")),
                            ("outcome=good", ("never good", "ok")), ("kernel<3", ("no number",))):
            search(b, text)
            check(all(p in b.js(hint) for p in parts), "%s: %s" % (text, b.js(hint)))
        search(b, "")
        check(b.js(hint) == "", "the hint stays")
        # sorting by keyboard keeps the focus
        b.js("document.querySelectorAll('#trials-table thead button')[3].focus()")
        b.key("Enter", 13)
        check(b.js("document.activeElement === document.querySelectorAll('#trials-table thead button')[3] && "
                   "document.activeElement.closest('th').ariaSort === 'ascending'"), "sorting loses the focus")
        b.js("document.querySelectorAll('#trials-table thead button')[1].click()")
        # pages
        b.js("[...document.querySelectorAll('.pager button')][1].click()")
        check(rows(b).startswith("51 to 100"), rows(b))
        # details by keyboard
        b.js("document.querySelector('#trials-table tbody button').focus()")
        b.key("Enter", 13)
        check(b.js("document.activeElement.getAttribute('aria-expanded')") == "true", "Enter does not open the details")
        check(b.js("document.querySelector('tr.detail').textContent").find("Configuration") >= 0, "no details")
        b.key("Enter", 13)
        check(b.js("document.querySelector('tr.detail') === null"), "Enter does not close the details")
        # the theme, and its charts
        b.js("document.getElementById('theme').click()")
        check(b.js("document.documentElement.dataset.theme") == "dark", "the button does not change the theme")
        # the code can be copied
        b.js("document.querySelector('#code button').click()")
        check(b.until("/Copied|Selected/.test(document.querySelector('#code button').textContent)", 5),
              "the copy button says nothing")
        quiet(b)


def case_lacks(page, *titles):
    """Columns of which no trial has a value are not in the table."""
    with chromium.Browser() as b:
        opened(b, page)
        got = b.js("[...document.querySelectorAll('#trials-table thead th')].map(t => t.textContent)")
        check(any(t.startswith("Time") for t in got), got)
        check(not [t for t in titles if any(g.startswith(t) for g in got)], got)
        quiet(b)


def case_energy(page, database):
    """Of a campaign for the least energy: its table, summary and best so far are of energies, in mJ."""
    db = sqlite3.connect(database)
    with chromium.Browser() as b:
        opened(b, page)
        see_all(b)
        energy = dict(db.execute("SELECT id, energy_mj FROM trial WHERE energy_mj IS NOT NULL"))
        at = b.js("[...document.querySelectorAll('#trials-table thead th')]"
                  ".findIndex(t => /Energy mJ/.test(t.textContent))")
        check(at > 0, "the table of trials has no energy")
        shown = dict(b.js("[...document.querySelectorAll('#trials-table tbody tr')]"
                          ".map(r => [r.cells[0].textContent, r.cells[%d].textContent])" % at))
        for trial, mj in energy.items():
            check(float(shown[str(trial)].replace(",", "")) == float("%.5g" % mj), "%s, not %s" % (shown, energy))
        search(b, "energy<%r" % sorted(energy.values())[1])
        check(rows(b) == "1 to 1 of 1 trial", rows(b))
        search(b, "")
        base = db.execute("SELECT id, kernel FROM trial WHERE role = 'baseline'").fetchone()
        tile = b.js("[...document.querySelectorAll('.tile')].map(t => t.textContent).find(t => t.startsWith('Energy'))")
        check("mJ" in tile and "%s %.4g mJ" % (base[1], energy[base[0]]) in tile, tile)
        table = b.js("document.querySelector('#summary table').textContent")
        check("Energy mJ" in table and "%.5g" % energy[base[0]] in table, table)
        # the best so far falls in energy, as the trials themselves had it
        own = [r[0] for r in db.execute(
            "SELECT m.energy_mj FROM trial t JOIN measurement m ON m.trial_id = t.id AND m.regime = 'trial' "
            "WHERE t.role = 'candidate' AND t.score_ms IS NOT NULL ORDER BY t.number")]
        falls = [x for k, x in enumerate(own) if x < min(own[:k], default=1e300)]
        got = b.js("document.querySelector('#progress .chart').chart.drawn.getOption().series"
                   ".find(s => s.step).data.map(d => d[1])")
        check(got == falls + falls[-1:], "best so far: %s, not %s" % (got, falls))
        b.js("document.querySelector('#trials-table tbody button').click()")
        check("mJ a run" in b.js("document.querySelector('tr.detail').textContent"), "no energy in the details")
        quiet(b)
