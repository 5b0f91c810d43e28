"""The commands of docs/clusters.md work as written, with other ports."""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGE = "docs/clusters.md"
PORTS = ("8786", "6379")
PATIENCE = 300
# A program, its module, and what it says when it is ready.
SERVERS = {
    "dask scheduler": ("dask", "Scheduler at:"),
    "dask worker": ("dask", "Registered to:"),
    "ray start": ("ray.scripts.scripts", "Ray runtime started"),
}

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="needs a shell's programs")]


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


SHELL = [block for block in blocks(PAGE, "bash") if "--backend" in block]


def free_port() -> str:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return str(listening.getsockname()[1])


def test_both_backends_have_commands() -> None:
    assert len(SHELL) == 2


@pytest.mark.parametrize("block", SHELL, ids=["Dask", "Ray"])
def test_commands(block: str, tmp_path: Path, background: Any, shortened: Callable[[str], str]) -> None:
    pytest.importorskip("ray" if "--backend ray" in block else "distributed")
    block = shortened(block)
    for port in PORTS:
        block = block.replace(port, free_port())
    servers, ran = [], 0
    try:
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            if " ".join(words[:2]) in SERVERS:
                module, ready = SERVERS[" ".join(words[:2])]
                extra = ["--ray-client-server-port", free_port()] if words[0] == "ray" else []
                log = tmp_path / f"server-{len(servers)}.log"
                servers.append(background(module, *words[1:], *extra, log=log, until=ready))
                continue
            if words[0] == "bai-gym":
                words[:1] = [sys.executable, "-c", "from bai_gym.cli import main; main()"]
                ran += 1
            done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
            assert done.returncode == 0, done.stdout + done.stderr
    finally:
        for server in reversed(servers):  # a head of Ray ends what it has started
            server.terminate()
            server.wait(60)
    assert ran and list(tmp_path.glob("results/*/results.parquet"))


@pytest.mark.skipif(find_spec("distributed") is None, reason="Dask is not installed")
def test_python(tmp_path: Path, shortened: Callable[[str], str]) -> None:
    (code,) = blocks(PAGE, "python")
    (tmp_path / "script.py").write_text(shortened(code))
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert "BAI-Bernoulli10-v0" in done.stdout
