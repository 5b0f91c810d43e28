"""The theme of the documentation in a real browser: readable colours, names, and boxes that scroll by keyboard."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("mkdocs")
pytestmark = pytest.mark.slow

DOCS = Path(__file__).resolve().parents[3] / "docs"
WORDS = " ".join(["a line of code that is much too long for any window"] * 4)
PAGE = f"""
# A page

A sentence with [a link](index.md), `code` and [`linked code`](index.md).

```python
@decorator  # {WORDS}
class Name(Base):
    def method(self, number: int = 3) -> None:
        return print("text", 1.5, None, True, len(self.items))  # a comment
```

```bash
bai-gym run BAI-Gaussian64-v0 --agent "SH" --budget 1000 {"--runs 500 " * 20}
```

| {" | ".join(f"a column {number}" for number in range(30))} |
|{" --- |" * 30}
|{" unbreakable_content |" * 30}

| agent | oracle knowledge | error, 1,000 pulls | error, 5,000 pulls | simple regret |
| --- | --- | --- | --- | --- |
| `SHAdaVar-Reuse` | variances | .123 [.101, .145] | .023 [.010, .045] | .0123 |
"""
CONTRASTS = """
const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
const read = (colour) => {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
};
const over = (top, ground) => ground.map((value, i) => (top[i] * top[3] + value * (255 - top[3])) / 255);
const luminance = (colour) => {
  const [r, g, b] = colour.map((v) => (v <= 10.3 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [light, dark] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return (light + 0.05) / (dark + 0.05);
};
const groundOf = (element) => {
  if (!element) return [255, 255, 255];
  const own = read(getComputedStyle(element).backgroundColor);
  return own[3] === 255 ? own.slice(0, 3) : over(own, groundOf(element.parentElement));
};
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const found = [];
while (texts.nextNode()) {
  const { textContent, parentElement } = texts.currentNode;
  const { width, height } = parentElement.getBoundingClientRect();
  const shown = parentElement.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  if (!textContent.trim() || !shown || width < 2 || height < 2) continue;
  const ground = groundOf(parentElement);
  const value = contrast(over(read(getComputedStyle(parentElement).color), ground), ground);
  found.push([value, `${parentElement.tagName}.${parentElement.className}: ${textContent.trim().slice(0, 20)}`]);
}
return found;
"""


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with the theme of the documentation, and none of its content."""
    folder = tmp_path_factory.mktemp("docs")
    settings = yaml.safe_load((DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8"))
    settings |= {"docs_dir": "pages", "nav": [{"Home": "index.md"}, {"Group": ["other.md"]}], "plugins": ["offline"]}
    for name in ("hooks", "exclude_docs", "validation"):
        settings.pop(name)
    (folder / "pages").mkdir()
    (folder / "pages" / "index.md").write_text(PAGE, encoding="utf-8")
    (folder / "pages" / "other.md").write_text("# Another page\n", encoding="utf-8")
    shutil.copytree(DOCS / "assets", folder / "pages" / "assets")
    (folder / "mkdocs.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    run = [sys.executable, "-m", "mkdocs", "build", "--quiet"]
    subprocess.run(run, cwd=folder, check=True, timeout=120)
    return folder / "site" / "index.html"


def look(browser: Any, page: Path, scheme: str = "light", width: int = 1280) -> None:
    """Open a page in the colours of a system."""
    browser.size(width, 900)
    features = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", features)
    browser.driver.get(page.as_uri())
    browser.run("localStorage.clear()")  # the theme remembers the colours of the last test
    browser.driver.get(page.as_uri())
    browser.wait("document.querySelector('.md-typeset__scrollwrap')")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_stand_out(browser: Any, docs: Path, scheme: str, width: int) -> None:
    look(browser, docs, scheme, width)
    theme = "document.body.getAttribute('data-md-color-scheme')"
    browser.wait(f"{theme} === '{'slate' if scheme == 'dark' else 'default'}'")
    found = browser.run(CONTRASTS)
    assert len(found) > 100
    assert sorted((round(value, 2), what) for value, what in found if value < 4.5) == []  # WCAG 2.2, 1.4.3


def test_a_table_of_five_columns_fits_a_phone(browser: Any, docs: Path) -> None:
    look(browser, docs, width=400)
    room = "[...document.querySelectorAll('.md-typeset__scrollwrap')].map((w) => w.scrollWidth - w.clientWidth)"
    wide, fits = browser.run(f"return {room}")
    assert wide > 0 and fits <= 0


def test_links_in_text_are_underlined(browser: Any, docs: Path) -> None:
    look(browser, docs)
    lines = "[...document.querySelectorAll('.md-content p a')].map((a) => getComputedStyle(a).textDecorationLine)"
    assert browser.run(f"return {lines}") == ["underline", "underline"]


@pytest.mark.parametrize("width", [1280, 390])
def test_what_scrolls_has_a_name_and_the_focus(browser: Any, docs: Path, width: int) -> None:
    """Code is wrapped, so only the table scrolls."""
    look(browser, docs, width=width)
    browser.wait("document.querySelector('.md-typeset__scrollwrap[tabindex]')")
    scrolls = browser.run(
        """
        const wide = (e) => e.scrollWidth > e.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(e).overflowX);
        const boxes = [...document.querySelectorAll(".md-content *")].filter(wide);
        return boxes.map((e) => [e.className, e.tabIndex, Boolean(e.getAttribute("aria-label"))]);
        """
    )
    assert scrolls == [["md-typeset__scrollwrap", 0, True]]


def test_landmarks_have_names_of_their_own(browser: Any, docs: Path) -> None:
    look(browser, docs)
    names = browser.run(
        """
        const all = [...document.querySelectorAll("nav:not([role]), [role=navigation]")];
        const shown = all.filter((e) => e.checkVisibility());
        const words = (id) => document.getElementById(id)?.textContent.trim();
        return shown.map((e) => e.getAttribute("aria-label") ?? words(e.getAttribute("aria-labelledby")));
        """
    )
    assert all(names) and len(set(names)) == len(names)
