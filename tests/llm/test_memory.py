"""Bytes: figures worked out elsewhere, formulas' text evaluated, and dimensions carried through by pint."""

import pint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpumoat.llm.gpt import SYMBOLS, GPTShape, parameters
from gpumoat.llm.memory import (
    activation_bytes_per_layer,
    activation_terms,
    full_precision_terms,
    inference_terms,
    kv_cache_bytes,
    total_bytes,
    training_terms,
    weights_bytes,
)
from gpumoat.units import UnitError

steady = settings(deadline=None)  # a busy machine is no fault

GIB = 1_073_741_824
GPT3 = GPTShape(hidden=12_288, layers=96, heads=96, vocabulary=50_257, positions=2_048)
N = 174_604_259_328
counts = st.integers(1, 10**13)
dtypes = st.sampled_from(["fp64", "fp32", "fp16", "bf16", "fp8", "int8", "int4"])


def evaluate(formula, symbols=None):
    return eval(formula.replace("×", "*").replace(",", ""), dict(symbols or {}))


def test_weights_of_gpt3():
    assert weights_bytes(N, "fp32") == 698_417_037_312
    assert weights_bytes(N, "fp32") / GIB == pytest.approx(650.45, abs=0.005)
    assert weights_bytes(N, "fp16") == 349_208_518_656
    assert weights_bytes(N, "int4") == 87_302_129_664
    assert weights_bytes(N, 4.5 / 8) == 98_214_895_872


def test_kv_cache_of_one_full_sequence():
    assert kv_cache_bytes(GPT3, 2_048, dtype="fp32") == 18 * GIB
    assert kv_cache_bytes(GPT3, 2_048) == 9 * GIB
    assert kv_cache_bytes(GPT3, 1) == 4_718_592
    assert kv_cache_bytes(GPT3, 2_048, 32) == 288 * GIB
    assert kv_cache_bytes(GPT3, 0) == 0


def test_kv_cache_follows_the_heads_where_they_differ_from_hidden():
    wide = GPTShape(64, 2, 4, 10, 8, head_dim=24)
    assert kv_cache_bytes(wide, 8, dtype=1) == 2 * 2 * 96 * 8


def test_inference_of_gpt3():
    terms = inference_terms(GPT3, 2_048, dtype="fp32")
    assert [term.name for term in terms] == ["weights", "KV cache"]
    assert total_bytes(terms) == 698_417_037_312 + 18 * GIB
    mixed = inference_terms(GPT3, 2_048, 2, dtype="int4", cache_dtype="fp16")
    assert total_bytes(mixed) == 87_302_129_664 + 18 * GIB


def test_training_state_of_gpt3():
    """Both ways take 16 bytes a parameter, 2,601.8 GiB: four times the fp32 weights."""
    mixed, full = training_terms(N), full_precision_terms(N)
    assert [term.bytes_per_parameter for term in mixed] == [2, 2, 4, 4, 4]
    assert [term.bytes_per_parameter for term in full] == [4, 4, 4, 4]
    assert total_bytes(mixed) == total_bytes(full) == 16 * N == 2_793_668_149_248
    assert total_bytes(full) / GIB == pytest.approx(2601.8, abs=0.05)


def test_other_precisions():
    """Megatron with fp32 gradients: 18. torchtune all in bf16: 8."""
    assert sum(term.bytes_per_parameter for term in training_terms(1, gradients="fp32")) == 18
    assert sum(term.bytes_per_parameter for term in training_terms(1, "bf16", "bf16", "bf16", "bf16", None)) == 8


def test_activations_of_gpt3():
    """s·B·h·(34 + 5·a·s/h) with s = 2,048, B = 1: 34 + 80 = 114 times 24 MiB a layer."""
    assert activation_bytes_per_layer(GPT3, 2_048) == 2_048 * 12_288 * 114
    assert activation_bytes_per_layer(GPT3, 2_048, recompute="selective") == 2_048 * 12_288 * 34
    assert activation_bytes_per_layer(GPT3, 2_048, recompute="full") == 48 * 2**20
    assert total_bytes(activation_terms(GPT3, 2_048, recompute="full")) == 4.5 * GIB


