"""``gpumoat gpus`` as a user runs it: the list, one card, JSON, and one line with code 2 for what is wrong."""

import json
import sys

import pytest

from gpumoat import cli
from gpumoat.catalogue import cards
from gpumoat.facts import registry


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command and return its exit code, what it printed, and what it complained of."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["gpumoat", "gpus", *arguments])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        said = capsys.readouterr()
        return int(stopped.value.code or 0), said.out, said.err

    return run


def test_the_list_has_every_card_and_explains_itself(run):
    code, out, err = run()
    assert (code, err) == (0, "")
    for row in cards():
        assert row.id in out
    assert "dense means every value counts" in " ".join(out.split())
    line = next(line for line in out.splitlines() if " h100-sxm " in line)
    for shown in ("SXM5 module", "80", "3,350", "989", "1,979", "1,978", "700"):
        assert shown in line


def test_what_nobody_has_read_is_marked(run):
    _, out, _ = run()
    assert "835.5?" in next(line for line in out.splitlines() if " h100-nvl " in line)


def test_one_vendor(run):
    code, out, _ = run("--vendor", "intel")
    assert code == 0
    assert "gaudi3" in out
    assert "h100" not in out


def test_one_card_shows_every_field_with_its_source(run):
    code, out, _ = run("h200-sxm")
    text = " ".join(out.split())
    assert code == 0
    for words in ("141 GiB = 151.4 GB", "143,771 MiB", "measured", "NVIDIA, MIG User Guide", "with sparsity"):
        assert words in text
    assert "both cards have six stacks" in text, "the note of a field"


def test_json_is_the_published_data(run):
    code, out, _ = run("b200", "--json")
    (card,) = json.loads(out)["cards"]
    assert code == 0
    assert card["fields"]["bf16_dense_flop_per_s"]["value"] == 2250 * 10**12
    code, out, _ = run("--vendor", "AMD", "--json")
    assert [one["vendor"] for one in json.loads(out)["cards"]] == ["AMD"] * 5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["h100"], "error: no card 'h100': did you mean h100-nvl, h100-pcie, h100-sxm?"),
        (["rtx-9090", "--json"], "error: no card 'rtx-9090': did you mean"),
        (["--vendor", "ATI"], "error: no vendor 'ATI': the catalogue has AMD"),
    ],
)
def test_what_is_wrong_is_one_line_and_code_two(run, arguments, words):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(words)
    assert err.count("\n") == 1


def test_a_field_that_is_missing_leaves_a_dash(run, monkeypatch):
    monkeypatch.delitem(registry().facts, "h100-sxm.tdp_w")
    _, out, _ = run()
    assert "700" not in next(line for line in out.splitlines() if " h100-sxm " in line)
