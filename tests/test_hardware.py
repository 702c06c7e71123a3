"""The catalogue: a field is a fact of its own, read when it is asked for and not before."""

import pytest

from gpumoat import facts
from gpumoat.facts import DataError, Registry, recording
from gpumoat.hardware import Subject, gpu, model


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """A card with a cited and a measured field, and a model."""
    found = Registry()
    row = {"id": "card-one", "kind": "gpu", "name": "Card One", "measured": {"free_bytes": "run.free_bytes"}}
    found.add("subjects", row, "t")
    found.add("subjects", {"id": "net", "kind": "model", "name": "Net"}, "t")
    found.add("facts", {"id": "card-one.memory_bytes", "value": 80, "unit": "GiB"}, "t")
    found.add("facts", {"id": "card-one.price_usd", "value": 3, "unit": "USD"}, "t")
    found.add("facts", {"id": "card-one.form_factor", "value": "SXM5 module", "unit": ""}, "t")
    found.add("facts", {"id": "net.layers", "value": 96, "unit": ""}, "t")
    found.add("measurements", {"id": "run", "results": {"free_bytes": {"value": 79, "unit": "GiB"}}}, "t")
    monkeypatch.setattr(facts, "_registry", found)


def test_asking_for_a_thing_reads_nothing():
    with recording() as reads:
        card = gpu("card-one")
        assert (card.id, card.name, repr(card)) == ("card-one", "Card One", "Subject('card-one')")
    assert reads == []


def test_a_field_is_read_each_time_and_alone():
    card = gpu("card-one")
    with recording() as reads:
        assert card.memory_bytes == 80 * 2**30
        assert card.memory_bytes == 80 * 2**30
    assert [read.id for read in reads] == ["card-one.memory_bytes"] * 2


def test_a_field_of_text_is_a_cited_read_too():
    with recording() as reads:
        assert gpu("card-one").form_factor == "SXM5 module"
    assert [(read.kind, read.id, read.value) for read in reads] == [("cited", "card-one.form_factor", "SXM5 module")]


def test_a_measured_field_comes_from_its_run():
    with recording() as reads:
        assert gpu("card-one").free_bytes == 79 * 2**30
    assert [(read.kind, read.id) for read in reads] == [("measured", "run.free_bytes")]


def test_an_unknown_field_says_what_there_is():
    with pytest.raises(
        AttributeError, match=r"card-one has no 'memory_gib' in the catalogue: it has form_factor, memory"
    ):
        gpu("card-one").memory_gib


def test_private_names_are_no_fields():
    assert not hasattr(gpu("card-one"), "_repr_html_")


def test_a_field_cannot_be_set():
    with pytest.raises(AttributeError):
        gpu("card-one").memory_bytes = 3


@pytest.mark.parametrize(
    ("door", "id", "words"),
    [
        (gpu, "card-two", "no gpu 'card-two': did you mean card-one"),
        (gpu, "zzz", "no gpu 'zzz': the catalogue has card-one"),
        (gpu, "net", "no gpu 'net'"),
        (model, "card-one", "no model 'card-one'"),
    ],
)
def test_an_unknown_thing_says_what_there_is(door, id, words):
    with pytest.raises(DataError, match=words):
        door(id)


def test_kinds_are_kept_apart():
    assert isinstance(model("net"), Subject)
    assert model("net").layers == 96
