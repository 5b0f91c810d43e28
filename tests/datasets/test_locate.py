import hashlib
import http.server
import io
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bai_gym.data import cache_directory, data_directory, fetch, find, registry, require, status
from bai_gym.data.registry import DataFile, DataSet
from bai_gym.errors import DataError, MissingDataError, UnknownNameError

CONTENT = b'"a";"b"\n1;2\n'


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data directory."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("BAI_GYM_DATA", str(folder))
    return folder


def put(folder: Path, name: str, content: bytes = b"x") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def archive(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name, content in members.items():
            file.writestr(f"{name}.csv", content)
    return packed.getvalue()


def toy(
    url: str,
    content: bytes,
    *,
    member: str | None = "one.csv",
    archive_path: str = "toy.zip",
    archive_sha256: str | None = None,
) -> DataSet:
    return DataSet(
        name="toy",
        title="Toy",
        page=url,
        archive=url,
        archive_path=archive_path,
        archive_sha256=archive_sha256 or hashlib.sha256(content).hexdigest(),
        files=(
            DataFile(
                "one", ("toy/one.csv" if member else archive_path,), member, (hashlib.sha256(CONTENT).hexdigest(),)
            ),
        ),
        licence="none",
        terms="none",
        citation="none",
    )


class Server:
    """A web server on this machine with one file, and the addresses asked of it."""

    def __init__(self) -> None:
        self.content = b""
        self.asked: list[str] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                self.send_response(200 if self.path == "/toy.zip" else 404)
                self.send_header("Content-Length", str(len(outer.content)))
                self.end_headers()
                self.wfile.write(outer.content)

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = Server()
    thread = threading.Thread(target=server.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.server.shutdown()
    thread.join()
    server.server.server_close()


def register(monkeypatch: pytest.MonkeyPatch, entry: DataSet) -> None:
    monkeypatch.setattr(registry, "_DATASETS", {entry.name: entry})


def test_directories_are_those_of_the_environment_or_in_the_users_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAI_GYM_DATA", str(tmp_path / "d"))
    monkeypatch.setenv("BAI_GYM_CACHE", str(tmp_path / "c"))
    assert (data_directory(), cache_directory()) == (tmp_path / "d", tmp_path / "c")
    monkeypatch.delenv("BAI_GYM_CACHE")
    assert tmp_path / "d" not in cache_directory().parents  # which holds nothing derived
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("BAI_GYM_DATA")
    assert data_directory().name.startswith("bai-gym") and cache_directory() == data_directory() / "derived"


def test_each_accepted_place_is_found_and_the_preferred_one_wins(data: Path) -> None:
    (data / "ml-1m.zip").mkdir()
    assert find("movielens-1m") is None  # a folder is no file
    (data / "ml-1m.zip").rmdir()
    for place in ("ml-1m.zip", "ml-1m/ratings.dat.gz", "ml-1m/ratings.dat"):
        path = put(data, place)
        assert find("movielens-1m") == require("movielens-1m") == path


def test_other_files_of_a_data_set_go_by_name(data: Path) -> None:
    pytest.importorskip("bai_gym.correlated", reason="wine-quality is part of that wing")
    with pytest.raises(MissingDataError, match=r"put winequality-white\.csv into wine-quality"):
        require("wine-quality", "white")
    red = put(data, "wine-quality/winequality-red.csv")
    white = put(data, "winequality-white.csv")
    assert find("wine-quality") == find("wine-quality", "red") == red
    assert find("wine-quality", "white") == white
    with pytest.raises(UnknownNameError, match="it has red, white"):
        find("wine-quality", "rose")


def test_missing_data_says_where_it_was_looked_for_and_how_to_get_it(data: Path) -> None:
    with pytest.raises(MissingDataError) as caught:
        require("movielens-1m")
    message = str(caught.value)
    assert "\n" not in message
    for part in ("'movielens-1m'", str(data), "`bai-gym data fetch movielens-1m`", "ml-1m.zip", "BAI_GYM_DATA"):
        assert part in message


def test_status_has_a_record_of_each_file(data: Path) -> None:
    path = put(data, "ml-1m/ratings.dat", b"not the published bytes")
    records = {(record.dataset, record.file): record for record in status()}
    ratings, cars = records["movielens-1m", "ratings"], records["automobile", "cars"]
    assert (ratings.present, ratings.path, ratings.size, ratings.published) == (True, path, 23, False)
    assert (cars.present, cars.size, cars.published) == (False, 0, False)
    assert cars.path == data / "automobile/imports-85.data"


def test_fetch_downloads_checks_and_unpacks(data: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.content = archive(one=CONTENT, other=b"")
    register(monkeypatch, toy(f"{server.address}/toy.zip", server.content))
    assert fetch("toy") == data / "toy/one.csv"
    assert (data / "toy/one.csv").read_bytes() == CONTENT
    assert [path.name for path in data.iterdir()] == ["toy"]  # the archive is gone
    (record,) = status()
    assert record.published
    assert fetch("toy") == data / "toy/one.csv"
    assert server.asked == ["/toy.zip"]  # what is there is not downloaded again


def test_fetch_puts_a_single_file_into_its_folder(data: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.content = CONTENT
    register(monkeypatch, toy(f"{server.address}/toy.zip", CONTENT, member=None, archive_path="toy/one.csv"))
    assert fetch("toy") == data / "toy/one.csv"
    assert (data / "toy/one.csv").read_bytes() == CONTENT
    assert status()[0].published


def test_what_can_only_be_had_by_hand_says_how(data: Path) -> None:
    for get in (fetch, require):
        with pytest.raises(MissingDataError, match="in a browser .*electric-motor/measures_v2.csv") as caught:
            get("electric-motor")
        assert str(data) in str(caught.value) and "kaggle.com" in str(caught.value)
    path = put(data, "measures_v2.csv")
    assert fetch("electric-motor") == path


def test_what_is_not_the_published_file_is_not_kept(
    data: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.content = archive(one=b"something else")
    for digest, words in (("0" * 64, "archive of toy"), (None, "file of toy")):
        register(monkeypatch, toy(f"{server.address}/toy.zip", server.content, archive_sha256=digest))
        with pytest.raises(DataError, match=f"is not the published {words}"):
            fetch("toy")
        assert find("toy") is None
        assert digest is None or list(data.iterdir()) == []


def test_an_address_that_is_gone_or_cannot_be_reached_gives_the_offline_recipe(
    data: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for address, words in ((f"{server.address}/gone.zip", "404"), ("http://127.0.0.1:1/toy.zip", "")):
        register(monkeypatch, toy(address, b""))
        with pytest.raises(MissingDataError, match=f"could not be downloaded .*{words}.*put one") as caught:
            fetch("toy")
        assert "\n" not in str(caught.value)


def test_a_data_directory_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "a file, not a folder"
    blocked.touch()
    monkeypatch.setenv("BAI_GYM_DATA", str(blocked))
    with pytest.raises(MissingDataError, match="no folder that can be written; set BAI_GYM_DATA"):
        fetch("movielens-1m")
