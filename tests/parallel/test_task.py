"""What travels to a worker: calls, answers and errors, as bytes."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from typing import Any

import pytest

from bai_gym.content.library import own_versions
from bai_gym.errors import AgentError, ClusterError, ParameterError
from bai_gym.parallel import task

HERE = {
    "Python": "3.12",
    "bai-gym": "0.1.0",
    "numpy": "2.0",
    "scipy": "1.11",
    "scikit-learn": "1.4",
    "numba": "0.61",
    "code of bai-gym": "0.1.0-1",
}


def there_and_back(call: Any) -> Any:
    return task.opened(pickle.loads(task.packed(call)))


def test_an_answer_comes_back() -> None:
    scale = 3  # a function of a function, with what it refers to
    assert there_and_back(lambda: scale * 14) == 42
    assert there_and_back(task.within_task) and not task.within_task()


def test_an_error_comes_back_as_it_was_and_says_where_it_was_raised() -> None:
    def wrong() -> None:
        raise AgentError("act must return one arm")

    with pytest.raises(AgentError) as caught:
        there_and_back(wrong)
    assert str(caught.value) == "act must return one arm"
    (note,) = caught.value.__notes__
    assert note.startswith("On worker ")
    assert ", in wrong\n" in note


def test_an_error_that_cannot_be_pickled_comes_back_as_text() -> None:
    class Odd(Exception):
        def __init__(self) -> None:
            self.lock = threading.Lock()

    def wrong() -> None:
        raise Odd

    with pytest.raises(RuntimeError, match="Odd"):
        there_and_back(wrong)


def test_what_cannot_be_sent_is_refused_here() -> None:
    lock = threading.Lock()
    with pytest.raises(ParameterError, match=r"cannot be sent to other processes \(.*lock.*\); use workers=1$"):
        task.packed(lambda: lock)


def test_a_worker_says_what_it_cannot_import(monkeypatch: pytest.MonkeyPatch) -> None:
    class Own:
        pass

    monkeypatch.setitem(sys.modules, "only_here", sys.modules[__name__])
    monkeypatch.setattr(sys.modules[__name__], "Own", Own, raising=False)
    Own.__module__, Own.__qualname__ = "only_here", "Own"  # a class of a module beside the script
    sent = task.packed(Own)
    monkeypatch.delitem(sys.modules, "only_here")
    with pytest.raises(ClusterError, match=r"^worker \S+ cannot import .*'only_here'.*; install it there, or "):
        task.opened(pickle.loads(sent))


def test_a_process_without_this_library_raises_an_import_error_and_lives() -> None:
    # -S: no site-packages, so nothing of ours; Dask would close a worker whose task cannot be read.
    program = "import pickle, sys\ntry: pickle.loads(sys.stdin.buffer.read())\nexcept ImportError as e: print(e.name)"
    done = subprocess.run(
        [sys.executable, "-S", "-I", "-c", program], input=task.packed(lambda: 1), capture_output=True, timeout=60
    )
    assert done.stdout.decode().strip() == "bai_gym", done.stderr


def test_the_same_versions_are_no_difference() -> None:
    assert task.differences("w", dict(HERE), HERE) is None
    own = own_versions()
    assert set(own) == set(HERE) and None not in own.values()
    assert task.differences("w", own, own) is None


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (
            {"bai-gym": "0.2.0"},
            "worker w has bai-gym 0.2.0, and this process bai-gym 0.1.0; other versions give other ",
        ),
        ({"numpy": "1.26", "scipy": None}, "worker w has numpy 1.26, scipy (none), and this process numpy 2.0, scipy"),
        ({"code of bai-gym": "0.1.0-2"}, "worker w has code of bai-gym 0.1.0-2, and this process code of bai-gym 0.1"),
        ({"Python": "3.11"}, "worker w has Python 3.11, and this process Python 3.12;"),
    ],
)
def test_other_versions_are_named(other: dict[str, str | None], words: str) -> None:
    sentence = task.differences("w", {**HERE, **other}, HERE)
    assert sentence is not None and sentence.startswith(words)


def test_a_worker_with_other_versions_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = task.packed(lambda: 1)
    monkeypatch.setattr(task, "own_versions", lambda: {**task.HERE, "numpy": "9.9"}, raising=False)
    monkeypatch.setattr(task, "HERE", HERE, raising=False)
    with pytest.raises(ClusterError, match="has .*numpy 9.9"):
        task.opened(pickle.loads(sent))
