"""``gpumoat memory`` and ``gpumoat models`` as a user runs them: table, JSON, exit codes, one line for faults."""

import io
import json
import sys

import pytest

from gpumoat import cli
from gpumoat.llm.configs import config_entry, config_ids

KEYS = (
    "parameters active_parameters weights_bytes kv_bytes_per_token kv_bytes state_bytes_per_sequence activations_bytes "
    "gradients_bytes optimizer_bytes overhead_bytes total_bytes low_bytes high_bytes cards terms"
).split()


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command and return its exit code, what it printed, and what it complained of."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["gpumoat", *arguments])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        said = capsys.readouterr()
        return int(stopped.value.code or 0), said.out, said.err

    return run


def test_the_table_explains_itself_largest_first(run):
    code, out, err = run("memory", "llama-3.1-8b", "--gpu", "h100-sxm", "--batch", "8")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    places = [
        next(n for n, line in enumerate(lines) if word in line) for word in ("feed-forward", "KV cache", "graphs")
    ]
    assert places == sorted(places)
    for words in (
        "8.030 billion parameters",
        "█",
        "14 × S × V = 14 × 1,024 × 128,256",
        "it fits",
        "at most: a context of",
    ):
        assert words in out


def test_what_does_not_fit_says_what_would(run):
    code, out, _ = run("memory", "llama-3.1-70b", "--gpu", "h100-sxm")
    assert code == 1
    for words in ("does not fit", "it would fit on 2 such cards (--tp 2)", "--quant awq-int4"):
        assert words in out
    assert run("memory", "llama-3.1-70b", "--gpu", "h100-sxm", "--tp", "4")[0] == 0


def test_json_has_every_key_and_sums(run):
    code, out, _ = run("memory", "qwen3-next-80b-a3b", "--json", "--batch", "4", "--tp", "2")
    data = json.loads(out)
    assert code == 0
    assert not [key for key in KEYS if key not in data]
    assert sum(term["bytes"] for term in data["terms"]) == data["total_bytes"]
    assert data["parameters"] == 79_674_391_296
    assert data["kv_bytes_per_token"] == 24_576
    assert data["cards"] == 2
    assert data["low_bytes"] <= data["total_bytes"] <= data["high_bytes"]
    assert all({"name", "bytes", "formula", "source"} <= set(term) for term in data["terms"])


def test_json_with_a_card_answers_the_inverse_questions(run):
    code, out, _ = run("memory", "llama-3.1-70b", "--gpu", "h200-sxm", "--json")
    data = json.loads(out)
    assert code == 1
    assert data["fits"] is False
    assert data["fewest_cards"] == 2
    assert data["largest_context"] == 0


def test_a_config_of_ones_own_from_a_file_and_from_standard_input(run, monkeypatch, tmp_path):
    text = json.dumps(config_entry("qwen2.5-7b")["config"])
    (tmp_path / "config.json").write_text(text, "utf-8")
    assert json.loads(run("memory", str(tmp_path), "--json")[1])["parameters"] == 7_615_616_512
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert json.loads(run("memory", "-", "--json")[1])["parameters"] == 7_615_616_512


def test_what_was_assumed_is_said(run, monkeypatch):
    config = {**config_entry("llama-3.1-8b")["config"], "model_type": "brand_new"}
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(config)))
    code, out, _ = run("memory", "-")
    assert code == 0
    assert "assumed: model_type 'brand_new' is not known" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["llama-3.1"], "error: no model 'llama-3.1' in the catalogue and no such file: did you mean"),
        (["llama-3.1-8b", "--gpu", "h100"], "error: no gpu 'h100': did you mean"),
        (["llama-3.1-8b", "--tp", "3"], "error: --tp must divide the 32 heads"),
        (["llama-3.1-8b", "--context", "0"], "error: --context must be a whole number"),
        (["llama-3.1-8b", "--engine", "ollama"], "error: --engine must be transformers"),
        (["llama-3.1-8b", "--quant", "int3"], "error: --quant must be one of"),
        (["llama-3.1-8b", "--dtype", "fp8"], "error: --dtype must be one of"),
        (["llama-3.1-8b", "--train", "adamw"], "error: No such option: --train"),
        (["t0-3b"], "error: is_encoder_decoder is true"),
        ([], "error: Missing argument"),
    ],
)
def test_what_is_wrong_is_one_line_and_code_two(run, arguments, words):
    code, out, err = run("memory", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(words)
    assert err.count("\n") == 1


def test_models_lists_the_catalogue_with_its_sources(run):
    code, out, _ = run("models", "--json")
    rows = json.loads(out)["models"]
    assert code == 0
    assert [row["id"] for row in rows] == config_ids()
    assert len(rows) >= 40
    assert all(row["source"] for row in rows)
    assert {row["id"] for row in rows if "problem" in row} == {"mt0-xxl", "t0-3b"}
    assert "llama-3.1-8b" in run("models")[1]
