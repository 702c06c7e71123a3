"""The report: its sum to the byte, its inverse questions, and what it refuses."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpumoat.llm import report as rp
from gpumoat.llm.fields import ConfigError
from gpumoat.llm.load import load
from gpumoat.llm.serving import engine
from gpumoat.llm.terms import total

steady = settings(deadline=None, max_examples=40)
ids = st.sampled_from(["llama-3.1-8b", "mixtral-8x7b", "gemma-3-12b", "qwen3-next-80b-a3b", "deepseek-v2-lite", "gpt2"])
engines = st.sampled_from(["vllm", "vllm-0.6", "vllm-0.11", "transformers", "llama.cpp"])
GIB = 2**30


@steady
@given(ids, engines, st.integers(1, 100_000), st.integers(1, 300))
def test_terms_sum_to_the_total_to_the_byte_and_are_evaluable(id, of, context, batch):
    found = rp.report(load(id), rp.Question(engine=of, context=context, batch=batch))
    groups = ("weights", "kv", "state", "activations", "overhead")
    assert total(found.terms) == found.total_bytes == sum(found.group_bytes(group) for group in groups)
    assert found.low_bytes <= found.total_bytes <= found.high_bytes
    for term in found.terms:
        assert eval(term.numbers.replace("×", "*").replace(",", "")) == term.size_bytes, term.name
        assert term.source
        assert term.formula


@steady
@given(ids, engines, st.integers(1, 50_000), st.integers(1, 100))
def test_bytes_never_fall_when_context_or_batch_grow(id, of, context, batch):
    made, here = load(id), rp.Question(engine=of, context=context, batch=batch)
    size = rp.report(made, here).total_bytes
    assert size <= rp.report(made, rp.with_values(here, context=context + 1)).total_bytes
    assert size <= rp.report(made, rp.with_values(here, batch=batch + 1)).total_bytes


def test_the_fullest_stage_is_reported():
    made = load("llama-3.1-8b")
    sizes = [
        rp._stage(made, rp.Question(pipeline=4), engine("vllm"), rp.quantization_of(made, ""), n) for n in range(4)
    ]
    assert rp.report(made, rp.Question(pipeline=4)).total_bytes == max(one.total_bytes for one in sizes)


def test_inverse_questions_are_at_the_edge():
    made, card = load("llama-3.1-70b"), 79 * GIB
    here = rp.Question(tensor=4)
    context = rp.largest_context(made, here, card)
    assert rp.fits("vllm", rp.report(made, rp.with_values(here, context=context)), card)
    assert context == made.positions or not rp.fits(
        "vllm", rp.report(made, rp.with_values(here, context=context + 1)), card
    )
    batch = rp.largest_batch(made, here, card)
    assert rp.fits("vllm", rp.report(made, rp.with_values(here, batch=batch)), card)
    assert not rp.fits("vllm", rp.report(made, rp.with_values(here, batch=batch + 1)), card)
    assert rp.fewest_cards(made, rp.Question(), card) == 4 or rp.fewest_cards(made, rp.Question(), card) == 2
    assert rp.largest_batch(made, rp.Question(), card) == 0


@pytest.mark.parametrize("edge", [0, 1, 2, 3, 7, 8, 9, 100])
def test_bisection(edge):
    assert rp.largest(lambda size: size <= edge, 50) == min(edge, 50)


def test_quantised_never_above_bf16_and_cache_never_that_of_the_weights():
    made = load("llama-3.1-8b")
    plain = rp.report(made, rp.Question())
    for quant in ("fp8", "int8", "nf4", "awq-int4", "Q4_K_M"):
        found = rp.report(made, rp.Question(quant=quant))
        assert found.group_bytes("weights") < plain.group_bytes("weights")
        assert found.group_bytes("kv") == plain.group_bytes("kv")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (rp.Question(context=0), "context must be a whole number"),
        (rp.Question(batch=-1), "batch must be"),
        (rp.Question(tensor=3), "tp must divide"),
        (rp.Question(engine="ollama"), "engine must be"),
        (rp.Question(quant="int3"), "quant must be one of"),
        (rp.Question(kv_dtype="fp3"), "kv-dtype must be one of"),
        (rp.Question(dtype="fp3"), "dtype must be one of"),
        (rp.Question(pipeline=99), "pp must be from 1 to the 32 layers"),
    ],
)
def test_what_makes_no_sense_is_one_line(asked, words):
    with pytest.raises(ConfigError, match=words):
        rp.report(load("llama-3.1-8b"), asked)


def test_a_term_that_is_left_out_of_the_sum_is_seen():
    """A planted fault: without one of its terms a report no longer sums to its total."""
    found = rp.report(load("llama-3.1-8b"), rp.Question())
    assert total(found.terms[1:]) != found.total_bytes
