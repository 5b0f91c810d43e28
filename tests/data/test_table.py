import gzip
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bai_gym.data import ArmSamples, find, read_scores, read_table
from bai_gym.errors import DataError, MissingDataError, ParameterError
from bai_gym.rewards import BINARY, Rewards

LOG = "page,clicks,other\nb,1,x\na,2,x\nb,3,y\na,6,y\na,4,z\n"


def write(folder: Path, content: str | bytes, name: str = "log.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(path: Path, **keywords: object) -> ArmSamples:
    return read_table(path, **{"arm_column": "page", "reward_column": "clicks", **keywords})  # type: ignore[arg-type]


def parquet(folder: Path, page: object, clicks: object) -> Path:
    path = folder / "log.parquet"
    pq.write_table(pa.table({"page": page, "clicks": clicks}), path)
    return path


def check(samples: ArmSamples) -> None:
    assert samples.names == ("a", "b")
    assert samples.rewards.tolist() == [2.0, 6.0, 4.0, 1.0, 3.0]
    assert samples.offsets.tolist() == [0, 3, 5]
    assert samples.rewards.dtype == np.float64
    assert samples.offsets.dtype == np.int64


@pytest.mark.each(
    "content",
    [
        LOG.replace("\n", "\r\n"),
        "\ufeff" + LOG,
        gzip.compress(LOG.encode(), mtime=0),
        '"page";"clicks";"a, b, c, d, e"\n"b";1;x\n"a";2;x\nb;3;x\na;6;x\na;4;x\n',
        "clicks,page\n1,b\n2, a\n3,b \n+6,a\n4.0e0,a\n",
        '\npage,clicks\n\nb,1\na," 2"\nb,3\na,6\na,4\n\n',
        'page,clicks,note\nb,1,"two\nlines"\na,2,\nb,3,\na,6,\na,4,\n',
    ],
)
def test_the_usual_shapes_of_csv_are_read(tmp_path: Path, content: str | bytes) -> None:
    check(read(write(tmp_path, content)))


@pytest.mark.each(
    "page",
    [
        ["b", "a", "b", "a", "a"],
        pa.array(["b", "a", "b", "a", "a"]).dictionary_encode(),
        pa.chunked_array([["b", "a"], ["b", "a", "a"]]),
        pa.array(["b", "a", "b", "a", "a"], pa.large_string()),
    ],
)
@pytest.mark.each("clicks", [[1, 2, 3, 6, 4], pa.array([1, 2, 3, 6, 4], pa.float32()), ["1", "2", "3", "6", "4"]])
def test_parquet_is_read(tmp_path: Path, page: object, clicks: object) -> None:
    check(read(parquet(tmp_path, page, clicks)))


@pytest.mark.each(
    "clicks",
    [
        ["true", "FALSE", "True", "false", " true"],
        ["yes", "no", "Yes", "NO", "YES"],
        pa.array([True, False, True, False, True]),
        pa.array(["yes", "no", "yes", "no", "yes"]).dictionary_encode(),
    ],
)
def test_words_are_ones_and_zeros(tmp_path: Path, clicks: object) -> None:
    samples = read(parquet(tmp_path, ["b", "a", "b", "a", "a"], clicks))
    assert samples.rewards.tolist() == [0.0, 0.0, 1.0, 1.0, 1.0]


@pytest.mark.each(
    "page, clicks",
    [
        (["b", "a", "", "b", "a", None, "a", "a"], ["1", "2", "5", "3", "6", "7", "4", ""]),
        (["b", "a", "nan", "b", "a", " ", "a", "b"], ["1", "2", "5", "3", "6", "7", "4", "N/A"]),
        (["b", "a", None, "b", "a", "a", "a", "b"], [1.0, 2.0, 5.0, 3.0, 6.0, float("nan"), 4.0, None]),
    ],
)
def test_rows_without_an_arm_or_a_reward_can_be_left_out(tmp_path: Path, page: object, clicks: object) -> None:
    path = parquet(tmp_path, page, clicks)
    samples = read(path, missing="drop")
    check(samples)
    assert samples.dropped == 3
    with pytest.raises(DataError, match="missing='drop' leaves out rows without a value"):
        read(path)


def test_what_is_no_value_depends_on_the_column(tmp_path: Path) -> None:
    path = write(tmp_path, "page,clicks\nNA,yes\nNA,na\nb,no\nb,no\n")
    samples = read(path, missing="drop")
    assert (samples.names, samples.rewards.tolist(), samples.dropped) == (("NA", "b"), [1.0, 0.0, 0.0], 1)
    path = write(tmp_path, "page,clicks\nNA,1\n1,1\n2,3\n,4\n")
    samples = read(path, missing="drop", bins=2)
    assert (samples.names, samples.rewards.tolist(), samples.dropped) == (("1", "2"), [1.0, 3.0], 2)


@pytest.mark.each(
    ("arms", "names"),
    [
        (["10", "9.5", "-3", "1e1"], ("-3", "9.5", "10")),
        (["10", "9", "none", "8.0", "8"], ("10", "8", "8.0", "9", "none")),  # not all are numbers: sorted as text
        (["9007199254740993", "9007199254740992"], ("9007199254740992", "9007199254740993")),
    ],
)
def test_arms_that_are_numbers_are_sorted_as_numbers(arms: list[str], names: tuple[str, ...], tmp_path: Path) -> None:
    content = "page,clicks\n" + "".join(f"{arm},1\n" for arm in arms)
    assert read(write(tmp_path, content)).names == names


def test_equal_numbers_are_one_arm_under_the_shorter_name(tmp_path: Path) -> None:
    samples = read(write(tmp_path, "page,clicks\n8.0,1\n8,2\n9,3\n"))
    assert samples.names == ("8", "9")
    assert samples.rewards.tolist() == [1.0, 2.0, 3.0]


def test_numbers_in_parquet_are_named_without_a_useless_point(tmp_path: Path) -> None:
    samples = read(parquet(tmp_path, [5.0, 5.0, 10.0], [1, 4, 3]))
    assert (samples.names, samples.num_arms, samples.counts.tolist()) == (("5", "10"), 2, [2, 1])
    assert samples.means.tolist() == [2.5, 3.0] and samples.variances.tolist() == [2.25, 0.0]  # ddof 0


def test_wanted_arms_come_in_the_order_asked_for(tmp_path: Path) -> None:
    samples = read(write(tmp_path, "page:clicks\n1:1\n2:2\n3:3\n2:4\n"), arms=[3, "2.0"], separator=":")
    assert (samples.names, samples.rewards.tolist(), samples.offsets.tolist()) == (("3", "2"), [3, 2, 4], [0, 1, 3])


def test_bins_have_equally_many_rows_and_are_named_after_their_ends(tmp_path: Path) -> None:
    rows = "".join(f"{value / 10},{value}\n" for value in (96, 84, 90, 95, 99, 120))
    samples = read(write(tmp_path, "page,clicks\n" + rows), bins=3)
    assert samples.names == ("8.4..9", "9.5..9.6", "9.9..12")
    assert samples.rewards.tolist() == [84, 90, 96, 95, 99, 120]
    assert samples.counts.tolist() == [2, 2, 2]


def test_equal_values_stay_in_one_bin(tmp_path: Path) -> None:
    samples = read(write(tmp_path, "page,clicks\n1,1\n1,1\n1,1\n2,1\n5,1\n"), bins=2)
    assert samples.names == ("1", "2..5")
    assert samples.counts.tolist() == [3, 2]


@pytest.mark.each(
    ("content", "complaint"),
    [
        ("", "is empty"),
        ("page,clicks\n", "has a header but no rows"),
        ("page,click\na,1\n", r"has no column 'clicks'\. Did you mean 'click'\? It has 'page', 'click'"),
        ("Page,clicks\na,1\n", r"has no column 'page'\. Did you mean 'Page'\?"),
        ("x,y\na,1\n", r"has no column 'page'\. It has 'x', 'y'"),
        ("page,clicks,page\na,1,b\n", "has 2 columns named 'page'; expected one"),
        ("page,clicks\na,1\nb,many\nb,2\n", r"row 2, is 'many'; every reward must be .* in magnitude \(1 of 3 rows"),
        ("page,clicks\na,1\nb,nan\n", "row 2, is 'nan'"),
        ("page,clicks\na,1\nb,inf\n", "row 2, is 'inf'"),
        ("page,clicks\na,1\nb,\n", "row 2, is empty"),
        ("page,clicks\na,1\n,2\nb,3\n", r"names no arm in row 2 \(1 of 3 rows"),
        ("page,clicks\na,1\nNaN,2\nb,3\n", "names no arm in row 2"),
        ("page,clicks\na,1\na,2\n", "has only one arm, 'a'; expected at least two"),
        ("page,clicks\na,yes\nb,2\n", "row 1, is 'yes'; .*; true, false, yes and no are rewards where all rows have"),
        ("page,clicks\na,1\nb,2,3\n", "is malformed: .*Expected 2 columns, got 3"),
        ("page,clicks\na,1\na,-1e51\nb,1\n", r"row 2, is '?-1e\+?51'?; every reward must be .* at most 1e\+50"),
        (b"page,clicks\n\xff\xfe,1\nb,2\n", "is malformed: .*UTF8"),
        (b"PAR1 and then nothing of the kind", "is not a readable Parquet file"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(tmp_path: Path, content: str | bytes, complaint: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(DataError, match=complaint) as caught:
        read(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_parquet_file_that_cannot_be_used_says_why(tmp_path: Path) -> None:
    unused = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["a", "b", "unused"]))
    for page, clicks, complaint in (
        (["a", None, "b"], [1, 2, 3], "names no arm in row 2"),
        ([1.0, float("nan"), 2.0], [1, 2, 3], "names no arm in row 2"),
        (["a", "b", "b"], [1, None, 3], "row 2, is empty"),
        (["a", "b", "b"], [1.0, 2.0, float("nan")], "row 3, is nan"),
        (["a", "b", "b"], [[1], [2], [3]], "has type list.*must be a number"),
        ([[1], [2], [3]], [1, 2, 3], "cannot name arms"),
        (unused, [1, 2, 3], "arm 'unused' .* has no rows"),
    ):
        with pytest.raises(DataError, match=complaint):
            read(parquet(tmp_path, page, clicks))


@pytest.mark.each(
    "content, complaint",
    [
        ("page,clicks\na,\n,2\n", "no row of .* has both 'page' and 'clicks'"),
        ("page,clicks\na,1\nb,many\nb,\n", "row 2, is 'many'"),
        ("page,clicks\na,1\nb,inf\n", "row 2, is 'inf'"),
        ("page,clicks\na,1\na,3\nb,\n", "has only one arm, 'a'"),
    ],
)
def test_leaving_rows_out_hides_no_mistake(tmp_path: Path, content: str, complaint: str) -> None:
    with pytest.raises(DataError, match=complaint):
        read(write(tmp_path, content), missing="drop")


def test_a_reward_of_another_kind_is_named_by_its_row(tmp_path: Path) -> None:
    path = write(tmp_path, "page,clicks\na,1\nb,0\na,2\nb,-1\n")
    message = r"log.csv, row 3, is 2, which is not binary \(2 of 4 rows are not\); .* rewards='real'$"
    with pytest.raises(DataError, match=message):
        read(path, rewards=BINARY)
    assert read(path, rewards=Rewards.of("bounded(-1, 2)")).rewards.tolist() == [1.0, 2.0, 0.0, -1.0]
    with pytest.raises(DataError, match="column 'b' of .*, row 2, is 0.5, which is not binary"):
        read_scores({"a": [0, 1], "b": [1, 0.5]}, rewards=BINARY)


def test_keywords_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    path = write(tmp_path, LOG)
    numbers = write(tmp_path, "page,clicks\n8,1\n8,1\n9,2\n", "numbers.csv")
    cases: list[tuple[Path, dict[str, object], type[Exception], str]] = [
        (path, {"bins": 1}, ParameterError, "bins must be"),
        (path, {"bins": 2.5}, ParameterError, "bins must be"),
        (path, {"bins": 2}, DataError, "row 1, is 'b'"),  # bins of text
        (numbers, {"bins": 3}, DataError, r"into 3 bins: .* \(2 are distinct\)"),
        (path, {"separator": "::"}, ParameterError, "separator must be"),
        (path, {"separator": '"'}, ParameterError, "separator must be"),
        (path, {"separator": b","}, ParameterError, "separator must be"),
        (path, {"arms": ["a"]}, ParameterError, "at least two arms"),
        (path, {"arms": "ab"}, ParameterError, "at least two arms"),
        (path, {"arms": 5}, ParameterError, "at least two arms"),
        (path, {"arms": ["a", "b"], "bins": 2}, ParameterError, "exclude each other"),
        (path, {"arms": ["a", "c"]}, DataError, "arm 'c' has no rows: .* has the arms 'a', 'b'"),
        (numbers, {"arms": [8, "8.0"]}, ParameterError, "arm '8' twice"),
        (path, {"arm_column": ["page"]}, ParameterError, "^arm_column must be"),
        (path, {"reward_column": None}, ParameterError, "^reward_column must be"),
        (path, {"reward_column": "page"}, ParameterError, "are both 'page'"),
        (path, {"missing": "ignore"}, ParameterError, "^missing must be 'error' or 'drop', not 'ignore'$"),
        (tmp_path / "absent.csv", {}, MissingDataError, "absent"),
        (tmp_path, {}, DataError, "cannot be read"),
    ]
    for file, keywords, error, complaint in cases:
        with pytest.raises(error, match=complaint):
            read(file, **keywords)


@pytest.mark.each(
    ("log", "complaint"),
    [
        ("pagé,clicks\na,1\nb,2\n", "has no column 'page'. Did you mean 'pag\ufffd'"),  # the name cannot be read
        ("page,clicks\né,1\nb,2\n", "is malformed: "),
        ("page,clicks\na,1\nb,2€\n", "is malformed: "),
    ],
)
@pytest.mark.each("encoding", ["cp1252", "utf-16"])
def test_a_file_in_another_encoding_gets_a_hint(tmp_path: Path, encoding: str, log: str, complaint: str) -> None:
    with pytest.raises(DataError, match="; the file is not in UTF-8: save it in that encoding$") as caught:
        read(write(tmp_path, log.encode(encoding)))
    assert encoding == "utf-16" or complaint in str(caught.value)


def test_other_columns_may_be_in_any_encoding(tmp_path: Path) -> None:
    assert read(write(tmp_path, "page,clicks,nôm\na,1,é\nb,2,b\n".encode("latin-1"))).names == ("a", "b")
    with pytest.raises(DataError, match="has no column 'page'. It has 'site', 'clicks'$"):
        read(write(tmp_path, "site,clicks\nb,1\né,2\n".encode("latin-1")))


needs_wine = pytest.mark.skipif(
    not os.environ.get("BAI_GYM_DATA") or find("wine-quality", "red") is None or find("wine-quality", "white") is None,
    reason="needs Wine Quality: set BAI_GYM_DATA to a folder that has wine-quality/winequality-red.csv and -white.csv",
)


@needs_wine
def test_the_real_wines_have_the_published_counts() -> None:
    red, white = find("wine-quality", "red"), find("wine-quality", "white")
    assert red is not None and white is not None
    by_red = read_table(red, arm_column="quality", reward_column="alcohol")
    by_white = read_table(white, arm_column="quality", reward_column="alcohol")
    assert dict(zip(by_red.names, by_red.counts.tolist(), strict=True)) == {
        "3": 10, "4": 53, "5": 681, "6": 638, "7": 199, "8": 18,
    }  # fmt: skip
    assert by_white.counts.tolist() == [20, 163, 1457, 2198, 880, 175, 5]
