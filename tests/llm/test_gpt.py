"""Parameters: against checkpoints and the papers' tables, part by part, and by evaluating the formulas' text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpumoat.llm.gpt import (
    SYMBOLS,
    GPTShape,
    attention_parameters,
    embedding_parameters,
    feed_forward_parameters,
    head_parameters,
    layer_parameters,
    norm_parameters,
    parameters,
    parameters_by_part,
)

steady = settings(deadline=None)  # a busy machine is no fault

GPT3 = GPTShape(hidden=12_288, layers=96, heads=96, vocabulary=50_257, positions=2_048)

# Parameters in the public checkpoints of GPT-2, causal mask buffers not counted.
CHECKPOINTS = [
    (768, 12, 12, 124_439_808),
    (1_024, 24, 16, 354_823_168),
    (1_280, 36, 20, 774_030_080),
    (1_600, 48, 25, 1_557_611_200),
]

# Brown et al. 2020, table 2.1: d_model, layers, heads, parameters. The paper's counts are rounded, 350 M from
# 355.9 M, hence 2 %. Its row "XL" prints 24 heads of 128, which are 3,072 and not 2,048: see below. Its row
# "13B" prints d_model 5,140, and its 40 heads of 128 are 5,120.
TABLE = [
    (768, 12, 12, 125e6),
    (1_024, 24, 16, 350e6),
    (1_536, 24, 16, 760e6),
    (2_048, 24, 16, 1.3e9),
    (2_560, 32, 32, 2.7e9),
    (4_096, 32, 32, 6.7e9),
    (5_120, 40, 40, 13.0e9),
    (12_288, 96, 96, 175.0e9),
]

shapes = st.builds(
    GPTShape,
    hidden=st.integers(1, 5_000),
    layers=st.integers(1, 100),
    heads=st.integers(1, 50),
    vocabulary=st.integers(1, 100_000),
    positions=st.integers(1, 5_000),
    feed_forward=st.integers(0, 20_000),
    head_dim=st.integers(1, 200),
    biases=st.booleans(),
    tied_head=st.booleans(),
)


def evaluate(formula, symbols=None):
    return eval(formula.replace("×", "*").replace(",", ""), dict(symbols or {}))


@pytest.mark.parametrize(("hidden", "layers", "heads", "total"), CHECKPOINTS)
def test_public_checkpoints(hidden, layers, heads, total):
    assert parameters(GPTShape(hidden, layers, heads, 50_257, 1_024)) == total


@pytest.mark.parametrize(("hidden", "layers", "heads", "total"), TABLE)
def test_table_of_the_gpt3_paper(hidden, layers, heads, total):
    assert parameters(GPTShape(hidden, layers, heads, 50_257, 2_048)) == pytest.approx(total, rel=0.02)


def test_printed_heads_of_xl_do_not_give_its_count():
    """What the table prints for XL makes 1.5 billion; the 1.3 billion that it states need 16 heads of 128."""
    printed = GPTShape(2_048, 24, 24, 50_257, 2_048, head_dim=128)
    assert parameters(printed) == pytest.approx(1.52e9, rel=0.01)


def test_gpt3_to_the_last_parameter_and_to_the_papers_millions():
    assert parameters(GPT3) == 174_604_259_328
    assert round(parameters(GPT3) / 10**8) * 100 == 174_600


def test_gpt3_layer():
    hidden = 12_288
    assert attention_parameters(GPT3) == 4 * 12_289 * 12_288 == 604_028_928
    assert attention_parameters(GPT3.without_biases()) == 603_979_776
    assert feed_forward_parameters(GPT3) == 8 * hidden**2 + 5 * hidden
    assert layer_parameters(GPT3) == 12 * hidden**2 + 13 * hidden == 1_812_099_072
    assert layer_parameters(GPT3.without_biases()) == 12 * hidden**2 + 2 * hidden
    assert norm_parameters(GPT3) == 24_576
    assert embedding_parameters(GPT3) == 617_558_016 + 25_165_824
    assert head_parameters(GPT3) == 0


def test_untied_head_adds_one_matrix():
    untied = GPTShape(12_288, 96, 96, 50_257, 2_048, tied_head=False)
    assert parameters(untied) - parameters(GPT3) == head_parameters(untied) == 50_257 * 12_288
    assert [part.name for part in parameters_by_part(untied)][-1] == "head"


@steady
@given(shapes)
def test_parts_add_up_to_the_total(shape):
    parts = parameters_by_part(shape)
    assert sum(part.parameters for part in parts) == parameters(shape)
    assert all(part.parameters > 0 for part in parts)
    assert len({part.name for part in parts}) == len(parts)


@steady
@given(shapes)
def test_formulas_say_what_the_code_does(shape):
    for part in parameters_by_part(shape):
        assert (
            evaluate(part.formula, {letter: getattr(shape, size) for letter, size in SYMBOLS.items()})
            == part.parameters
        )
        assert evaluate(part.numbers) == part.parameters


@steady
@given(shapes)
def test_biases_only_add(shape):
    bare = shape.without_biases()
    assert not bare.biases
    assert parameters(bare) <= parameters(shape)
    assert bare == bare.without_biases()


def test_parts_of_gpt3_in_numbers():
    part = parameters_by_part(GPT3)[2]
    assert part.name == "attention"
    assert part.formula == "L × (4 × h × a × d + 3 × a × d + h)"
    assert part.numbers == "96 × (4 × 12,288 × 96 × 128 + 3 × 96 × 128 + 12,288)"


def test_usual_sizes_are_filled_in():
    assert (GPT3.feed_forward, GPT3.head_dim) == (49_152, 128)
    other = GPTShape(100, 1, 3, 10, 10, feed_forward=7, head_dim=11)
    assert (other.feed_forward, other.head_dim) == (7, 11)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hidden": 0}, "hidden must be a whole number of at least 1, not 0"),
        ({"layers": -1}, "layers must be a whole number of at least 1, not -1"),
        ({"layers": 96.0}, "layers must be a whole number of at least 1, not 96.0"),
        ({"heads": 0}, "heads must be a whole number of at least 1, not 0"),
        ({"vocabulary": "50257"}, "vocabulary must be a whole number of at least 1, not '50257'"),
        ({"positions": None}, "positions must be a whole number of at least 1, not None"),
        ({"feed_forward": -1}, "feed_forward must be a whole number of at least 0, not -1"),
        ({"head_dim": -1}, "head_dim must be a whole number of at least 0, not -1"),
        ({"heads": 100}, "heads must divide hidden, and 100 does not divide 12288: give head_dim"),
    ],
)
def test_wrong_shape_is_named(change, message):
    fields = {"hidden": 12_288, "layers": 96, "heads": 96, "vocabulary": 50_257, "positions": 2_048} | change
    with pytest.raises(ValueError, match=message) as error:
        GPTShape(**fields)
    assert "\n" not in str(error.value)
