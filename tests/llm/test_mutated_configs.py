"""Whatever a config holds, the reader gives a result or one clear line: no traceback, no hang, no negative number."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpumoat.llm.configs import config_entry, config_ids
from gpumoat.llm.counts import active_parameters, extra_parameters, total_parameters
from gpumoat.llm.fields import ConfigError
from gpumoat.llm.load import read_config
from gpumoat.llm.report import Question, report

MUTATIONS = 10_000
CONFIGS = [config_entry(id)["config"] for id in config_ids()]
BAD = [None, -1, 0, 1, 2.5, 10**30, -(10**30), float("nan"), float("inf"), "", "x", "12", True, False, [], {}, [None]]
BAD += [[1, 2, 3], {"a": 1}, [[[]]], 1e300, 2**31, 3, 7, "full_attention", ["full_attention"], {"text_config": {}}]


def places(value, path=()):
    """Every place of a config, as the keys that lead there."""
    found = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found.append((*path, key))
        found += places(inner, (*path, key))
    return found


def mutate(config, chance):
    """A copy with one to four fields dropped, replaced, moved into another object or given to another."""
    copy = json.loads(json.dumps(config))
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        there = places(copy)
        if not there:
            return copy
        path = chance.choice(there)
        holder = copy
        for key in path[:-1]:
            holder = holder[key]
        kind = chance.randrange(5)
        if kind == 0:
            del holder[path[-1]]
        elif kind == 1:
            holder[path[-1]] = chance.choice(BAD)
        elif kind == 2:
            holder[path[-1]] = {"nested": holder[path[-1]]}
        elif kind == 3:
            copy[str(path[-1])] = chance.choice(BAD)
        elif isinstance(holder[path[-1]], int):
            holder[path[-1]] = holder[path[-1]] * chance.choice((-1, 3, 10**6, 10**12)) + chance.choice((0, 1))
    return copy


def outcome(config, whole=True):
    """What the reader makes of a config: bytes, or one line; anything else is a fault."""
    try:
        model = read_config(config)
        numbers = [total_parameters(model), active_parameters(model), extra_parameters(model), model.positions]
        terms = report(model, Question(context=128)).terms if whole else ()
    except ConfigError as error:
        text = str(error)
        assert text, "an error without a word"
        assert "\n" not in text
        assert len(text) < 400
        return text
    assert all(isinstance(number, int) and number >= 0 for number in numbers), numbers
    assert numbers[1] <= numbers[0]
    assert all(0 <= term.low <= term.size_bytes <= term.high for term in terms)
    return numbers[0]


def test_ten_thousand_mutated_configs():
    chance = random.Random(5)
    # The bytes follow from the tensors: each tenth is reported whole, which keeps the test short.
    results = [outcome(mutate(chance.choice(CONFIGS), chance), turn % 10 == 0) for turn in range(MUTATIONS)]
    lines = [result for result in results if isinstance(result, str)]
    assert 0.1 * MUTATIONS < len(lines) < 0.9 * MUTATIONS, "mutations that always or never matter test nothing"


@pytest.mark.parametrize("config", [None, [], "config", 5, {}, {"model_type": 5}, {"model_type": "llama", "n": {}}])
def test_what_is_no_config_is_refused_in_one_line_or_read_by_the_defaults_of_its_class(config):
    assert outcome(config)


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
names = st.sampled_from(sorted({str(path[-1]) for config in CONFIGS for path in places(config)}))


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(CONFIGS), st.dictionaries(names, values, min_size=1, max_size=4))
def test_any_value_in_any_field(config, changes):
    assert outcome({**config, **changes}) is not None


def test_a_reader_that_lets_a_negative_size_through_is_seen(monkeypatch):
    monkeypatch.setattr("gpumoat.llm.fields.Fields.check", lambda self, name, value, least=1, most=0: value)
    config = {**config_entry("llama-3.1-8b")["config"], "intermediate_size": -14336, "num_hidden_layers": 900}
    with pytest.raises((AssertionError, TypeError, ValueError)):
        assert not isinstance(outcome(config), int)
