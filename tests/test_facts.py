"""The four doors: what comes through them, what is noted of it, and what a broken data file says."""

import json
import subprocess
import sys

import pytest

from gpumoat import facts
from gpumoat.facts import (
    DataError,
    Record,
    Registry,
    assume,
    claim,
    fact,
    fact_text,
    load_registry,
    measured,
    near,
    recording,
    registry,
)


@pytest.fixture
def small(monkeypatch):
    """A registry of one row of each kind."""
    found = Registry()
    found.add("sources", {"id": "s"}, "sources.toml")
    row = {"id": "card-one.memory_bytes", "value": 80, "unit": "GiB", "source": "s", "status": "verified"}
    found.add("facts", row, "facts/cards.toml")
    found.add("facts", {"id": "net.layers", "value": 96, "unit": ""}, "facts/net.toml")
    found.add("facts", {"id": "bad.memory_bytes", "value": 80, "unit": "GB/s"}, "facts/bad.toml")
    found.add("facts", {"id": "text.layers", "value": "96", "unit": ""}, "facts/bad.toml")
    found.add("claims", {"id": "said", "value": 2.5, "unit": "TB/s", "verdict": "wrong"}, "claims.toml")
    found.add("claims", {"id": "opinion", "verdict": "opinion"}, "claims.toml")
    results = {"total_bytes": {"value": 3, "unit": "GiB"}, "copy_bytes_per_s": {"value": 4, "unit": "s"}, "text": {}}
    found.add("measurements", {"id": "run", "results": results}, "measurements/run.json")
    monkeypatch.setattr(facts, "_registry", found)
    return found


class TestDoors:
    def test_each_hands_out_a_plain_number_in_base_units_and_notes_its_kind(self, small):
        with recording() as reads:
            values = [
                fact("card-one.memory_bytes"),
                measured("run", "total_bytes"),
                assume(0.4, "a guess"),
                claim("said"),
            ]
        assert values == [80 * 2**30, 3 * 2**30, 0.4, 2.5e12]
        assert all(type(value) in (int, float) for value in values)
        assert [(read.kind, read.id) for read in reads] == [
            ("cited", "card-one.memory_bytes"),
            ("measured", "run.total_bytes"),
            ("assumed", "a guess"),
            ("claimed", "said"),
        ]
        assert [read.value for read in reads] == values
        assert [read.unit.text for read in reads] == ["bytes", "bytes", "", "bytes/s"]

    @pytest.mark.parametrize(
        ("door", "arguments", "words"),
        [
            (
                fact,
                ["card-one.memory"],
                "no fact 'card-one.memory': did you mean bad.memory_bytes, card-one.memory_bytes?",
            ),
            (fact, ["bad.memory_bytes"], "facts/bad.toml: fact 'bad.memory_bytes': memory_bytes is held in bytes"),
            (fact, ["text.layers"], "facts/bad.toml: fact 'text.layers' has no number as its value"),
            (fact_text, ["text.layer"], "no fact 'text.layer': did you mean"),
            (fact_text, ["net.layers"], "facts/net.toml: fact 'net.layers' is a number: read it as fact("),
            (claim, ["sayd"], "no claim 'sayd'"),
            (claim, ["opinion"], "claims.toml: claim 'opinion' has no number as its value"),
            (measured, ["walk", "x"], "no measurement 'walk'"),
            (measured, ["run", "x"], "measurement 'run' has no result 'x': it has copy_bytes_per_s, text, total_bytes"),
            (measured, ["run", "copy_bytes_per_s"], "measurements/run.json: copy_bytes_per_s"),
            (measured, ["run", "text"], "measurements/run.json: result 'text' has no number as its value"),
            (assume, [3, ""], "needs a reason in words"),
            (assume, [3, "  "], "needs a reason in words"),
            (assume, [3, None], "needs a reason in words"),
            (assume, ["3", "a guess"], "takes a number, not '3'"),
            (assume, [True, "a guess"], "takes a number, not True"),
        ],
    )
    def test_what_is_wrong_is_named_and_nothing_is_noted(self, small, door, arguments, words):
        with recording() as reads, pytest.raises(DataError) as caught:
            door(*arguments)
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)
        assert reads == []

    def test_a_text_comes_as_text_and_is_noted_as_cited(self, small):
        with recording() as reads:
            assert fact_text("text.layers") == "96"
        assert [(read.kind, read.id, read.value, read.unit.text) for read in reads] == [
            ("cited", "text.layers", "96", "")
        ]


