"""The check of the catalogue's configs: each rule finds the fault planted for it, and the catalogue itself has none."""

from __future__ import annotations

import json
import shutil
from copy import deepcopy
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpumoat.config_check import Fault, check_configs, read_configs
from gpumoat.facts import DATA, registry
from gpumoat.registry_check import check_registry

GOOD: dict[str, Any] = {
    "schema": 1,
    "id": "small-1.5b",
    "name": "Small 1.5B",
    "publisher": "A laboratory",
    "released": "2024-07",
    "config": {
        "model_type": "llama",
        "hidden_size": 2048,
        "num_hidden_layers": 2,
        "head_dim": None,
        "layer_types": ["full_attention", "sliding_attention"],
        "vision_config": {"hidden_size": 64, "num_hidden_layers": 3},
        "block_configs": [{"ffn": {"no_op": True}}, {"ffn": {"no_op": False}}],
    },
    "parameters": {"total": 1500000123, "active": 1500000000, "says": "the index of the weights", "exact": True},
    "source": "lab-2024",
    "locator": "config.json",
    "status": "verified",
    "checked": "2024-08-01",
    "note": "A note.",
}
COPIES = {"lab-2024": "The file. Read 2024-08-01.", "heard-2024": ""}
FILE = "configs/small-1.5b.json"


def planted(**changes: Any) -> dict[str, Any]:
    """Return the good entry with fields replaced by path, such as ``config__vocab_size``, or left out where None."""
    row = deepcopy(GOOD)
    for path, value in changes.items():
        *way, last = path.split("__")
        place = row
        for step in way:
            place = place[step]
        if value is ...:
            del place[last]
        else:
            place[last] = value
    return row


def faults(folder: Path, row: Any, today: date | None = None, name: str = "small-1.5b.json") -> list[Fault]:
    (folder / "configs").mkdir(exist_ok=True)
    text = row if isinstance(row, str) else json.dumps(row)
    (folder / "configs" / name).write_text(text, encoding="utf-8")
    return check_configs(read_configs(folder), COPIES, today)


def test_a_good_entry_has_no_faults(tmp_path: Path) -> None:
    assert faults(tmp_path, GOOD) == []
    assert faults(tmp_path, GOOD, today=date(2024, 8, 1)) == []
    assert faults(tmp_path, planted(released="2024", note=...)) == []
    assert faults(tmp_path, planted(parameters={"total": None, "active": None, "says": "", "exact": False})) == []


def test_without_a_folder_there_are_no_entries(tmp_path: Path) -> None:
    assert read_configs(tmp_path).entries == {}
    assert check_configs(read_configs(tmp_path), {}) == []


