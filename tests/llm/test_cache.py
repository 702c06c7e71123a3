"""KV cache and state: figures of logs and papers are in the cases; here are the rules, as properties."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpumoat.llm.cache import (
    CacheRules,
    bytes_per_token,
    cache_bytes,
    page_tokens,
    pool_tokens,
    state_bytes_per_sequence,
    token_values,
    values_bytes,
)
from gpumoat.llm.fields import ConfigError
from gpumoat.llm.load import load

steady = settings(deadline=None, max_examples=60)
IDS = ["llama-3.1-8b", "gemma-3-27b", "deepseek-v3", "qwen3-next-80b-a3b", "jamba-v0.1", "gpt-oss-120b", "gemma-4-e4b"]
ENGINES = ["vllm", "llama.cpp", "transformers"]


@steady
@given(st.sampled_from(IDS), st.sampled_from(ENGINES), st.integers(1, 200_000), st.integers(1, 64))
def test_bytes_grow_with_context_and_batch(id, engine, context, sequences):
    made, rules = load(id), CacheRules(engine=engine)
    size = cache_bytes(made, rules, context, sequences)
    assert size <= cache_bytes(made, rules, context + 1, sequences)
    assert size <= cache_bytes(made, rules, context, sequences + 1)


@steady
@given(st.sampled_from(IDS), st.integers(1, 100_000))
def test_blocks_are_whole_and_never_below_what_the_tokens_take(id, context):
    made, rules = load(id), CacheRules()
    page = page_tokens(made, rules)
    assert page % 16 == 0
    windows = any(mixer.window for layer in made.layers for mixer in layer.mixers)
    size = cache_bytes(made, rules, context)
    if not windows:
        assert size == -(-context // page) * page * bytes_per_token(made)


@pytest.mark.parametrize(
    ("values", "dtype", "size"), [(64, "bf16", 128), (64, "fp8", 64), (64, "q8_0", 68), (64, "q4_0", 36)]
)
def test_types_of_a_cache(values, dtype, size):
    assert values_bytes(values, dtype) == size
    with pytest.raises(ConfigError, match="kv-dtype must be one of"):
        values_bytes(values, "fp3")


def test_a_latent_vector_is_whole_on_every_rank_and_a_kv_head_is_never_cut():
    deepseek, llama = load("deepseek-v3").layers[5].mixer, load("llama-3.1-8b").layers[0].mixer
    assert token_values(deepseek, 8) == token_values(deepseek, 1) == 576
    assert token_values(deepseek, 1, latent=False) == 128 * (128 + 64 + 128), (
        "an engine that does not know it: 71 times"
    )
    assert [token_values(llama, ranks) for ranks in (1, 8, 16)] == [2048, 256, 256]


def test_layers_that_read_an_earlier_cache_keep_none():
    made = load("gemma-4-e4b")
    owners = [layer for layer in made.layers if layer.mixer.owns_cache]
    assert len(owners) == 24
    assert bytes_per_token(made) == 2 * sum(token_values(layer.mixer) for layer in owners)


def test_a_state_does_not_grow():
    made = load("mamba2-2.7b")
    assert bytes_per_token(made) == 0
    assert state_bytes_per_sequence(made, CacheRules()) > 0
    with pytest.raises(ConfigError, match="keeps no cache"):
        pool_tokens(made, CacheRules(), 10**9)


def test_the_weights_do_not_decide_the_type_of_the_cache():
    assert bytes_per_token(load("minimax-m2")) == 253_952, "16 bits, though the weights are fp8"


def test_a_pool_in_tokens():
    # vLLM's log of Llama 3.1 8B prints 58.11 GiB and 476,016 tokens; the pool is printed to two places
    assert pool_tokens(load("llama-3.1-8b"), CacheRules(), int(58.11 * 2**30)) == pytest.approx(476_016, rel=1e-4)