class TestRecording:
    def test_every_listener_hears_and_none_hears_too_much(self, small):
        with recording() as outer:
            fact("net.layers")
            with recording() as inner:
                claim("said")
            assume(1, "a guess")
        fact("net.layers")
        assert [read.kind for read in outer] == ["cited", "claimed", "assumed"]
        assert [read.kind for read in inner] == ["claimed"]

    def test_two_empty_listeners_are_told_apart(self, small):
        with recording() as outer:
            with recording():
                pass
            fact("net.layers")
        assert len(outer) == 1

    def test_an_error_closes_the_listener(self, small):
        with pytest.raises(DataError), recording():
            fact("nowhere")
        assert facts._listeners == []

    def test_a_second_read_is_noted_again(self, small):
        with recording() as reads:
            fact("net.layers")
            fact("net.layers")
        assert len(reads) == 2
        assert reads[0].key == reads[1].key

    def test_one_reason_for_two_values_is_two_assumptions(self, small):
        with recording() as reads:
            assume(1, "a guess")
            assume(2, "a guess")
        assert reads[0].key != reads[1].key

    def test_no_door_is_cached(self):
        assert not [door for door in (fact, claim, measured, assume) if hasattr(door, "cache_info")]

    def test_importing_the_package_reads_nothing(self):
        # In a process of its own: a module imported twice would leave two of each class behind.
        script = (
            "from gpumoat import facts\nwith facts.recording() as reads:\n    import gpumoat.hardware, gpumoat.llm\n"
            "assert reads == [] and facts._registry is None"
        )
        subprocess.run([sys.executable, "-c", script], check=True)


class TestLoading:
    def write(self, folder, name, text):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def test_rows_know_their_file(self, tmp_path):
        self.write(tmp_path, "sources/a.toml", 'schema = 1\n[[source]]\nid = "s"\n')
        self.write(tmp_path, "facts/a.toml", 'schema = 1\n[[subject]]\nid = "x"\n[[fact]]\nid = "x.y"\nvalue = 1\n')
        self.write(tmp_path, "measurements/r.json", json.dumps({"id": "r", "results": {}}))
        found = load_registry(str(tmp_path))
        assert found.sources["s"].file == "sources/a.toml"
        assert found.facts["x.y"].file == "facts/a.toml"
        assert found.subjects["x"].kind == "subject"
        assert found.measurements["r"].file == "measurements/r.json"

    @pytest.mark.parametrize(
        ("name", "text", "words"),
        [
            ("facts/a.toml", "[[fact]\n", r"facts/a.toml: .*line 1"),
            ("facts/a.toml", '[[fact]]\nid = "x"\n[[fact]]\nid = "x"\n', "fact 'x' stands already in facts/a.toml"),
            ("facts/a.toml", "[[fact]]\nvalue = 1\n", "facts/a.toml: a fact has no id"),
            ("facts/a.toml", '[[fakt]]\nid = "x"\n', "facts/a.toml: unknown table 'fakt': use source"),
            ("facts/a.toml", '[fact]\nid = "x"\n', "facts/a.toml: unknown table 'fact'"),
            ("claims/a.toml", '[[claim]]\nid = ""\n', "claims/a.toml: a claim has no id"),
            ("sources.toml", "schema = 1\n", "sources.toml: move its rows into sources/<topic>.toml"),
            ("claims.toml", "schema = 1\n", "claims.toml: move its rows into claims/<topic>.toml"),
            ("measurements/r.json", "{", "measurements/r.json: "),
            ("measurements/r.json", "[]", "measurements/r.json: a run is one object"),
            ("measurements/r.json", "{}", "measurements/r.json: a measurement has no id"),
        ],
    )
    def test_a_broken_file_is_named(self, tmp_path, name, text, words):
        self.write(tmp_path, name, text)
        with pytest.raises(DataError, match=words):
            load_registry(str(tmp_path))

    def test_loaded_once(self):
        assert registry() is registry()

    def test_a_missing_key_reads_as_none(self):
        record = Record("fact", {"id": "x", "value": 1}, "a.toml")
        assert (record.value, record.note, record.text("note")) == (1, None, "")


def test_a_hint_shares_a_word():
    assert near("h200.memory", ["h200-sxm.memory_bytes", "gpt3.layers"]) == ": did you mean h200-sxm.memory_bytes?"
    assert near("zzz", ["gpt3.layers"]) == ""
