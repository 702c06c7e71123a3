"""`gpumoat partition`: a table that explains itself, the same as JSON, and one line on bad input.

The lecture's picture, 600,000,000 pixels for 16,384 cores, is the figure from elsewhere; the gap of a share that was
rounded down, 1,536 pixels, was found by an array of counters.
"""

import json

import pytest

from gpumoat import cli

IMAGE = ["partition", "--elements", "600000000", "--workers", "16384", "--after", "1"]
TILES = ["partition", "--rows", "20000", "--columns", "30000", "--tile-rows", "512", "--tile-columns", "512"]


@pytest.fixture
def gpumoat(monkeypatch, capsys):
    """Run the command as a shell does and return exit status, output and errors."""

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["gpumoat", *arguments])
        monkeypatch.setenv("COLUMNS", "140")
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return ended.value.code, *capsys.readouterr()

    return run


def test_the_lectures_picture(gpumoat):
    status, out, err = gpumoat(*IMAGE)
    assert (status, err) == (0, "")
    for text in ("36,622", "21,774", "600,014,848", "99.9975%", "0 to 36,622", "1 to 36,623", "yes"):
        assert text in out
    assert "each done exactly once" in out


def test_json_holds_the_same_as_numbers(gpumoat):
    status, out, _ = gpumoat(*IMAGE, "--element-bytes", "1", "--json")
    found = json.loads(out)
    assert status == 0
    assert (found["chunk_count"], found["last_count"], found["slots_count"]) == (36_622, 21_774, 600_014_848)
    assert found["first_reads"] == {"start": 0, "stop": 36_623}
    assert found["last_reads"] == {"start": 599_978_226, "stop": 600_000_000}
    assert found["used_share"] == pytest.approx(0.99997525, abs=5e-9)
    assert found["strip_sectors"] == pytest.approx(32, rel=1e-4)
    assert found["grid_stride_sectors"] == 1
    assert found["correct"] is True


def test_a_strip_of_ones_own_is_checked(gpumoat):
    """The planted fault: the share rounded down."""
    status, out, _ = gpumoat(*IMAGE, "--strip", "36621")
    assert status == 1
    assert "1,536 missed, first 599,998,464 to 599,999,999" in out.replace("\n", " ")
    right, out, _ = gpumoat(*IMAGE, "--strip", "36622", "--json")
    assert (right, json.loads(out)["correct"]) == (0, True)


def test_a_strip_too_long_leaves_workers_without_work(gpumoat):
    status, out, _ = gpumoat(
        "partition", "--elements", "10", "--workers", "4", "--strip", "5", "--before", "1", "--json"
    )
    found = json.loads(out)
    assert status == 0
    assert (found["last_count"], found["slots_count"], found["used_share"]) == (0, 20, 0.5)
    assert found["last_reads"] == {"start": 10, "stop": 10}
    assert "nothing" in gpumoat("partition", "--elements", "10", "--workers", "4", "--strip", "5")[1]


def test_balanced_shares(gpumoat):
    found = json.loads(gpumoat("partition", "--elements", "10", "--workers", "4", "--balanced", "--json")[1])
    assert (found["chunk_count"], found["last_count"], found["idle_count"]) == (3, 2, 0)


def test_tiles(gpumoat):
    status, out, err = gpumoat(*TILES, "--halo", "1", "--workers", "16384")
    assert (status, err) == (0, "")
    for text in ("2,360", "40 x 59", "1.0078×", "14.40%"):
        assert text in out
    found = json.loads(gpumoat(*TILES, "--json")[1])
    assert (found["tasks_count"], found["read_ratio"]) == (2_360, 1)
    assert "waves_count" not in found


def test_too_many_workers_to_check_are_not_checked(gpumoat):
    status, out, _ = gpumoat("partition", "--elements", "600000000", "--workers", "600000000", "--json")
    assert (status, json.loads(out)["correct"]) == (0, None)
    assert "not run" in gpumoat("partition", "--elements", "600000000", "--workers", "600000000")[1]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--elements", "0", "--workers", "3"], "--elements must be a whole number of at least 1, not 0"),
        (["--elements", "4", "--workers", "-3"], "--workers must be a whole number of at least 1, not -3"),
        (
            ["--elements", "4", "--workers", "3", "--after", "-1"],
            "--after must be a whole number of at least 0, not -1",
        ),
        (["--elements", "4", "--workers", "3", "--strip", "0"], "--strip must be a whole number of at least 1, not 0"),
        (
            ["--elements", "4", "--workers", "3", "--element-bytes", "0"],
            "--element-bytes must be a whole number of at least 1, not 0",
        ),
        (
            ["--elements", "4"],
            "--workers is missing: a row needs --elements and --workers, a matrix --rows and --tile-rows",
        ),
        ([], "--elements is missing: a row needs --elements and --workers, a matrix --rows and --tile-rows"),
        (
            ["--elements", "4", "--workers", "3", "--strip", "2", "--balanced"],
            "--balanced does not go with --strip: the shares are either yours or balanced",
        ),
        (["--rows", "4"], "--columns is missing: tiles need --rows, --columns, --tile-rows and --tile-columns"),
        ([*TILES[1:], "--elements", "4"], "--elements does not go with tiles: a matrix has --rows and --columns"),
        ([*TILES[1:], "--halo", "-1"], "--halo must be a whole number of at least 0, not -1"),
        ([*TILES[1:], "--tile-rows", "0"], "--tile-rows must be a whole number of at least 1, not 0"),
    ],
)
def test_bad_input_is_one_line(gpumoat, arguments, line):
    assert gpumoat("partition", *arguments) == (2, "", f"error: {line}\n")