# what is planted, the field of the fault, words of its message
FAULTS: dict[str, tuple[dict[str, Any], str, str]] = {
    "schema": ({"schema": 2}, "schema", 'use "schema": 1'),
    "schema is no truth value": ({"schema": True}, "schema", 'use "schema": 1'),
    "unknown field": ({"licence": "MIT"}, "licence", "unknown field: use schema, id"),
    "missing text": ({"publisher": ...}, "publisher", "missing: it must be text"),
    "empty text": ({"locator": " "}, "locator", "is empty"),
    "number for text": ({"released": 2024}, "released", "is int 2024: it must be text"),
    "note is no text": ({"note": None}, "note", "must be text"),
    "id of another file": ({"id": "small"}, "id", "use 'small-1.5b', or rename the file"),
    "release date": ({"released": "July 2024"}, "released", "is no date"),
    "no such day": ({"released": "2024-02-30"}, "released", "no day of the calendar"),
    "day of check": ({"checked": "2024-08"}, "checked", "is no date: write 2026-11-30"),
    "read before release": ({"checked": "2024-06-30"}, "checked", "before the model was released"),
    "status": ({"status": "read"}, "status", "use one of verified, quoted, unverified"),
    "unverified without a way": ({"status": "unverified"}, "to_check", "name the document that would settle it"),
    "way without need": ({"to_check": "the file"}, "to_check", "goes with unverified: this entry is verified"),
    "dangling source": ({"source": "lap-2024"}, "source", "no source 'lap-2024'"),
    "verified without a copy": ({"source": "heard-2024"}, "source", "has no copy"),
    "no config": ({"config": {}}, "config", "must be an object with the fields"),
    "config is a list": ({"config": [1]}, "config", "must be an object with the fields"),
    "nameless config": (
        {"config__model_type": ..., "note": ...},
        "config",
        "neither model_type nor architectures",
    ),
    "token id": ({"config__bos_token_id": 1}, "config.bos_token_id", "leave it out"),
    "dropout deep inside": ({"config__vision_config__attention_dropout": 0.1}, "", "leave it out"),
    "path of a machine": ({"config__block_configs": [{"_name_or_path": "/home"}, {}]}, "", "leave it out"),
    "count below one": ({"config__hidden_size": 0}, "config.hidden_size", "a whole number above zero"),
    "count with a point": ({"config__hidden_size": 2048.0}, "config.hidden_size", "a whole number above zero"),
    "count as text": ({"config__vocab_size": "32000"}, "config.vocab_size", "is str 32000"),
    "count as truth": ({"config__head_dim": True}, "config.head_dim", "is bool True"),
    "count in a part": (
        {"config__vision_config__hidden_size": -64},
        "config.vision_config.hidden_size",
        "is int -64",
    ),
    "too few layers listed": ({"config__layer_types": ["full_attention"]}, "config.layer_types", "1 items for 2"),
    "too many blocks": ({"config__block_configs": [{}, {}, {}]}, "config.block_configs", "3 items for 2 layers"),
    "pattern of letters": ({"config__hybrid_override_pattern": "M*-"}, "", "3 items for 2 layers"),
    "parameters": ({"parameters": 1}, "parameters", "must be an object with total, active, says, exact"),
    "unknown count": ({"parameters__embedding": 1}, "parameters.embedding", "unknown field"),
    "missing count": ({"parameters__active": ...}, "parameters.active", "write null"),
    "count in billions": ({"parameters__total": 1.5}, "parameters.total", "it must be a count"),
    "active above total": ({"parameters__active": 2000000000}, "parameters.active", "more than the total"),
    "number without a speaker": ({"parameters__says": ""}, "parameters.says", "say who states the number"),
    "says is no text": ({"parameters__says": None}, "parameters.says", "it must be text"),
    "exact is no truth value": ({"parameters__exact": "yes"}, "parameters.exact", "it must be true or false"),
    "exact without a number": ({"parameters__total": None}, "parameters.exact", "is true without a total"),
    "exact and rounded": (
        {"parameters__total": 1500000000},
        "parameters.exact",
        "1,500,000,000 is rounded: write false",
    ),
}


@pytest.mark.parametrize("rule", FAULTS)
def test_each_rule_finds_its_fault(tmp_path: Path, rule: str) -> None:
    changes, field, words = FAULTS[rule]
    found = faults(tmp_path, planted(**changes))
    assert found, "nothing was found"
    assert [one for one in found if one[2].startswith(field) and words in one[3]], found
    assert {one[0] for one in found} == {FILE}


def test_a_config_that_its_note_explains_may_be_nameless(tmp_path: Path) -> None:
    assert faults(tmp_path, planted(config__model_type=...)) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"schema": 1,', "line 1: "),
        ("[]", "must hold one object"),
        ('{"schema": 1, "schema": 1}', "gives 'schema' twice"),
        ('{"config": {"hidden_size": NaN}}', "NaN is no number of JSON"),
        ("[" * 100000, "nested too deep"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, text: str, words: str) -> None:
    found = faults(tmp_path, text)
    assert [one[0] for one in found] == [FILE]
    assert words in found[0][3]


def test_what_is_no_text_and_what_is_no_entry(tmp_path: Path) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "a.json").write_bytes(b'{"a": "\xff"}')
    (tmp_path / "configs" / "README.md").write_text("Hello.", encoding="utf-8")
    assert check_configs(read_configs(tmp_path), {}) == [
        ("configs/README.md", "", "", "is no entry: name it <id>.json, or take it out"),
        ("configs/a.json", "", "", "byte 7 is no UTF-8: save the file as UTF-8"),
    ]


