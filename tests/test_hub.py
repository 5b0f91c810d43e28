"""Weights on and from the Hugging Face Hub, against a server of our own that speaks as much of its language."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from bai_gym import agents, hub
from bai_gym.errors import DataError, MissingPackageError, ParameterError

SHIPPED = Path(agents.__file__).parent / "learned" / "weights" / "BAI-Bernoulli3-v0.npz"
UNIVERSAL = SHIPPED.parents[1] / "universal.npz"


class Hub(ThreadingHTTPServer):
    """Repositories of models in memory: a list of commits, each with all files by name."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Requests)
        self.repos: dict[str, list[dict[str, bytes]]] = {}
        self.requests: list[str] = []


class Requests(BaseHTTPRequestHandler):
    """Answers of the Hub: to create a repository, to commit small files, and to fetch one."""

    server: Hub

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append(f"POST {self.path} {self.headers['User-Agent']}")
        if self.headers["Authorization"] != "Bearer hf_writer":
            return self.answer(401, {"error": "Invalid credentials"})
        if self.path == "/api/repos/create":
            repo = json.loads(body)
            name = f"{repo['organization']}/{repo['name']}" if repo.get("organization") else f"me/{repo['name']}"
            known = name in self.server.repos
            self.server.repos.setdefault(name, [{".gitattributes": b""}])
            return self.answer(409 if known else 200, {"url": f"{self.address}/{name}", "error": "exists"})
        if self.path == "/api/validate-yaml":  # of the head of a card
            assert json.loads(body)["content"].startswith("---\nlibrary_name: bai-gym\n")
            return self.answer(200, {"errors": [], "warnings": []})
        name, action = self.path.removeprefix("/api/models/").split("/main")[0].rsplit("/", 1)
        if action == "preupload":
            files = [file["path"] for file in json.loads(body)["files"]]
            return self.answer(
                200, {"files": [{"path": p, "uploadMode": "regular", "shouldIgnore": False} for p in files]}
            )
        lines = [json.loads(line) for line in body.splitlines()]
        files = dict(self.server.repos[name][-1])
        files |= {
            line["value"]["path"]: base64.b64decode(line["value"]["content"]) for line in lines if line["key"] == "file"
        }
        self.server.repos[name].append(files)
        oid = commit(len(self.server.repos[name]) - 1)
        return self.answer(200, {"commitUrl": f"{self.address}/{name}/commit/{oid}", "commitOid": oid})

    def do_HEAD(self) -> None:
        self.fetch()

    def do_GET(self) -> None:
        self.fetch()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def fetch(self) -> None:
        self.server.requests.append(f"{self.command} {self.path} {self.headers['User-Agent']}")
        if self.path.startswith("/api/models/"):  # which older versions ask before a commit
            return self.answer(200, {"id": "me/bandit", "xetEnabled": False})
        name, _, rest = self.path.lstrip("/").partition("/resolve/")
        revision, _, file = rest.partition("/")
        commits = self.server.repos.get(name)
        if commits is None:
            return self.answer(404, {"error": "Repository not found"}, {"X-Error-Code": "RepoNotFound"})
        numbers = {"main": len(commits) - 1} | {commit(number): number for number in range(len(commits))}
        if revision not in numbers:
            return self.answer(404, {"error": "Invalid rev id"}, {"X-Error-Code": "RevisionNotFound"})
        content = commits[numbers[revision]].get(file)
        headers = {"X-Repo-Commit": commit(numbers[revision])}
        if content is None:
            return self.answer(404, {"error": "Entry not found"}, headers | {"X-Error-Code": "EntryNotFound"})
        return self.answer(200, content, headers | {"ETag": f'"{hashlib.sha1(content).hexdigest()}"'})

    def answer(self, status: int, content: object, headers: dict[str, str] | None = None) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for key, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def commit(number: int) -> str:
    return f"{number:040x}"


@pytest.fixture
def server() -> Iterator[Hub]:
    with Hub() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


PROGRAM = """
import json, sys
from pathlib import Path
from bai_gym import agents, hub
from bai_gym.errors import BaiGymError

weights, other, missing = sys.argv[1:]
first = hub.upload(weights, "me/bandit")
card = hub.download("me/bandit").parent / "README.md"
second = hub.upload(other, "me/bandit", message="better")
paths = [hub.download("me/bandit", revision=revision) for revision in (first, second, None)]
agent = agents.make("Learned", path=paths[0])
print(json.dumps({"commits": [first, second], "same": [p.read_bytes() == Path(q).read_bytes()
      for p, q in zip(paths, (weights, other, other))], "env": agent.trained_on["env"]}))
for call in (
    lambda: hub.download("me/nothing"),
    lambda: hub.download("me/bandit", file="nothing.npz"),
    lambda: hub.download("me/bandit", file="README.md"),
    lambda: hub.download("me/bandit", revision="v9"),
    lambda: hub.download("not a name"),
    lambda: hub.upload(weights, "a/b/c"),
    lambda: hub.upload(missing, "me/bandit"),
):
    try:
        call()
    except BaiGymError as error:
        print(type(error).__name__, error)
"""


@pytest.mark.slow
def test_weights_go_to_the_hub_and_come_back(server: Hub, tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    # In a process of its own: the package reads its variables when it is imported, and nothing may reach the true Hub.
    places = {"HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "HF_HOME": str(tmp_path / "home")}
    quiet = {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_XET": "1"}
    environment = {**os.environ, **places, **quiet, "NO_PROXY": "127.0.0.1"}

    def run(token: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", PROGRAM, str(SHIPPED), str(UNIVERSAL), str(tmp_path / "missing.npz")]
        return subprocess.run(
            command, env={**environment, "HF_TOKEN": token}, capture_output=True, text=True, check=False, timeout=300
        )

    done = run("hf_writer")
    assert done.returncode == 0, done.stderr + "\n".join(server.requests)
    first, *errors = done.stdout.splitlines()
    assert json.loads(first) == {"commits": [commit(1), commit(2)], "same": [True] * 3, "env": "BAI-Bernoulli3-v0"}
    for line, (kind, words) in zip(
        errors,
        (
            ("MissingDataError", "weights.npz of me/nothing cannot be fetched"),
            ("MissingDataError", "nothing.npz of me/bandit cannot be fetched"),
            ("DataError", "holds no weights of a learned agent"),
            ("MissingDataError", "v9"),
            ("ParameterError", "not a name"),
            ("ParameterError", "a/b/c"),
            ("ParameterError", "there is no file of weights"),
        ),
        strict=True,
    ):
        assert line.startswith(kind) and words in line
    card = server.repos["me/bandit"][1]["README.md"].decode()
    assert (
        'agents.make("Learned", path=hub.download("me/bandit"))' in card and "bai-gym train BAI-Bernoulli3-v0" in card
    )
    assert server.repos["me/bandit"][2]["README.md"].decode() == card  # which its owner may have edited
    assert any("bai-gym/" in request for request in server.requests)

    refused = run("hf_reader")
    assert refused.returncode == 1 and "OutputError" in refused.stderr and "cannot be uploaded" in refused.stderr


def test_only_weights_are_uploaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    with pytest.raises(DataError, match="holds no weights of a learned agent"):
        hub.upload(tmp_path / "other.npz", "me/x")
    with pytest.raises(ParameterError, match="there is no file of weights"):
        hub.upload(tmp_path / "missing.npz", "me/x")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    for call in (lambda: hub.upload(SHIPPED, "me/x"), lambda: hub.download("me/x")):
        with pytest.raises(MissingPackageError, match=r"bai-gym\[hub\]"):
            call()
