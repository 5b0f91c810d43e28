"""Rendering: the numbers in the text, the pixels of the picture, and a window without a screen."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bai_gym.analysis.intervals import wilson
from bai_gym.envs.rendering import Snapshot, Window, picture, reaches, to_rgb, to_text
from bai_gym.envs.rendering.snapshot import mean_range
from bai_gym.errors import MissingPackageError, ParameterError

# Half widths: 1.96 sqrt(0.25 / 4) = 0.98 / 2 = 0.49; unknown for one pull; 1.96 sqrt(1 / 100) = 0.196; never pulled.
SMALL = Snapshot(
    pulls=np.array([4, 1, 100, 0]),
    means=np.array([0.5, -1.0, 1.0, 0.0]),
    variances=np.array([0.25, 0.0, 1.0, 0.0]),
    remaining=95,
    budget=200,
    last_arm=2,
)
DONE = replace(SMALL, remaining=0, recommendation=0, correct=True)


def test_the_recommendation_is_due_when_no_arm_is_affordable() -> None:
    costly = replace(SMALL, remaining=0.5, cheapest=0.5)
    assert (costly.phase, costly.unit) == ("explore", "money")
    assert (replace(costly, remaining=0.4).phase, replace(SMALL, remaining=0).phase) == ("recommend", "recommend")


def random_snapshot(num_arms: int, seed: int = 0) -> Snapshot:
    rng = np.random.default_rng(seed)
    pulls = rng.multinomial(10 * num_arms, rng.dirichlet(np.ones(num_arms)))
    return Snapshot(
        pulls=pulls,
        means=np.where(pulls > 0, rng.normal(size=num_arms), 0.0),
        variances=np.where(pulls > 1, rng.random(num_arms), 0.0),
        remaining=5 * num_arms,
        budget=15 * num_arms,
        last_arm=int(np.argmax(pulls)),
    )


def has_colour(image: np.ndarray, colour: tuple[int, int, int]) -> bool:
    return bool((image == np.array(colour, dtype=np.uint8)).all(axis=-1).any())


def count_colour(image: np.ndarray, colour: tuple[int, int, int]) -> int:
    return int((image == np.array(colour, dtype=np.uint8)).all(axis=-1).sum())


# --------------------------------------------------------------------------------------------------------- text


def test_half_widths_by_hand() -> None:
    assert np.array(reaches(SMALL)) == pytest.approx(np.array([[0.49, 0.0, 0.196, 0.0]] * 2), abs=1e-4)
    unknown = replace(SMALL, variances=np.array([0.25, 9.0, 1.0, 9.0]))  # not read below two pulls
    assert np.array(reaches(unknown)) == pytest.approx(np.array([[0.49, 0.0, 0.196, 0.0]] * 2), abs=1e-4)


def test_equal_rewards_are_no_certainty() -> None:
    equal = replace(SMALL, pulls=np.array([2, 1, 3, 0]), means=np.array([1.0, 0.0, 2 / 3, 0.0]))
    binary = replace(equal, variances=np.array([0.0, 0.0, 1 / 3, 0.0]))
    low, high = zip(*(wilson(successes, pulls) for successes, pulls in ((2, 2), (0, 1), (2, 3))), strict=True)
    below, above = reaches(binary)
    assert binary.means[:3] - below[:3] == pytest.approx(low, abs=1e-4)
    assert binary.means[:3] + above[:3] == pytest.approx(high, abs=1e-4)


def test_intervals_do_not_dwarf_the_means() -> None:
    tens = np.full(2, 10.0)  # cut to 6, the distance of the largest mean from 0
    assert mean_range(np.array([5.0, 6.0]), tens, tens, np.ones(2, bool)) == (-1.0, 12.0)


def test_text_of_a_small_episode() -> None:
    # The axis holds zero, all means and their intervals, -1 to 1.196: a range of 2.196, so 3 decimals.
    lines = to_text(SMALL, width=60).splitlines()
    assert lines[:2] == ["phase: explore", "pulls 105/200 [##########..........]"]
    assert [line.split()[:5] for line in lines[2:]] == [
        ["arm", "pulls", "mean", "+-95%"],
        ["0", "4", "0.500", "0.490", lines[3].split()[4]],
        ["1", "1", "-1.000", "-", "o"],
        [">", "2", "100", "1.000", "0.196"],
        ["3", "0", "-", "-"],
    ]


def test_text_marks_the_phases() -> None:
    assert to_text(replace(SMALL, remaining=0)).startswith("phase: recommend\npulls 200/200 [####################]\n")
    done = to_text(DONE).splitlines()
    assert done[0] == "phase: done, recommended arm 0 (correct)"
    assert [line[0] for line in done[3:]] == ["*", " ", " ", " "]
    assert to_text(replace(DONE, correct=False)).startswith("phase: done, recommended arm 0 (wrong)\n")
    assert to_text(replace(DONE, correct=None)).startswith("phase: done, recommended arm 0\n")
    assert to_text(replace(DONE, recommendation=(0, 2))).startswith("phase: done, recommended arms 0, 2 (correct)\n")
    assert "... (9 arms)" in to_text(replace(random_snapshot(9), recommendation=tuple(range(9))))
    assert len(to_text(random_snapshot(64), width=40).splitlines()) == 3 + 64  # one column
    rows = [line.replace(">", " ") for line in to_text(random_snapshot(64), width=100).splitlines()[3:]]
    assert [(row.split()[0], row[52:].split()[0]) for row in rows] == [(f"{arm}", f"{arm + 32}") for arm in range(32)]


def test_a_threshold_is_shown_where_it_lies_in_the_range() -> None:
    border = replace(SMALL, threshold=0.75)
    assert to_text(border).startswith("phase: explore, threshold 0.75\npulls 105/200")
    empty = replace(border, remaining=0, recommendation=(), correct=False)
    assert to_text(empty).startswith("phase: done, recommended arms none (wrong), threshold 0.75\n")
    assert "*" not in to_text(empty)
    plain, lined = to_rgb(SMALL), to_rgb(border)
    rows = np.flatnonzero((plain != lined).any(axis=(1, 2)))
    assert rows.size == 1  # one line across, and nothing else
    np.testing.assert_array_equal(to_rgb(replace(SMALL, threshold=50.0)), plain)


# -------------------------------------------------------------------------------------------------------- array


def test_colours_mark_the_last_pull_and_the_answer() -> None:
    pytest.importorskip("pygame")
    assert has_colour(to_rgb(SMALL), picture.LAST)
    assert not has_colour(to_rgb(SMALL), picture.RIGHT)
    right, wrong = to_rgb(DONE), to_rgb(replace(DONE, correct=False))
    assert has_colour(right, picture.RIGHT) and not has_colour(right, picture.LAST)
    assert has_colour(wrong, picture.WRONG) and not has_colour(wrong, picture.RIGHT)


def test_budget_bar_grows_with_the_pulls() -> None:
    pytest.importorskip("pygame")
    bare = replace(SMALL, pulls=np.zeros(4, int), last_arm=None)  # no other bar has this colour
    filled = [count_colour(to_rgb(replace(bare, remaining=left)), picture.BAR) for left in (200, 100, 0)]
    assert filled[0] == 0
    assert filled[1] == pytest.approx(filled[2] / 2, rel=0.01)


def test_bars_are_proportional_to_the_means() -> None:
    pytest.importorskip("pygame")
    # Certain means, one negative: the areas of the bars are as 2 to 1, on both sides of the zero line.
    snapshot = Snapshot(
        pulls=np.array([5, 5, 0, 0]),
        means=np.array([1.0, -0.5, 0.0, 0.0]),
        variances=np.zeros(4),
        remaining=10,
        budget=10,
    )
    image = to_rgb(snapshot)
    columns = np.flatnonzero((image == np.array(picture.BAR)).all(axis=-1).any(axis=0))
    middle = (columns[0] + columns[-1]) // 2
    left, right = count_colour(image[:, :middle], picture.BAR), count_colour(image[:, middle:], picture.BAR)
    assert left == pytest.approx(2 * right, rel=0.06)  # whiskers of no height still cover a line


@given(
    num_arms=st.integers(1, 140),
    scale=st.sampled_from([0.0, 1e-12, 1.0, 1e9]),
    shift=st.sampled_from([-3.0, 0.0, 5.0]),
    hole=st.sampled_from([0.0, np.nan, np.inf]),
    seed=st.integers(0, 100),
)
def test_no_numbers_break_the_drawing(num_arms: int, scale: float, shift: float, hole: float, seed: int) -> None:
    pytest.importorskip("pygame")
    rng = np.random.default_rng(seed)
    pulls = rng.integers(0, 4, num_arms)
    snapshot = Snapshot(
        pulls=pulls,
        means=np.where(pulls > 0, scale * (shift + rng.normal(size=num_arms)), hole),
        variances=np.where(pulls > 1, scale * rng.random(num_arms), hole),
        remaining=0,
        budget=int(pulls.sum()),
        recommendation=0,
    )
    assert to_rgb(snapshot, (320, 240)).shape == (240, 320, 3)
    text = to_text(snapshot)
    assert "nan" not in text and "inf" not in text
    assert text.isascii()


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match="one shape"):
        replace(SMALL, means=np.zeros(3))
    with pytest.raises(ParameterError, match="at least"):
        to_rgb(SMALL, (100, 100))
    with pytest.raises(ParameterError, match="fps is 0"):
        Window(fps=0)
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(MissingPackageError, match="render"):
        to_rgb(SMALL)


# ------------------------------------------------------------------------------------------------------- window


@pytest.fixture
def dummy_screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A video driver that needs no screen."""
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    yield