@steady
@given(st.integers(1, 64), st.integers(1, 8), st.integers(1, 64), st.integers(1, 9))
def test_activations_are_the_sum_of_what_a_layer_saves(head_dim, heads, tokens, sequences):
    """Tensor by tensor: 16-bit values two bytes, dropout masks one."""
    h = head_dim * heads
    shape = GPTShape(h, 1, heads, 10, 64)
    row, scores = tokens * sequences * h, heads * tokens * tokens * sequences
    attention = 2 * row + 4 * row + 2 * row + 2 * row + row  # input, Q and K, V, input of the output map, mask
    core = 2 * scores + scores + 2 * scores  # softmax, its mask, what dropout gives
    feed_forward = 2 * row + 8 * row + 8 * row + row  # input, of GELU, of the second matrix, mask
    norms = 2 * row + 2 * row
    total = attention + core + feed_forward + norms
    assert activation_bytes_per_layer(shape, tokens, sequences) == total
    assert activation_bytes_per_layer(shape, tokens, sequences, "selective") == total - core


def test_activation_formula_refuses_layers_that_it_does_not_cover():
    with pytest.raises(ValueError, match=r"feed_forward must be 4 \* hidden for this formula, not 100"):
        activation_bytes_per_layer(GPTShape(64, 2, 4, 10, 8, feed_forward=100), 8)
    with pytest.raises(ValueError, match="head_dim must be hidden / heads for this formula, not 24"):
        activation_bytes_per_layer(GPTShape(64, 2, 4, 10, 8, head_dim=24), 8)
    with pytest.raises(ValueError, match='recompute must be "none", "selective" or "full", not \'some\''):
        activation_terms(GPT3, 8, recompute="some")


@steady
@given(counts, dtypes, dtypes, dtypes, dtypes, st.none() | dtypes)
def test_training_terms_are_parameters_times_bytes(count, weights, gradients, momentum, variance, master):
    terms = training_terms(count, weights, gradients, momentum, variance, master)
    assert total_bytes(terms) == sum(term.bytes_per_parameter for term in terms) * count
    for term in terms:
        assert term.size_bytes == weights_bytes(count, term.bytes_per_parameter)
        assert evaluate(term.formula, {"N": count, "b": term.bytes_per_parameter}) == term.size_bytes
        assert evaluate(term.numbers) == term.size_bytes
        assert term.source


@steady
@given(st.integers(0, 2_048), st.integers(0, 1_000), dtypes, st.sampled_from(["none", "selective", "full"]))
def test_formulas_say_what_the_code_does(tokens, sequences, dtype, recompute):
    terms = inference_terms(GPT3, tokens, sequences, dtype) + activation_terms(GPT3, tokens, sequences, recompute)
    width = weights_bytes(1, dtype)
    sizes = {letter: getattr(GPT3, size) for letter, size in SYMBOLS.items()}
    symbols = sizes | {"N": parameters(GPT3), "s": tokens, "B": sequences, "b": width}
    for term in terms:
        assert evaluate(term.formula, symbols) == term.size_bytes
        assert evaluate(term.numbers) == term.size_bytes


def test_whole_numbers_stay_whole():
    for term in training_terms(N) + inference_terms(GPT3, 7) + activation_terms(GPT3, 7):
        assert isinstance(term.size_bytes, int)


def test_dimensions_hold():
    """A quantity passes through: bytes a parameter times parameters are bytes, and nothing else."""
    units = pint.UnitRegistry()
    units.define("parameter = [parameter]")
    each = 4 * units.byte / units.parameter
    assert weights_bytes(N * units.parameter, each).to("byte").magnitude == 698_417_037_312
    assert total_bytes(training_terms(N * units.parameter, each, each, each, each, each)).check("[]")
    assert kv_cache_bytes(GPT3, 2_048, dtype=4 * units.byte).to("GiB").magnitude == pytest.approx(18)
    cache = inference_terms(GPT3, 2_048, dtype=4 * units.byte)
    assert total_bytes(cache).units == units.byte
    assert not weights_bytes(N, each).is_compatible_with(units.byte)  # the planted fault: a count without its unit


@pytest.mark.parametrize(
    ("tokens", "sequences", "message"),
    [
        (2_049, 1, "tokens must be from 0 to 2048, the model's positions, not 2049"),
        (-1, 1, "tokens must be from 0 to 2048"),
        (1, -1, "sequences must be at least 0, not -1"),
    ],
)
def test_wrong_batch_is_named(tokens, sequences, message):
    for function in (kv_cache_bytes, inference_terms, activation_bytes_per_layer, activation_terms):
        with pytest.raises(ValueError, match=message):
            function(GPT3, tokens, sequences)


def test_unknown_data_type():
    with pytest.raises(UnitError, match="fp15"):
        weights_bytes(1, "fp15")
    with pytest.raises(UnitError, match="fp15"):
        training_terms(1, master="fp15")
