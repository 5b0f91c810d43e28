"""Pages in a browser that is installed: Chromium, headless, offline."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bai_gym import agents, compare
from bai_gym.cli.main import app
from bai_gym.page import files
from bai_gym.results.writer import ResultsWriter

EVIL = "<img src=x onerror=alert(1)>"
AGENTS = ("Uniform", "SH", "SHVar", "SHAdaVar", "SR", "TTTS", "UCB-E", "GapE")
SWEEP = {
    "BAI-Gaussian8-v0": (100, 200, 300, 500, 800),
    "BAI-Bernoulli10-v0": (50, 100, 200, 400, 800),
    "BAI-Bernoulli-Setup2-v0": (120, 200, 300, 500, 800),
    "BAI-LinearSphere16-v0": (100, 200, 300, 500, 800),
    "BAI-Gaussian64-v0": (400, 500, 600, 700, 800),
}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
OPTIONS = (
    "--headless=new",
    "--no-sandbox",  # as root, in a container
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,900",
)


class Evil(agents.Agent):
    """An agent with the name of an attack."""

    name = EVIL

    def allocate(self, observation: Any) -> Any:
        each = self.budget // self.num_arms
        return np.full((self.batch, self.num_arms), each) if observation["remaining"].flat[0] == self.budget else None

    def recommend(self, observation: Any) -> Any:
        return observation["means"].argmax(axis=-1)


def report(folder: Path, out: Path) -> Path:
    """Make the page of a folder; not the figures for papers, which take long."""
    pytest.importorskip("plotly")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "save_figures", lambda *_: [])
        assert not app(["report", str(folder), "--out", str(out)], standalone_mode=False)
    return out / "report.html"


@pytest.fixture(scope="session")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a sweep of 8 agents over 5 environments and 5 budgets, with a recording of each."""
    folder = tmp_path_factory.mktemp("sweep")
    for env, budgets in SWEEP.items():
        compare(AGENTS, env, budgets=list(budgets), runs=40, seed=0, out=folder / "results" / env, record=1)
    return report(folder / "results", folder / "report")


@pytest.fixture(scope="session")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of an agent with a name that would run a script, if it were markup; and of checkpoints, several arms."""
    folder = tmp_path_factory.mktemp("evil")
    compare([Evil, "SH"], "BAI-Custom-v0", budgets=[40, 80], runs=20, out=folder / "results" / "a", record=1)
    compare(
        ["APT", "Uniform"],
        "BAI-CustomThresholding-v0",
        budgets=[60],
        runs=20,
        out=folder / "results" / "b",
        record=1,
        env_kwargs={"threshold": 0.35},
        checkpoints=2,
    )
    return report(folder / "results", folder / "report")


@pytest.fixture(scope="session")
def page_of_one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of three agents on one environment with two budgets."""
    folder = tmp_path_factory.mktemp("one")
    names = ["SHAdaVar", "SH", "Uniform"]
    compare(names, "BAI-Bernoulli-Setup1-v0", budgets=[100, 400], runs=40, out=folder / "results")
    return report(folder / "results", folder / "report")