@pytest.mark.usefixtures("dummy_screen")
def test_window_shows_what_it_is_given() -> None:
    import pygame

    window = Window(fps=1000)
    window.show(SMALL)
    shown = pygame.surfarray.array3d(pygame.display.get_surface()).transpose(1, 0, 2)
    assert np.array_equal(shown, to_rgb(SMALL))
    window.show(to_rgb(DONE, (640, 360)))
    assert pygame.display.get_surface().get_size() == (640, 360)
    window.close()
    window.close()
    assert not pygame.display.get_init()


@pytest.mark.usefixtures("dummy_screen")
def test_window_keeps_its_pace() -> None:
    image = to_rgb(SMALL)
    window = Window(fps=25)
    window.show(image)
    start = time.perf_counter()
    for _ in range(5):
        window.show(image)
    elapsed = time.perf_counter() - start
    window.close()
    assert elapsed >= 5 * 0.039  # five images, 40 ms each; the clock counts whole milliseconds


@pytest.mark.usefixtures("dummy_screen")
def test_window_closed_by_hand_stays_closed() -> None:
    import pygame

    window = Window(fps=1000)
    window.show(SMALL)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    window.show(SMALL)
    assert window.closed and not pygame.display.get_init()
    window.show(SMALL)
    assert not pygame.display.get_init()


def test_pictures_open_no_window_and_text_needs_no_pygame() -> None:
    pytest.importorskip("pygame")
    code = (
        "import sys, numpy as np\n"
        "from bai_gym.envs.rendering import Snapshot, to_rgb, to_text\n"
        "one = np.ones(3)\n"
        "snapshot = Snapshot(pulls=one.astype(int), means=one, variances=0 * one, remaining=1, budget=4)\n"
        "to_text(snapshot)\n"
        "assert 'pygame' not in sys.modules\n"
        "to_rgb(snapshot)\n"
        "assert not sys.modules['pygame'].display.get_init()\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == done.stderr == ""
