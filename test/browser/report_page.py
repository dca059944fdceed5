"""report_page.py: what the tests of a report's page share."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chromium

READY = "document.body.dataset.ready === 'yes'"


def check(holds, what):
    if not holds:
        sys.exit("check_report: " + str(what))


def opened(browser, page):
    seconds = browser.open(page if "://" in page else "file://" + os.path.abspath(page))
    check(browser.until(READY, 60), "the page is not drawn: " + "; ".join(browser.complaints))
    return seconds


def quiet(browser):
    check(not browser.complaints, "the page complains: " + "; ".join(browser.complaints[:5]))


def see_all(browser):
    """Scrolls through the page, so that every chart is drawn."""
    browser.js("document.documentElement.style.scrollBehavior = 'auto'")
    for k in range(browser.js("document.querySelectorAll('.chart').length")):
        browser.js("document.querySelectorAll('.chart')[%d].scrollIntoView()" % k)
        check(browser.until("document.querySelectorAll('.chart')[%d].querySelector('canvas') !== null" % k, 30),
              "chart %d is empty" % k)


def near(got, want, relative=0):
    if got is None or want is None:
        return got is want
    return got == want or abs(got - want) <= relative * abs(want)


def number_of(db, condition, campaign):
    return db.execute("SELECT count(*) FROM trial t WHERE %s AND t.campaign_id = ?" % condition,
                      (campaign,)).fetchone()[0]


def pick(b, campaign):
    b.js("(() => { const s = document.querySelector('#pick-campaign select'); "
         "s.value = lathe.campaigns.indexOf(%s); s.dispatchEvent(new Event('change')) })()" % campaign)
    check(b.until(READY, 60), "the chosen campaign is not drawn")


def rows(b):
    return b.js("document.querySelector('.pager span').textContent")


def search(b, text):
    b.js("(() => { const s = document.getElementById('search'); s.value = %r; "
         "s.dispatchEvent(new Event('input')) })()" % text)
    b.js("new Promise(done => setTimeout(done, 400))")