def test_form_of_an_id_and_a_name_given_twice(tmp_path: Path) -> None:
    found = faults(tmp_path, planted(id="Small_1.5B"), name="Small_1.5B.json")
    assert [one[2] for one in found] == ["id"]
    assert "small letters, digits" in found[0][3]
    found = faults(tmp_path, GOOD)
    assert ("name", f"'Small 1.5B' is the name of {'configs/Small_1.5B.json'} too: say what is different") in {
        one[2:] for one in found
    }


def test_a_day_to_come_is_a_fault_only_against_the_clock(tmp_path: Path) -> None:
    found = faults(tmp_path, GOOD, today=date(2024, 7, 31))
    assert [one[2] for one in found] == ["checked"]
    assert "lies after today, 2024-07-31" in found[0][3]


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(
    field=st.sampled_from([*GOOD, "config__num_hidden_layers", "config__layer_types", "parameters__total"]), value=ANY
)
def test_any_value_anywhere_gives_lines_and_never_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, field: str, value: Any
) -> None:
    for fault in faults(tmp_path_factory.mktemp("data"), planted(**{field: value})):
        assert all(isinstance(part, str) for part in fault)
        assert fault[3]


def test_the_registry_check_passes_faults_of_configs_on(tmp_path: Path) -> None:
    data = tmp_path / "src" / "gpumoat" / "data"
    shutil.copytree(DATA, data)
    shutil.rmtree(data / "configs")
    faults(data, planted(source="brown-2020", parameters__exact="yes"))
    found = [str(one) for one in check_registry(data) if one.file.startswith("configs/")]
    assert found == [
        "configs/small-1.5b.json: config small-1.5b: parameters.exact: is str yes: it must be true or false"
    ]


class TestCatalogue:
    def test_has_no_faults(self) -> None:
        copies = {id: source.text("copy") for id, source in registry().sources.items()}
        assert check_configs(read_configs(Path(DATA)), copies) == []

    def test_names_the_families_that_people_run(self) -> None:
        entries = read_configs(Path(DATA)).entries
        assert len(entries) >= 50
        families = {row["config"].get("model_type") for row in entries.values()}
        assert families >= {
            "gpt2", "llama", "llama4", "qwen2", "qwen3", "qwen3_moe", "qwen3_next", "mistral", "mixtral", "gemma2",
            "gemma3", "gemma4", "phi", "phi3", "deepseek_v2", "deepseek_v3", "deepseek_v4", "glm4", "glm4_moe",
            "gpt_oss", "kimi_k2", "falcon", "bloom", "mpt", "jamba", "nemotron_h", "nemotron-nas", "cohere",
            "starcoder2",
        }  # fmt: skip

    def test_says_of_each_entry_where_it_was_read(self) -> None:
        entries = read_configs(Path(DATA)).entries.values()
        assert sum(row["status"] == "verified" for row in entries) > len(entries) / 2
        assert sum(row["parameters"]["exact"] for row in entries) >= 15

    @pytest.mark.parametrize(
        ("id", "total"),
        [
            # 2Vh + L(attention + 3hf + 2h) + h, by hand from the widths that the file gives
            ("llama-2-7b", 2 * 32000 * 4096 + 32 * (4 * 4096**2 + 3 * 4096 * 11008 + 2 * 4096) + 4096),
            ("bloom-176b", 250880 * 14336 + 2 * 14336 + 70 * (12 * 14336**2 + 13 * 14336) + 2 * 14336),
            ("mpt-7b", 50432 * 4096 + 32 * (12 * 4096**2 + 2 * 4096) + 4096),
            ("mixtral-8x7b", 2 * 32000 * 4096 + 32 * (41943040 + 8 * 3 * 4096 * 14336 + 8 * 4096 + 2 * 4096) + 4096),
        ],
    )
    def test_exact_counts_agree_with_the_widths(self, id: str, total: int) -> None:
        row = read_configs(Path(DATA)).entries[f"configs/{id}.json"]
        assert row["parameters"]["exact"] is True
        assert row["parameters"]["total"] == total
