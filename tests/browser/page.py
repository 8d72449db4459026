#!/usr/bin/python3
"""The page of a report in a browser: it opens without a word and without a
request, sorts, filters, changes its theme, gives its downloads, fits screens,
can be used by keyboard and heard by a screen reader.

usage: page.py STAVE SHOTS      SHOTS: folder for screenshots
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import browser

HERE = os.path.dirname(os.path.abspath(__file__))
SUPPORT = os.path.join(HERE, "..", "support")


def run(words, **options):
    subprocess.run(words, check=True, **options)


def make(stave, work):
    """Reports of two results, of one, and of text that means harm."""
    python = sys.executable
    for name, speed in (("old", "0.7"), ("new", "1.0")):
        with open(name + ".json", "w", encoding="utf-8") as out:
            run([python, SUPPORT + "/plenty.py", name, speed], stdout=out)
    with open("hostile.json", "w", encoding="utf-8") as out:
        run([python, SUPPORT + "/hostile.py", "new.json"], stdout=out)
    for folder, results in (("two", ["old.json", "new.json"]),
                            ("one", ["new.json"]),
                            ("harm", ["hostile.json", "old.json"])):
        run([stave, "report"] + results + ["-o", folder],
            stdout=subprocess.DEVNULL)
        assert not os.path.exists("pwned"), "a command in a label was run"
    return work


def opens_in_silence(b, page):
    asked, said = b.open(page)
    assert said == [], (page, said)
    others = [url for url in asked
              if not url.startswith("data:")
              and not url.endswith("/index.html")]
    assert others == [], (page, others)
    assert not b.evaluate("document.title").startswith("pwned"), page
    assert b.evaluate("document.querySelectorAll("
                      "'script, iframe, object, embed, img, link').length"
                      ) == 2, page


def fits_screens(b, page, shots, name):
    for width, height in ((1280, 900), (360, 740)):
        b.size(width, height)
        opens_in_silence(b, page)
        wide = b.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, "%s at %d is %d wide" % (page, width, wide)
        # Whatever sticks out does so within something that scrolls.
        out = b.evaluate("""[...document.querySelectorAll('main *')].filter(
            e => !e.closest('.scroll, .plot, details:not([open])') &&
            e.getBoundingClientRect().right > innerWidth + 1 &&
            e.getClientRects().length).map(e => e.outerHTML.slice(0, 80))""")
        assert out == [], (page, width, out)
        b.picture("%s/%s-%d.png" % (shots, name, width))
    b.size(1280, 900)


def texts_of_pictures_do_not_touch(b):
    touching = b.evaluate("""[...document.querySelectorAll('.plot svg')]
        .flatMap(svg => {
            const all = [...svg.querySelectorAll('text')].filter(
                t => t.textContent.trim()).map(
                t => [t.textContent, t.getBoundingClientRect()]);
            const found = [];
            for (let i = 0; i < all.length; i++)
                for (let j = 0; j < i; j++) {
                    const [a, p] = all[i], [b, q] = all[j];
                    const x = Math.min(p.right, q.right) -
                        Math.max(p.left, q.left);
                    const y = Math.min(p.bottom, q.bottom) -
                        Math.max(p.top, q.top);
                    if (x > 2 && y > 5) found.push(a + ' | ' + b);
                }
            return found;
        })""")
    assert touching == [], touching
    outside = b.evaluate("""[...document.querySelectorAll('.plot svg')]
        .flatMap(svg => {
            const box = svg.getBoundingClientRect();
            return [...svg.querySelectorAll('text')].filter(t => {
                const r = t.getBoundingClientRect();
                return r.left < box.left - 1 || r.right > box.right + 1 ||
                    r.top < box.top - 1 || r.bottom > box.bottom + 1;
            }).map(t => t.textContent);
        })""")
    assert outside == [], outside


COLUMN = """[...document.querySelectorAll('#pairs tbody tr')].map(
    r => r.cells[%d].dataset.v === undefined ? r.cells[%d].textContent
        : parseFloat(r.cells[%d].dataset.v))"""


def column(b, i):
    return b.evaluate(COLUMN % (i, i, i))


def sorts(b):
    head = "document.querySelectorAll('#pairs thead button')[%d]"
    before = column(b, 5)
    b.evaluate((head % 5) + ".click()")
    up = column(b, 5)
    assert up == sorted(before) and up != before
    b.evaluate((head % 5) + ".click()")
    assert column(b, 5) == sorted(before, reverse=True)
    assert b.evaluate((head % 5) + ".closest('th').ariaSort") == "descending"
    b.evaluate((head % 0) + ".click()")
    names = column(b, 0)
    assert names == sorted(names)
    # By keyboard: a button that has the focus, and Enter.
    b.evaluate((head % 3) + ".focus()")
    b.key("Enter", 13, "\r")
    assert column(b, 3) == sorted(column(b, 3))
    assert b.evaluate("getComputedStyle(document.activeElement).outlineStyle"
                      ) != "none"


def shown(b):
    return b.evaluate("[...document.querySelectorAll('#pairs tbody tr')]"
                      ".filter(r => !r.hidden).length")


def filters(b):
    everything = shown(b)
    set_text = ("(e => {e.value = '%s'; e.dispatchEvent(new Event('input'))})"
                "(document.querySelector('[data-for=pairs] %s'))")
    b.evaluate(set_text % ("transfer PINNED", "input"))
    some = shown(b)
    assert 0 < some < everything
    status = b.evaluate("document.querySelector('[data-for=pairs] "
                        "[role=status]').textContent")
    assert status == "%d of %d rows" % (some, everything), status
    b.evaluate(set_text % ("", "input"))
    b.evaluate(set_text % ("same", "select"))
    assert shown(b) == b.evaluate(
        "document.querySelectorAll('#pairs tr[data-k=same]').length")
    b.evaluate(set_text % ("", "select"))
    assert shown(b) == everything
    b.evaluate("document.querySelector('[data-for=machines-table] "
               "input[type=checkbox]').click()")
    rows = b.evaluate("""[...document.querySelectorAll(
        '#machines-table tbody tr')].filter(r => !r.hidden).map(
        r => r.cells[1].textContent !== r.cells[2].textContent)""")
    assert rows and all(rows)


def changes_theme(b, shots):
    paper = "getComputedStyle(document.body).backgroundColor"
    line = "getComputedStyle(document.querySelector('.plot path')).stroke"
    before, drawn = b.evaluate(paper), b.evaluate(line)
    b.evaluate("document.getElementById('theme').click()")
    assert b.evaluate(paper) != before
    assert b.evaluate(line) != drawn, "pictures stay as they were"
    b.picture(shots + "/two-dark.png")
    b.evaluate("document.getElementById('theme').click()")
    assert b.evaluate(paper) == before


def gives_downloads(b):
    b.session, session = None, b.session
    b.call("Browser.setDownloadBehavior", behavior="allow",
           downloadPath=b.downloads)
    b.session = session
    names = b.evaluate("[...document.querySelectorAll('a[download]')].map("
                       "a => a.download)")
    assert names == ["a.json", "b.json", "comparison.csv"], names
    for i, name in enumerate(names):
        b.evaluate("document.querySelectorAll('a[download]')[%d].click()" % i)
        path = os.path.join(b.downloads, name)
        end = time.monotonic() + 20
        while not os.path.exists(path) and time.monotonic() < end:
            b.evaluate("1")
            time.sleep(0.05)
        assert os.path.exists(path), "no download of " + name
    with open(os.path.join(b.downloads, "b.json"), encoding="utf-8") as file:
        got = json.load(file)
    with open("new.json", encoding="utf-8") as file:
        made = json.load(file)
    assert [m["rounds"] for m in got["measurements"]] == [
        m["rounds"] for m in made["measurements"]]


def can_be_heard(b):
    faults = b.evaluate("""(() => {
        const faults = [];
        const all = (s) => [...document.querySelectorAll(s)];
        if (all('h1').length !== 1) faults.push('h1');
        let last = 1;
        for (const h of all('h1, h2, h3, h4')) {
            const level = +h.tagName[1];
            if (level > last + 1) faults.push('heading ' + h.textContent);
            last = level;
        }
        for (const th of all('th'))
            if (!th.scope) faults.push('th ' + th.textContent);
        for (const t of all('table'))
            if (!t.caption) faults.push('table without caption');
        for (const s of all('svg'))
            if (s.getAttribute('role') === 'img'
                    ? !s.getAttribute('aria-label')
                    : s.getAttribute('aria-hidden') !== 'true')
                faults.push('svg ' + s.outerHTML.slice(0, 60));
        for (const c of all('input, select'))
            if (!c.labels.length) faults.push('control without label');
        for (const e of all('[tabindex], [role=region]'))
            if (!e.getAttribute('aria-label')) faults.push('region');
        const ids = all('[id]').map(e => e.id);
        if (new Set(ids).size !== ids.length)
            faults.push('ids twice: ' + ids.filter(
                (x, i) => ids.indexOf(x) !== i).slice(0, 3));
        for (const a of all('a[href^="#"]'))
            if (!document.getElementById(a.hash.slice(1)))
                faults.push('link ' + a.hash);
        if (!document.documentElement.lang) faults.push('lang');
        return faults;
    })()""")
    assert faults == [], faults


def main():
    stave, shots = sys.argv[1], os.path.abspath(sys.argv[2])
    path = browser.find()
    if path is None:
        print("browser: no Chromium is installed; pages are not tested")
        sys.exit(77)
    os.makedirs(shots, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        make(stave, work)
        b = browser.Browser(path)
        try:
            opens_in_silence(b, "one/index.html")
            can_be_heard(b)
            for name in ("harm", "two"):
                fits_screens(b, name + "/index.html", shots, name)
                can_be_heard(b)
                if b.evaluate("document.querySelector('.plot svg')"):
                    texts_of_pictures_do_not_touch(b)
            sorts(b)
            filters(b)
            if b.evaluate("document.querySelector('.plot svg') !== null"):
                changes_theme(b, shots)
            gives_downloads(b)
        finally:
            b.close()
        os.chdir("/")


main()