@pytest.fixture(scope="session")
def stopping(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of two agents that decide when to stop."""
    folder = tmp_path_factory.mktemp("stopping")
    arms = {"means": [0.9, 0.3, 0.1], "distribution": "bernoulli"}
    names = ["UGapEc", "UGapEc(delta=0.001)"]
    compare(names, "BAI-FC-Custom-v0", budgets=[5000], runs=100, env_kwargs=arms, out=folder / "results")
    return report(folder / "results", folder / "report")


@pytest.fixture(scope="session")
def panel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a panel over the number of arms, with claims; without single runs, so there are no scores."""
    folder = tmp_path_factory.mktemp("panel")
    rows = [
        row
        for arms in (8, 16, 32)
        for row in compare(["SH", "Uniform"], "BAI-Gaussian8-v0", budgets=[500], runs=20, env_kwargs={"num_arms": arms})
    ]
    cases = [f"SH at {arms}" for arms in range(9)]
    facts = {
        "title": "A question: over the number of arms",
        "command": "bai-gym reproduce question-1",
        "claims_are": "Claims of the text",
        "claims": [
            {"text": "SH errs less.", "verdict": "confirmed", "against": [], "open": []},
            {"text": "SH errs more.", "verdict": "refuted", "against": cases, "open": []},
            {"text": "They differ.", "verdict": "undecided", "against": [], "open": cases[:2]},
        ],
    }
    ResultsWriter(folder / "results").save_results(rows, "question-1.parquet", facts=facts)
    return report(folder / "results", folder / "report")


@pytest.fixture(scope="session")
def lengths(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of evaluations of 10 and of 20 runs: these are drawn together, and run 0 is not one instance."""
    folder = tmp_path_factory.mktemp("lengths")
    for agent, runs in (("SH", 10), ("SR", 10), ("Uniform", 20)):
        compare([agent], "BAI-Gaussian8-v0", budgets=[60], runs=runs, out=folder / "results" / agent, record=1)
    return report(folder / "results", folder / "report")


class Browser:
    """A browser with the few things that the tests do."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def run(self, script: str, *values: Any) -> Any:
        """Run a script in the page, and return what it returns."""
        return self.driver.execute_script(script, *values)

    def wait(self, script: str, *values: Any, seconds: float = 60.0) -> Any:
        """Wait until an expression is true, and return it."""
        end = time.monotonic() + seconds
        while not (found := self.run(f"return {script}", *values)):
            assert time.monotonic() < end, f"never true: {script}; console: {self.complaints()}"
            time.sleep(0.01)
        return found

    def open(self, page: Path) -> float:
        """Open a page from disk, and return the seconds until it has been drawn."""
        self.driver.get("about:blank")
        start = time.monotonic()
        self.driver.get(page.as_uri())
        self.wait("document.documentElement.dataset.ready === 'yes'")
        return time.monotonic() - start

    def look_at(self, section: str) -> None:
        """Scroll to a section, and wait until it is drawn."""
        self.run("document.getElementById(arguments[0]).scrollIntoView({ behavior: 'instant' })", section)
        if section == "player":
            self.wait("document.querySelector('.stage').dataset.step !== undefined")
        else:
            self.wait(
                "[...document.querySelectorAll(`#${arguments[0]} .plot`)].every((plot) => plot.dataset.drawn)", section
            )

    def look_at_all(self) -> None:
        """Scroll through the page."""
        for section in self.run(
            "return [...document.querySelectorAll('main > section:not([hidden])')].map((s) => s.id)"
        ):
            self.look_at(section)

    def pick(self, label: str, text: str) -> None:
        """Choose an option by the words on the page."""
        found = self.run(
            """
            const label = [...document.querySelectorAll("label")].find((l) => l.textContent === arguments[0]);
            const select = document.getElementById(label.htmlFor);
            const option = [...select.options].find((o) => o.textContent === arguments[1]);
            if (!option) return false;
            select.value = option.value;
            select.dispatchEvent(new Event("change"));
            return true;
            """,
            label,
            text,
        )
        assert found, f"{label} has no {text}"

    def click(self, selector: str) -> None:
        """Click as a mouse does: where something else is in the way, this fails."""
        element = self.driver.find_element("css selector", selector)
        self.run("arguments[0].scrollIntoView({ block: 'center', behavior: 'instant' })", element)
        element.click()

    def keys(self, *keys: str) -> None:
        """Press keys where the focus is."""
        from selenium.webdriver.common.action_chains import ActionChains

        for key in keys:
            ActionChains(self.driver, duration=0).send_keys(key).perform()

    def size(self, width: int, height: int) -> None:
        """Make the window as large as a screen."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 2, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def complaints(self) -> list[str]:
        """Return what stands in the console."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Return the addresses that were asked for since the last call."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


@pytest.fixture(scope="session")
def start(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Any]:
    """Start the installed browser; nothing is downloaded."""
    webdriver = pytest.importorskip("selenium.webdriver")
    service = pytest.importorskip("selenium.webdriver.chrome.service")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("needs Chromium and chromedriver on the path (Debian: chromium, chromium-driver)")

    def begin() -> Any:
        options = webdriver.ChromeOptions()
        options.binary_location = program
        for option in (*OPTIONS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        return webdriver.Chrome(options=options, service=service.Service(executable_path=driver))

    return begin


@pytest.fixture(scope="session")
def driver(start: Callable[[], Any]) -> Iterator[Any]:
    """One browser for all tests."""
    driver = start()
    driver.set_page_load_timeout(120)
    yield driver
    driver.quit()


@pytest.fixture
def browser(driver: Any) -> Iterator[Browser]:
    """The browser, with nothing of the last test left; a test that makes it complain fails."""
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    browser = Browser(driver)
    browser.complaints()
    browser.requests()
    yield browser
    assert browser.complaints() == []
