"""The page of results in a real browser: it opens at once, and mouse, keyboard and screen reader can use all of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

EVIL = "<img src=x onerror=alert(1)>"
SECTIONS = ["overall", "leaderboard", "curves", "player", "pulls", "scores", "rerun"]
LINES = "document.querySelector('#curves .plot').data.filter((trace) => trace.error_y).length"
FOCUSABLE = 'a[href], button, select, input, summary, [tabindex="0"]'
TAB, RIGHT, LEFT, HOME, END, SPACE = "\ue004", "\ue014", "\ue012", "\ue011", "\ue010", " "


# ------------------------------------------------------------------------------------------------ opening


def test_the_page_of_a_sweep_is_small_and_opens_at_once(browser: Any, sweep: Path) -> None:
    assert sweep.stat().st_size < 6_000_000
    seconds = [browser.open(sweep) for _ in range(5)]
    assert min(seconds) < 2.0, seconds  # the least of five: other work on the machine is not the page's
    assert browser.run("return [...document.querySelectorAll('main > section')].map((s) => s.id)") == SECTIONS
    assert browser.run("return document.querySelectorAll('#leaderboard .leaderboard tbody tr').length") == 8
    assert browser.run("return document.querySelector('h1').textContent") == "8 agents on 5 environments"


def test_nothing_is_fetched(browser: Any, sweep: Path) -> None:
    browser.open(sweep)
    browser.look_at_all()
    assert [url for url in browser.requests() if url.partition(":")[0] not in ("file", "data", "blob", "about")] == []


def test_the_page_begins_with_the_answer_and_the_overall_table(browser: Any, sweep: Path) -> None:
    """Without scrolling: what is best, and the table over all tasks; the choices below do not concern it."""
    browser.size(1280, 900)
    browser.open(sweep)
    answer, end, choices = browser.run(
        """
        const end = (query) => document.querySelector(query).getBoundingClientRect().bottom;
        return [document.querySelector(".answer").textContent, end("#overall table"), end(".toolbar")];
        """
    )
    assert " overall, " in answer and " over 25 tasks" in answer
    assert end < 900 and end < choices
    assert browser.run("return document.querySelectorAll('#overall tbody tr').length") == 8


# ------------------------------------------------------------------------------------------------ results


def test_an_agent_can_be_hidden(browser: Any, sweep: Path) -> None:
    browser.open(sweep)
    browser.look_at("curves")
    assert browser.wait(LINES) == 8
    browser.click(".agent:nth-child(3) input")
    browser.wait(f"{LINES} === 7")
    assert "SHVar" not in browser.run("return document.querySelector('#curves .plot').data.map((t) => t.name)")
    browser.look_at("pulls")
    browser.wait("document.querySelector('#pulls .plot').data[0].y.length === 7")
    browser.click(".agents .pair button:last-child")
    browser.wait(f"{LINES} === 0")
    browser.click(".agents .pair button:first-child")
    browser.wait(f"{LINES} === 8")


def test_environment_and_budget_can_be_changed(browser: Any, sweep: Path) -> None:
    browser.open(sweep)
    browser.look_at("curves")
    for env, budget, first in (("BAI-Gaussian64-v0", 600, "400"), ("BAI-Bernoulli10-v0", 50, "50")):
        browser.pick("Environment", env)
        browser.pick("Budget", f"{budget} pulls")
        assert (
            browser.run("return document.querySelector('.leaderboard caption').textContent")
            == f"{env}, budget {budget}"
        )
        browser.wait("document.querySelector('#curves .plot').layout.xaxis.ticktext[0] === arguments[0]", first)
        browser.wait("document.querySelector('#curves figcaption').textContent.startsWith(arguments[0])", env)


def test_agents_that_stop_are_compared_by_their_stopping_times(browser: Any, stopping: Path) -> None:
    browser.open(stopping)
    browser.look_at("curves")
    assert browser.run("return document.querySelector('#curves select').value") == "stopping"
    axes = browser.run("return document.querySelector('#curves .plot').layout")
    assert (axes["xaxis"]["type"], axes["xaxis"]["title"]["text"]) == ("log", "pulls")
    curves = browser.run("return document.querySelector('#curves .plot').data.map((t) => [t.x, t.y, t.line.shape])")
    assert len(curves) == 2
    for x, y, shape in curves:
        assert shape == "hv" and y[0] == 1 and x == sorted(x) and y == sorted(y, reverse=True)
    text = browser.run("return document.querySelector('#leaderboard').textContent")
    assert "Pulls: mean / median / 95 %" in text
    assert "fewest" in text and "p < 0.0001" in text
    browser.run(
        "const s = document.querySelector('#curves select'); s.value = 'error'; s.dispatchEvent(new Event('change'))"
    )
    browser.wait("document.querySelector('#curves .plot').layout.yaxis.title.text === 'error probability'")
    assert browser.run("return document.querySelectorAll('#curves select').length") == 2


def test_the_leaderboard_can_be_sorted(browser: Any, sweep: Path) -> None:
    browser.open(sweep)
    names = "return [...document.querySelectorAll('.leaderboard tbody th')].slice(0, 8).map((th) => th.textContent)"
    browser.click('[data-column="agent"]')
    ascending = browser.run(names)
    assert ascending == sorted(ascending, key=str.lower)
    browser.keys(SPACE)  # the focus has stayed on the heading
    assert browser.run(names) == ascending[::-1]
    assert browser.run("return document.querySelector('[aria-sort]').getAttribute('aria-sort')") == "descending"


def test_every_picture_has_its_numbers_as_a_table(browser: Any, sweep: Path) -> None:
    browser.open(sweep)
    browser.look_at_all()
    for section, rows in (("curves", 8), ("pulls", 20), ("scores", 8)):
        browser.click(f"#{section} figure summary")
        browser.wait(f"document.querySelectorAll('#{section} figure tbody tr').length === {rows}")
    browser.click("#player .panel summary")
    browser.wait("document.querySelectorAll('#player .panel tbody tr').length === 20")


def test_a_command_can_be_copied(browser: Any, sweep: Path) -> None:
    browser.open(sweep)
    button = "#leaderboard tbody tr:first-child .copy"
    assert browser.run("return document.querySelector(arguments[0]).title", button).startswith("bai-gym run BAI-")
    browser.click(button)
    browser.wait("document.querySelector(arguments[0]).textContent === 'Copied'", button)
    browser.wait("document.querySelector(arguments[0]).textContent === 'Copy'", button)


def test_a_panel_is_drawn_over_what_differs_and_shows_claims(browser: Any, panel: Path) -> None:
    browser.open(panel)
    assert browser.run("return document.querySelector('#claims').checkVisibility()")
    verdicts = (
        "return [...document.querySelectorAll('.claim')].map((c) => [c.querySelector('.verdict').lastChild.data, "
    )
    verdicts += (
        "c.querySelector('div').firstChild.textContent, c.querySelector('div > :nth-child(2)')?.textContent ?? ''])"
    )
    assert [(verdict, text) for verdict, text, _ in browser.run(verdicts)] == [
        ("confirmed", "SH errs less."),
        ("refuted", "SH errs more."),
        ("undecided", "They differ."),
    ]
    cases = [cases for *_, cases in browser.run(verdicts)]
    assert cases[0] == "" and cases[1].startswith("Against it: SH at 0, and 8 more") and "SH at 8" in cases[1]
    assert cases[2] == "Undecided: SH at 0; SH at 1"
    browser.look_at("curves")
    layout = "document.querySelector('#curves .plot').layout"
    assert browser.wait(f"{layout}.xaxis.title.text") == "number of arms K"
    assert browser.run(f"return {layout}.xaxis.ticktext") == ["8", "16", "32"]
    assert "only counts are known" in browser.run("return document.querySelector('#scores').textContent")


def test_checkpoints_and_sets_of_arms(browser: Any, evil: Path) -> None:
    browser.open(evil)
    browser.pick("Environment", "BAI-CustomThresholding-v0(threshold=0.35)")
    browser.look_at("curves")
    browser.wait("document.querySelector('#curves .plot').layout.xaxis.title.text === 'pulls made'")
    browser.look_at("player")
    browser.click('[aria-label="To the recommendation"]')
    browser.wait("document.querySelector('.outcome').textContent.includes('recommends arm')")


# ------------------------------------------------------------------------------------------------ the player


def test_an_episode_plays_to_its_recommendation(browser: Any, sweep: Path) -> None:
    browser.open(sweep)
    browser.look_at("player")
    browser.pick("Budget of the episode", "120 pulls")
    browser.pick("Agent", "SH")
    browser.pick("Second agent", "Uniform")
    browser.wait("document.querySelector('.slide input').max === '121'")
    assert browser.run("return [...document.querySelectorAll('.panel h3')].map((h) => h.textContent.trim())") == [
        "SH no oracle knowledge",
        "Uniform no oracle knowledge",
    ]
    browser.pick("Speed", "100 pulls per second")
    browser.click(".buttons .primary")
    browser.wait("document.querySelector('.buttons .primary').textContent === 'Pause'")
    browser.wait("document.querySelector('.stage').dataset.step === '121'")
    outcomes = browser.run("return [...document.querySelectorAll('.outcome')].map((p) => p.textContent)")
    assert [" recommends arm " in text for text in outcomes] == [True, True]
    assert browser.run("return document.querySelector('.buttons .primary').textContent") == "Play"
    assert outcomes[0] in browser.run("return document.querySelector('#player [aria-live]').textContent")
    visible = (
        "[...document.querySelectorAll('.panel')].map((p) => p.querySelectorAll('.ring[visibility=visible]').length)"
    )
    assert browser.run(f"return {visible}") == [1, 1]


def test_agents_stand_beside_each_other_on_one_instance_only(browser: Any, lengths: Path) -> None:
    browser.open(lengths)
    browser.look_at("player")
    options = "[...document.querySelectorAll('[data-name={}] option')].map((o) => o.textContent)"
    runs = browser.run(f"return {options.format('run')}")
    assert runs == ["0 (seed 0)", "0 (seed 0, instance 2)"]
    agents = []
    for run in runs:
        browser.pick("Run", run)
        agents.append(browser.run(f"return {options.format('first')}"))
    assert agents == [["SH", "SR"], ["Uniform"]]


def test_pulls_add_up(browser: Any, sweep: Path) -> None:
    browser.open(sweep)
    browser.look_at("player")
    browser.click("#player .panel summary")
    browser.run("const s = document.querySelector('.slide input'); s.value = 77; s.dispatchEvent(new Event('input'))")
    cells = (
        "[...document.querySelectorAll('.panel:first-child tbody td:nth-child(2)')].map((td) => Number(td.textContent))"
    )
    assert sum(browser.run(f"return {cells}")) == 77
    bars = "[...document.querySelectorAll('.panel:first-child rect.pulls')].filter((r) => r.getAttribute('height') > 0)"
    assert len(browser.run(f"return {bars}")) == sum(count > 0 for count in browser.run(f"return {cells}"))


def test_dropped_arms_fade(browser: Any, sweep: Path) -> None:
    browser.open(sweep)
    browser.look_at("player")
    browser.pick("Agent", "SH")
    browser.wait("document.querySelector('.panel h3').textContent.includes('SH')")
    dropped = "document.querySelectorAll('.panel:first-child rect.pulls').length && "
    dropped += "document.querySelectorAll('.panel:first-child .dropped rect').length"
    assert browser.run(f"return {dropped}") == 0
    counts = []
    for _ in range(4):
        browser.click('[aria-label="Next stage"]')
        counts.append(browser.run(f"return {dropped}"))
        if counts[-1] == 10:  # half of 20 arms after the first stage of sequential halving
            break
    assert counts[-1] == 10
    left = browser.run("return document.querySelector('.panel .facts').textContent")
    assert "10 of 20" in left


def test_the_player_goes_by_keyboard(browser: Any, sweep: Path) -> None:
    browser.open(sweep)
    browser.look_at("player")
    step = "document.querySelector('.stage').dataset.step"
    browser.run("document.querySelector('.stage').focus()")
    browser.keys(RIGHT, RIGHT, RIGHT, LEFT)
    assert browser.run(f"return {step}") == "2"
    assert " pulled arm " in browser.run("return document.querySelector('#player [aria-live]').textContent")
    browser.keys(END)
    assert browser.run(f"return {step}") == browser.run("return document.querySelector('.slide input').max")
    browser.keys(HOME, SPACE)
    browser.wait(f"Number({step}) > 3")
    browser.keys(SPACE)
    assert browser.run("return document.querySelector('.buttons .primary').textContent") == "Play"
    browser.run("document.querySelector('.slide input').focus()")
    before = int(browser.run(f"return {step}"))
    browser.keys(RIGHT)
    assert int(browser.run(f"return {step}")) == before + 1
    assert browser.run("return document.querySelector('.slide input').getAttribute('aria-valuetext')").startswith(
        "Pull "
    )


# ------------------------------------------------------------------------------------------------ everybody can use it


def test_the_keyboard_reaches_everything_in_order(browser: Any, sweep: Path) -> None:
    browser.open(sweep)
    browser.look_at_all()
    expected = browser.run(
        """
        const folded = (e) => e.tagName !== "SUMMARY" && e.closest("details:not([open])");
        const open = (e) => !e.closest("[hidden]") && !folded(e);
        window.order = [...document.querySelectorAll(arguments[0])].filter((e) => open(e) && e.tabIndex >= 0);
        window.scrollTo(0, 0);
        window.order[0].focus();
        return window.order.length;
        """,
        FOCUSABLE,
    )
    assert expected > 60
    for place in range(1, expected):
        browser.keys(TAB)
        at, outline, name = browser.run(
            """
            const e = document.activeElement;
            const style = getComputedStyle(e);
            return [window.order.indexOf(e), style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
                    e.outerHTML.slice(0, 120)];
            """
        )
        assert at == place, f"{place}th press of Tab: {name}"
        assert outline, f"no visible focus: {name}"


def test_the_first_key_leads_past_the_top(browser: Any, sweep: Path) -> None:
    browser.open(sweep)
    browser.keys(TAB)
    assert browser.run("return document.activeElement.textContent") == "Skip to the results"
    assert browser.run("return document.activeElement.getBoundingClientRect().width") > 100
    browser.keys("\ue007")
    assert browser.run("return document.activeElement.id") == "main"


@pytest.mark.parametrize("page", ["sweep", "evil"])
def test_a_phone_does_not_scroll_sideways(browser: Any, page: str, request: pytest.FixtureRequest) -> None:
    browser.size(360, 740)
    browser.open(request.getfixturevalue(page))
    browser.look_at_all()
    assert browser.run("return [document.documentElement.scrollWidth, window.innerWidth]") == [360, 360]
    assert browser.run("return Math.max(...[...document.querySelectorAll('svg.arms')].map((s) => s.clientWidth))") < 360
    small = browser.run(
        """
        return [...document.querySelectorAll("button, select, .check, summary")]
          .filter((e) => e.checkVisibility()).map((e) => [e.getBoundingClientRect().height, e.textContent])
          .filter(([height]) => height < 24)
        """
    )
    assert small == []  # WCAG 2.2, 2.5.8: targets of at least 24 pixels


def test_on_a_phone_nothing_is_cut_or_broken_within_words(browser: Any, page_of_one: Path) -> None:
    browser.size(400, 900)
    browser.open(page_of_one)
    browser.look_at("curves")
    lines = """
        const range = document.createRange();
        return [...document.querySelectorAll(arguments[0])].map((e) => {
          range.selectNodeContents(e);
          return new Set([...range.getClientRects()].map((r) => Math.round(r.top / 12))).size;
        })
    """
    assert browser.run(lines, "h1 .whole") == [1]
    names = "return [...document.querySelectorAll('.named')].map((e) => [e.textContent, e.clientHeight])"
    assert [(name, height) for name, height in browser.run(names) if height > 40] == []  # two lines and more
    rights = "return [...document.querySelectorAll(arguments[0])].map((e) => e.getBoundingClientRect().right)"
    assert all(right <= 400 for right in browser.run(rights, "nav a, caption, #overall th"))


def test_bars_at_the_same_budget_stand_beside_each_other(browser: Any, page_of_one: Path) -> None:
    browser.open(page_of_one)
    browser.look_at("curves")
    at_first = browser.run("return document.querySelector('#curves .plot').data.map((trace) => trace.x[0])")
    assert len(set(at_first)) == len(at_first) == 3 and all(abs(x / 100 - 1) < 0.03 for x in at_first)


def test_names_are_shown_and_never_run(browser: Any, evil: Path) -> None:
    browser.open(evil)
    browser.run("window.alert = () => { window.attacked = true; }")
    browser.look_at_all()
    browser.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    browser.pick("Agent", EVIL)
    assert browser.run(
        "return [...document.querySelectorAll('main th')].some((th) => th.textContent === arguments[0])", EVIL
    )
    assert browser.run("return document.querySelectorAll('img, .plot a').length") == 0
    assert browser.run("return window.attacked") is None
    label = "[...document.querySelectorAll('#pulls .plot .ytick text')].some((t) => t.textContent === arguments[0])"
    assert browser.wait(label, EVIL)  # plotly's labels understand some markup, too


def test_a_browser_that_cannot_open_compressed_data_says_so(browser: Any, sweep: Path) -> None:
    script = {"source": "delete window.DecompressionStream;"}
    added = browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", script)
    try:
        browser.open(sweep)
        browser.run("document.getElementById('curves').scrollIntoView({ behavior: 'instant' })")
        browser.wait("document.querySelector('#curves .undrawn')?.textContent.includes('cannot open compressed data')")
        browser.wait("document.querySelector('#player .notice')?.textContent.includes('cannot open compressed data')")
        assert browser.run("return document.querySelectorAll('.leaderboard tbody tr').length") > 0
    finally:
        browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
