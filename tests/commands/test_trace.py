"""`gpumoat trace`: the report as tables and as JSON, a picture whole or not at all, exit status, one line on bad input.

The figures of the strip kernel were given by two other engines; see ``tests/simt/test_prototype_tables.py``.
"""

import json
import random
import sys

import pytest

from gpumoat import cli
from gpumoat.commands.trace_arguments import TypedScalar, read_argument

KERNELS = """\
from numba import cuda, float32


@cuda.jit
def strip(a, b, stride, length):
    start = cuda.grid(1) * stride
    for i in range(start, min(start + length, b.size)):
        b[i] = a[i] - a[i + 1]


@cuda.jit
def column(a, out):
    tile = cuda.shared.array((32, 32), float32)
    t = cuda.threadIdx.x
    tile[t, 0] = a[t]
    cuda.syncthreads()
    out[t] = tile[31 - t, 0]


@cuda.jit
def half(out):
    if cuda.threadIdx.x < 16:
        out[cuda.grid(1)] = 1


@cuda.jit
def listing(out):
    out[0] = [1, 2]
"""
STRIP = "--grid 2 --block 32 --arg a=int32[641]:random --arg b=int32[640] --arg length=10 --arg stride=10".split()


@pytest.fixture
def traced(monkeypatch, capsys, tmp_path):
    """Run ``gpumoat trace`` on the file of kernels in a folder of its own; return exit status, output and errors."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels.py").write_text(KERNELS)

    def run(name, *arguments):
        monkeypatch.setattr("sys.argv", ["gpumoat", "trace", name, *arguments])
        monkeypatch.setenv("COLUMNS", "160")
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return ended.value.code, *capsys.readouterr()

    return run


def test_a_right_kernel(traced):
    status, out, err = traced("kernels.py:strip", *STRIP)
    assert (status, err) == (0, "")
    for text in (
        "strip: grid of 2 blocks (all of them ran), 32 threads each, 1,920 accesses",
        "No problem found in this launch.",
        "b: each of 640 elements written exactly once",
        "Accesses a thread: 30 to 30, 30.0 on average; 0 threads touch nothing",
        "12.5%",
    ):
        assert text in out


def test_json_holds_the_same(traced):
    status, out, _ = traced("kernels.py:strip", *STRIP, "--json")
    found = json.loads(out)
    assert status == 0
    assert (found["accesses_count"], found["findings"]) == (1_920, [])
    loads, stores = found["requests"]
    assert (loads["array"], loads["kind"], loads["requests_count"], loads["active_lanes"]) == ("a", "load", 40, 32)
    assert stores["sectors_per_request"] == stores["sectors_count"] / stores["requests_count"]
    assert found["coverage"] == [
        {"array": "b", "elements_count": 640, "gaps_count": 0, "overlaps_count": 0, "exactly_once": True}
    ]
    assert found["accesses_per_thread"] == {"min": 30, "mean": 30, "max": 30, "idle_count": 0}


def test_a_planted_overlap_ends_with_status_1(traced):
    wrong = [word.replace("length=10", "length=11") for word in STRIP]
    status, out, _ = traced("kernels.py:strip", *wrong)
    assert status == 1
    assert out.index("data race") < out.index("overlap")
    assert "follows from 1" in " ".join(out.split())
    found = json.loads(traced("kernels.py:strip", *wrong, "--json")[1])["findings"]
    assert [(each["kind"], each["count"], each["cause"]) for each in found] == [
        ("data race", 63, None),
        ("overlap", 63, 0),
    ]


def test_shared_memory_and_its_banks(traced):
    status, out, _ = traced("kernels.py:column", *"--grid 1 --block 32 --arg float32[32] --arg float32[32]".split())
    assert status == 0
    assert "Shared memory, in turns of its 32 banks" in out
    assert "32-way" in out


def test_a_part_that_is_meant(traced):
    half = ["kernels.py:half", *"--grid 2 --block 32 --arg float32[64]:ones".split()]
    assert traced(*half)[0] == 1
    assert traced(*half, "--partial", "out")[0] == 0
    assert traced(*half, "--blocks", "1")[0] == 0
    assert json.loads(traced(*half, "--blocks", "0-1", "--json")[1])["accesses_count"] == 32


@pytest.mark.parametrize(("name", "begins"), [("out.svg", "<svg "), ("out.html", "<!DOCTYPE html>")])
def test_a_picture(traced, tmp_path, name, begins, monkeypatch):
    status, out, _ = traced("kernels.py:half", *"--grid 1 --block 32 --arg float32[32]".split(), "--picture", name)
    assert status == 1, "the gap is a finding, and the picture shows it"
    assert f"Picture: {name}" in out
    assert (tmp_path / name).read_text().startswith(begins)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["kernels.py", name])


def test_a_picture_that_fails_leaves_nothing(traced, tmp_path, monkeypatch):
    (tmp_path / "out.svg").write_text("old")

    def fails(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fails)
    status, out, err = traced(
        "kernels.py:half", *"--grid 1 --block 32 --arg float32[32]".split(), "--picture", "out.svg"
    )
    assert (status, out, err) == (2, "", "error: disk full\n")
    assert (tmp_path / "out.svg").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kernels.py", "out.svg"]


def test_without_the_chart_library_a_picture_is_refused_at_once(traced, monkeypatch):
    for name in ("trace_page", "trace_picture", "drawing", "figures"):
        monkeypatch.delitem(sys.modules, f"gpumoat.site.{name}", raising=False)
        monkeypatch.delattr(f"gpumoat.site.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "altair", None)
    half = ["kernels.py:half", *"--grid 1 --block 32 --arg float32[32]".split()]
    status, out, err = traced(*half, "--picture", "out.svg")
    assert (status, out) == (2, "")
    assert err.startswith("error: --picture needs altair, which comes with the site's requirements")
    assert traced(*half)[0] == 1, "the report itself needs none"


def test_a_random_order_and_random_arguments_can_be_repeated(traced):
    words = [*STRIP, "--order", "random", "--seed", "7", "--json"]
    assert traced("kernels.py:strip", *words) == traced("kernels.py:strip", *words)


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("--grid=0", "--grid must be one to three whole numbers of at least 1, such as 8 or 32,8, not '0'"),
        ("--block=a", "--block must be one to three whole numbers"),
        ("--block=2048", "--block: 2048 threads; a block has at most 1024"),
        ("--blocks=9", "--blocks 9: there are blocks from 0 to 1, and a range goes upwards"),
        ("--blocks=a", "--blocks must be numbers and ranges, such as 0,1 or 0-3, not 'a'"),
        ("--order=sideways", "--order: one of forward, reverse, random"),
        ("--partial=q", "no global array is called 'q': there are a, b"),
        ("--picture=out.png", "--picture must end in .svg or .html, not 'out.png'"),
        ("--picture=no/out.svg", "--picture no/out.svg: there is no folder no"),
        ("--arg=3", "--arg 3: the kernel takes 4 arguments, not 5"),
        ("--arg=q=3", "--arg q=3: the kernel has no parameter 'q', it takes a, b, stride, length"),
        ("--arg=a=3", "--arg a=3: 'a' is given twice"),
    ],
)
def test_bad_input_is_one_line(traced, word, says):
    status, out, err = traced("kernels.py:strip", *STRIP, word)
    assert (status, out) == (2, "")
    assert err.startswith(f"error: {says}")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("kernel", "arguments", "says"),
    [
        ("kernels.py:nothing", ["1"], "has no function nothing"),
        ("none.py:strip", ["1"], "none.py"),
        ("kernels.py", ["1"], "neither"),
        ("kernels.py:strip", ["int32[3]"], "--arg for 'b' is missing: the kernel takes a, b, stride, length"),
        ("kernels.py:listing", ["int32[3]"], "kernels.py:28"),
    ],
)
def test_kernels_that_cannot_be_run(traced, kernel, arguments, says):
    words = [word for argument in arguments for word in ("--arg", argument)]
    status, out, err = traced(kernel, "--grid", "1", "--block", "32", *words)
    assert (status, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1


def test_help_teaches_with_an_example(traced):
    status, out, _ = traced("--help")
    assert status == 0
    for text in ("For example", "gpumoat.kernels.image:grid_stride --grid 4 --block 64", "--picture"):
        assert text in " ".join(out.split())


class TestArguments:
    def read(self, word):
        return read_argument(word, random.Random(0))

    @pytest.mark.parametrize(("word", "value"), [("36", 36), ("-3", -3), ("0x10", 16), ("0.5", 0.5), ("1e3", 1000.0)])
    def test_plain_numbers(self, word, value):
        found = self.read(word)
        assert (found, type(found)) == (value, type(value))

    def test_numbers_of_a_type(self):
        assert self.read("float32:1") == TypedScalar(1.0, "float32")
        assert self.read("uint8:255").item() == 255

    @pytest.mark.parametrize(
        ("word", "values"),
        [
            ("int16[4]", [0, 0, 0, 0]),
            ("int16[2,2]:ones", [1, 1, 1, 1]),
            ("float32[4]:arange", [0, 1, 2, 3]),
            ("uint8[3]:7", [7, 7, 7]),
            ("bool[3]:arange", [False, True, False]),
        ],
    )
    def test_arrays(self, word, values):
        found = self.read(word)
        assert list(found.flat) == values
        assert found.shape == ((2, 2) if "," in word else (len(values),))

    def test_random_numbers_stay_in_their_range(self):
        assert {*self.read("uint8[2000]:random").flat} <= set(range(256))
        assert max(self.read("int8[2000]:random").flat) <= 127
        assert 0 <= min(self.read("float32[99]:random").flat) <= max(self.read("float32[99]:random").flat) <= 1
        assert list(self.read("int32[9]:random").flat) == list(self.read("int32[9]:random").flat)

    def test_a_file(self, tmp_path):
        numpy = pytest.importorskip("numpy")
        numpy.save(tmp_path / "a.npy", numpy.arange(3, dtype="int16"))
        found = self.read(str(tmp_path / "a.npy"))
        assert (found.tolist(), str(found.dtype)) == ([0, 1, 2], "int16")
        (tmp_path / "b.npy").write_text("text")
        with pytest.raises(ValueError, match=r"--arg .*b.npy: "):
            self.read(str(tmp_path / "b.npy"))

    @pytest.mark.parametrize(
        ("word", "says"),
        [
            ("text", "'text' must be a number, such as 36"),
            ("int33[3]", "'int33' is no type, it must be one of bool, int8"),
            ("int32[]", "must be whole numbers of at least 1, such as"),
            ("int32[0]", "must be whole numbers of at least 1"),
            ("int32[3]:twos", "'twos' must be zeros, ones, arange, random or a number"),
            ("uint8[3]:256", "256 does not fit into uint8"),
            ("int32:0.5", "0.5 does not fit into int32"),
            ("int8[99999,99999]", "elements, and at most"),
            ("none.npy", "there is no such file"),
        ],
    )
    def test_words_that_cannot_be_read(self, word, says):
        with pytest.raises(ValueError, match=says) as error:
            self.read(word)
        assert str(error.value).startswith(f"--arg {word}: ")
