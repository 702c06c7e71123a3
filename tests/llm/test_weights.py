"""Weights as loaded: rounding, ranks, formats; each rule with a planted fault or a property."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpumoat.llm.counts import total_parameters
from gpumoat.llm.fields import ConfigError
from gpumoat.llm.load import load
from gpumoat.llm.quantization import (
    FORMATS,
    GGML_BLOCKS,
    MIXES,
    Keeper,
    ggml_bytes,
    matrix_bytes,
    named,
    read_quantization,
)
from gpumoat.llm.terms import total
from gpumoat.llm.weights import Plan, allocated_bytes, stage_layers, stored_bytes, weight_bytes, weight_terms

steady = settings(deadline=None, max_examples=40)
MIB = 2**20
PLAIN = Plan(fused=False, tables=False, vocabulary_multiple=1, rounded=False)
BF16 = named("none")


@pytest.mark.parametrize(
    ("request_bytes", "allocated"),
    [
        (1, 512),
        (512, 512),
        (513, 1024),
        (9 * MIB + 512, 9 * MIB + 512),
        (259 * MIB, 260 * MIB),
        (129 * MIB + MIB // 2, 130 * MIB),
        (24 * MIB + MIB // 2, 24 * MIB + MIB // 2),
        (31 * MIB + MIB // 2, 32 * MIB),
    ],
)
def test_what_the_allocator_counts(request_bytes, allocated):
    assert allocated_bytes(request_bytes) == allocated


@steady
@given(st.integers(1, 10**11))
def test_rounding_adds_at_most_a_tail(size):
    assert 0 <= allocated_bytes(size) - size <= MIB + 511


def test_rounding_of_qwen25_is_2_mib_a_layer_and_half_for_each_end():
    made = load("qwen2.5-7b")
    rounded = weight_bytes(made, Plan(tables=False), "bf16", BF16)
    assert rounded - 2 * total_parameters(made) == pytest.approx((28 * 2 + 1) * MIB, abs=0.1 * MIB)


@pytest.mark.parametrize(
    ("layers", "stages", "shares"),
    [(32, 4, [8, 8, 8, 8]), (61, 4, [15, 15, 16, 15]), (6, 4, [1, 2, 2, 1]), (5, 1, [5])],
)
def test_layers_of_stages(layers, stages, shares):
    assert stage_layers(layers, stages) == shares


@pytest.mark.parametrize("id", ["llama-3.1-8b", "mixtral-8x7b", "qwen2.5-7b", "gemma-2-9b"])
@pytest.mark.parametrize("ranks", [2, 4])
def test_ranks_sum_to_the_whole_but_for_what_each_holds_whole(id, ranks):
    made = load(id)
    whole = stored_bytes(made, "bf16", BF16)
    plan = Plan(ranks, fused=False, tables=False, vocabulary_multiple=1, rounded=False)
    parts = ranks * weight_bytes(made, plan, "bf16", BF16)
    repeated = [
        one.size_bytes
        for one in weight_terms(made, PLAIN, "bf16", BF16)
        if one.name in ("weights, norms", "weights, router")
    ]
    biases = sum(t.parameters for layer in made.layers for t in layer.tensors if t.module.endswith("o_proj.bias"))
    assert parts == whole + (ranks - 1) * (sum(repeated) + 2 * biases)


def test_stages_sum_to_the_whole_and_a_tied_head_stands_twice():
    for id, twice in (("llama-3.1-8b", 0), ("gemma-2-9b", 256_000 * 3584 * 2)):
        made = load(id)
        plans = [Plan(1, 3, 1, stage, False, False, 1, rounded=False) for stage in range(3)]
        found = sum(weight_bytes(made, plan, "bf16", BF16) for plan in plans)
        assert found == stored_bytes(made, "bf16", BF16) + twice


def test_kv_heads_are_repeated_where_ranks_outnumber_them():
    made = load("gemma-2-2b")  # 8 heads, 4 KV heads
    keys = [sum(one.parameters for one in layer.mixer.tensors if "k_proj" in one.module) for layer in made.layers]
    plans = [Plan(ranks, fused=False, tables=False, vocabulary_multiple=1, rounded=False) for ranks in (4, 8)]
    of_eight, of_four = (
        ranks * weight_bytes(made, plan, "bf16", BF16) for ranks, plan in zip((8, 4), plans[::-1], strict=True)
    )
    norms = next(one.size_bytes for one in weight_terms(made, PLAIN, "bf16", BF16) if one.name == "weights, norms")
    assert of_eight - of_four == 4 * norms + 2 * 2 * sum(keys), "keys and values once more"


def test_ranks_that_cannot_share_the_heads():
    with pytest.raises(ConfigError, match="tp must divide the 32 heads"):
        weight_bytes(load("llama-3.1-8b"), Plan(3), "bf16", BF16)
    with pytest.raises(ConfigError, match="pp must be from 1 to the 32 layers"):
        weight_bytes(load("llama-3.1-8b"), Plan(1, 33), "bf16", BF16)


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        ("gptq-int4", 4 + 20 / 128),
        ("awq-int4", 4 + 20 / 128),
        ("nf4", 4.5),
        ("nf4-double", 4 + 8 / 64 + 32 / 64 / 256),
        ("mxfp4", 4.25),
        ("nvfp4", 4.5),
        ("fp8-block", 8 + 32 / 16384),
        ("int8", 8 + 32 / 4096),
    ],
)
def test_bits_of_a_weight(name, bits):
    values, scales = matrix_bytes(FORMATS[name], 4096, 4096)
    assert 8 * (values + scales) / 4096**2 == pytest.approx(bits, rel=1e-4)


@steady
@given(st.sampled_from(sorted(FORMATS)), st.sampled_from(["llama-3.1-8b", "deepseek-v3", "gpt-oss-20b", "gemma-3-4b"]))
def test_quantised_is_never_above_16_bits(name, id):
    made = load(id)
    assert stored_bytes(made, "bf16", named(name)) <= stored_bytes(made, "bf16", BF16)


def test_modules_that_stay():
    keeper = Keeper(("lm_head", "model.layers.0.mlp", "model.layers.*.self_attn", "re:.*shared_expert.*"))
    assert keeper.keeps("mlp.down_proj", 0)
    assert not keeper.keeps("mlp.down_proj", 10)
    assert keeper.keeps("self_attn.q_proj", 5)
    assert keeper.keeps("mlp.shared_experts.up_proj", 5)
    assert keeper.keeps("lm_head", -1)
    assert not Keeper(("model.layers.1",)).keeps("mlp.up_proj", 11), "1 is not the start of 11"
    assert Keeper(("model.language_model.layers.3.mlp",)).keeps("mlp.up_proj", 3)


def test_a_head_in_16_bits_is_seen():
    made = load("llama-3.1-8b")
    kept = named("fp8")
    all_of_it = type(kept)(kept.format, head=True)
    difference = stored_bytes(made, "bf16", kept) - stored_bytes(made, "bf16", all_of_it)
    assert difference == 128_256 * 4096 - 128_256 * 4, "a byte a weight, less a scale a row"


@pytest.mark.parametrize(
    ("said", "name", "bits"),
    [
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8-block", 8),
        ({"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": True}, "int4", 4),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_use_double_quant": True}, "nf4-double", 4),
        ({"load_in_8bit": True}, "int8", 8),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "nvfp4", 4),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"g": {"weights": {"num_bits": 4, "strategy": "group", "group_size": 128}}},
            },
            "int4",
            4,
        ),
        ({"quant_method": "strange", "bits": 3}, "int3", 3),
    ],
)
def test_what_files_say_of_quantisation(said, name, bits):
    found = read_quantization(said).format
    assert (found.name, found.bits) == (name, bits)


@pytest.mark.parametrize(
    "said",
    [{"quant_method": "strange"}, {"quant_method": "compressed-tensors"}, {"quant_method": "fp8", "ignore": [5]}],
)
def test_what_is_wrong_with_quantisation(said):
    with pytest.raises(ConfigError, match="quantization_config"):
        read_quantization(said)


# Sizes of bartowski's files of a Llama 3.1 70B in GB, as listed at ozeki.chat/p_8590-understanding-ai-model-files.html.
# The tokenizer is in them too. They were made with an importance matrix, which widens a few tensors of Q4_0.
FILES = {
    "Q8_0": 74.98,
    "Q6_K": 57.89,
    "Q5_K_M": 49.95,
    "Q5_K_S": 48.66,
    "Q4_K_M": 42.52,
    "Q4_K_S": 40.35,
    "Q4_0": 40.12,
    "Q3_K_L": 37.14,
    "Q3_K_M": 34.27,
    "Q3_K_S": 30.91,
}


@pytest.mark.parametrize("mix", sorted(FILES))
def test_mixes_of_llama_cpp(mix):
    found = stored_bytes(load("llama-3.1-70b"), "fp16", named(mix.lower())) / 1e9
    assert found == pytest.approx(FILES[mix], rel=0.005 if mix == "Q4_0" else 0.0005)


def test_each_mix_has_types_with_known_blocks():
    for mix in MIXES:
        assert stored_bytes(load("mixtral-8x7b"), "fp16", named(mix)) > 0
    assert ggml_bytes("Q4_K", 256) == 144
    assert ggml_bytes("Q4_K", 257) == 288
    assert GGML_BLOCKS["MXFP4"] == (32, 17)


@steady
@given(st.sampled_from(["llama-3.1-8b", "qwen3-30b-a3b", "jamba-v0.1"]), st.sampled_from([1, 2, 4]))
def test_terms_are_evaluable_and_sum_to_the_total(id, ranks):
    terms = weight_terms(load(id), Plan(ranks), "bf16", BF16)
    assert total(terms) == weight_bytes(load(id), Plan(ranks), "bf16", BF16)
    for term in terms:
        assert eval(term.numbers.replace("×", "*").replace(",", "")) == term.size_bytes, term.name
