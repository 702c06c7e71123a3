"""What a model's class does and its config does not say: biases, norms, tied heads, gates.

A published config holds sizes. Whether queries have a bias (Qwen2: yes, and no field says so) or how many norms a
layer has (Gemma 2: four) is written in the model's class. This table holds it, one line a family.

A switch is ``""`` for no, ``"yes"``, the name of a field, or the name of a field with ``=yes`` where the class takes
yes when the file is silent.

Promises: counts that equal the classes of the transformers library, compared for each family. Left out: families
that are not in the table; `UNKNOWN` is assumed for them, with a warning.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Traits:
    """What a family has.

    Attributes:
        norm: ``rms`` (one gain a value), ``layer`` (gain and bias) or ``none`` (nothing learned).
        norms: Norms of a layer.
        qkv_bias: Switch: biases of queries, keys and values.
        out_bias: Switch: bias of attention's output.
        mlp_bias: Switch: biases of the feed-forward block.
        qk_norm: Norm of queries and keys: ``head``, ``all``, none, or ``field:head``.
        gated: Whether the feed-forward block has a third matrix.
        tied: Whether the head is the embedding where the file is silent.
        learned: How many rows a table of learned positions has more than positions; -1 for no table.
        head_bias: Switch: bias of the head.
        embedding_norm: Whether the embedding is normed.
        final_norm: Whether there is a norm after the last layer.
        router_bias: Switch: a value more for each expert in the router.
        expert_bias: Whether experts have biases.
        sinks: Whether each head has a learned sink.
        shared: What every token uses beside the experts: a field that counts or measures it.
        shared_gate: Whether that is gated.
        query_gate: Switch: the query matrix also makes a gate for the output.
        window: How windows are said: ``""`` by ``layer_types`` or a pattern, ``every N`` for all but every Nth layer
            where the file has neither, ``all`` for every layer, ``switch`` for Qwen's switch, or ``alternate``.
    """

    norm: str = "rms"
    norms: int = 2
    qkv_bias: str = ""
    out_bias: str = ""
    mlp_bias: str = ""
    qk_norm: str = ""
    gated: bool = True
    tied: bool = False
    learned: int = -1
    head_bias: str = ""
    embedding_norm: bool = False
    final_norm: bool = True
    router_bias: str = ""
    expert_bias: bool = False
    sinks: bool = False
    shared: str = ""
    shared_gate: bool = False
    query_gate: str = ""
    window: str = ""


LLAMA = Traits(qkv_bias="attention_bias", out_bias="attention_bias", mlp_bias="mlp_bias")
PLAIN = Traits()
MISTRAL = Traits(window="all")
QWEN2 = Traits(qkv_bias="yes", window="switch")
QWEN3 = Traits(qkv_bias="attention_bias", out_bias="attention_bias", qk_norm="head", window="switch")
QWEN_NEXT = Traits(
    qkv_bias="attention_bias",
    out_bias="attention_bias",
    qk_norm="head",
    query_gate="yes",
    shared="shared_expert_intermediate_size",
    shared_gate=True,
)
GEMMA = Traits(qkv_bias="attention_bias", out_bias="attention_bias", tied=True)
GPT = Traits(norm="layer", qkv_bias="yes", out_bias="yes", mlp_bias="yes", gated=False, tied=True)
GLM = Traits(qkv_bias="attention_bias")
DEEPSEEK = Traits(qkv_bias="attention_bias", shared="n_shared_experts")
COHERE = Traits(window="every 4", norms=1, qkv_bias="attention_bias", out_bias="attention_bias", tied=True)

FAMILIES = {
    "llama": LLAMA,
    "mistral": MISTRAL,
    "ministral": MISTRAL,
    "ministral3": MISTRAL,
    "mixtral": MISTRAL,
    "phi3": MISTRAL,
    "smollm3": LLAMA,
    "granite": LLAMA,
    "granitemoe": LLAMA,
    "granitemoeshared": Traits(qkv_bias="attention_bias", out_bias="attention_bias", shared="shared_intermediate_size"),
    "granitemoehybrid": Traits(qkv_bias="attention_bias", out_bias="attention_bias", shared="shared_intermediate_size"),
    "helium": Traits(qkv_bias="attention_bias"),
    "seed_oss": Traits(qkv_bias="attention_bias=yes", out_bias="attention_out_bias", mlp_bias="mlp_bias"),
    "olmo": Traits(norm="none", final_norm=False, qkv_bias="attention_bias", out_bias="attention_bias"),
    "olmo2": Traits(qkv_bias="attention_bias", out_bias="attention_bias", qk_norm="all"),
    "olmo3": Traits(window="every 4", qkv_bias="attention_bias", out_bias="attention_bias", qk_norm="all"),
    "olmoe": Traits(qkv_bias="attention_bias", out_bias="attention_bias", qk_norm="all"),
    "qwen2": QWEN2,
    "qwen2_vl_text": QWEN2,
    "qwen2_5_vl_text": QWEN2,
    "qwen2_moe": Traits(
        qkv_bias="qkv_bias=yes", window="switch", shared="shared_expert_intermediate_size", shared_gate=True
    ),
    "qwen3": QWEN3,
    "qwen3_moe": QWEN3,
    "qwen3_vl_text": QWEN3,
    "qwen3_vl_moe_text": QWEN3,
    "qwen3_next": QWEN_NEXT,
    "qwen3_5_text": QWEN_NEXT,
    "qwen3_5_moe_text": QWEN_NEXT,
    "qwen": Traits(qkv_bias="yes"),
    "deepseek_v4": Traits(router_bias="yes", shared="n_shared_experts"),
    "mimo_v2_flash": Traits(qkv_bias="attention_bias", router_bias="yes", shared="n_shared_experts"),
    "gemma": GEMMA,
    "gemma2": Traits(norms=4, qkv_bias="attention_bias", out_bias="attention_bias", tied=True, window="alternate"),
    "gemma3_text": Traits(
        window="every 6", norms=4, qkv_bias="attention_bias", out_bias="attention_bias", tied=True, qk_norm="head"
    ),
    "gemma3n_text": Traits(
        window="every 5", norms=4, qkv_bias="attention_bias", out_bias="attention_bias", tied=True, qk_norm="head"
    ),
    "gemma4_text": Traits(
        window="every 6", norms=4, qkv_bias="attention_bias", out_bias="attention_bias", tied=True, qk_norm="head"
    ),
    "glm": GLM,
    "glm4": Traits(norms=4, qkv_bias="attention_bias"),
    "glm4_moe": Traits(
        qkv_bias="attention_bias", qk_norm="use_qk_norm:head", router_bias="yes", shared="n_shared_experts"
    ),
    "chatglm": Traits(qkv_bias="add_qkv_bias", out_bias="add_bias_linear", mlp_bias="add_bias_linear"),
    "deepseek": Traits(shared="n_shared_experts"),
    "deepseek_v2": DEEPSEEK,
    "deepseek_v3": Traits(qkv_bias="attention_bias", shared="n_shared_experts", router_bias="yes"),
    "deepseek_v32": Traits(qkv_bias="attention_bias", shared="n_shared_experts", router_bias="yes"),
    "kimi_k2": Traits(qkv_bias="attention_bias", shared="n_shared_experts", router_bias="yes"),
    "kimi_linear": Traits(qkv_bias="attention_bias", shared="n_shared_experts", router_bias="yes"),
    "glm4_moe_lite": Traits(qkv_bias="attention_bias", shared="n_shared_experts", router_bias="yes"),
    "glm_moe_dsa": Traits(qkv_bias="attention_bias", shared="n_shared_experts", router_bias="yes"),
    "dots1": Traits(
        qkv_bias="attention_bias",
        out_bias="attention_bias",
        qk_norm="head",
        shared="n_shared_experts",
        router_bias="yes",
    ),
    "ernie4_5": Traits(qkv_bias="use_bias", out_bias="use_bias", mlp_bias="use_bias", tied=True),
    "ernie4_5_moe": Traits(
        qkv_bias="use_bias",
        out_bias="use_bias",
        mlp_bias="use_bias",
        tied=True,
        router_bias="yes",
        shared="moe_num_shared_experts",
    ),
    "hunyuan_v1_dense": Traits(qkv_bias="attention_bias", out_bias="attention_bias", qk_norm="head"),
    "hunyuan_v1_moe": Traits(
        qkv_bias="attention_bias", out_bias="attention_bias", qk_norm="head", shared="num_shared_expert"
    ),
    "minimax_m2": Traits(qk_norm="all", router_bias="yes"),
    "gpt_oss": Traits(
        window="every 2",
        qkv_bias="attention_bias=yes",
        out_bias="attention_bias=yes",
        router_bias="yes",
        expert_bias=True,
        sinks=True,
    ),
    "llama4_text": Traits(window="every 4", qkv_bias="attention_bias", out_bias="attention_bias", shared="same"),
    "cohere": Traits(
        norms=1, qkv_bias="attention_bias", out_bias="attention_bias", tied=True, qk_norm="use_qk_norm:all"
    ),
    "cohere2": COHERE,
    "starcoder2": Traits(
        norm="layer",
        qkv_bias="use_bias=yes",
        out_bias="use_bias=yes",
        mlp_bias="use_bias=yes",
        gated=False,
        tied=True,
        window="all",
    ),
    "stablelm": Traits(norm="layer", qkv_bias="use_qkv_bias", qk_norm="qk_layernorm:all"),
    "nemotron": Traits(
        norm="layer", qkv_bias="attention_bias", out_bias="attention_bias", mlp_bias="mlp_bias", gated=False
    ),
    "nemotron-nas": Traits(),
    "deci": Traits(),
    "exaone4": Traits(window="every 4", qk_norm="head"),
    "apertus": Traits(
        qkv_bias="attention_bias", out_bias="attention_bias", mlp_bias="mlp_bias", qk_norm="head", gated=False
    ),
    "arcee": Traits(qkv_bias="attention_bias", out_bias="attention_bias", mlp_bias="mlp_bias", gated=False),
    "internlm2": Traits(qkv_bias="bias", out_bias="bias"),
    "internlm3": Traits(qkv_bias="qkv_bias", out_bias="bias", mlp_bias="bias"),
    "baichuan": Traits(),
    "dbrx": Traits(norm="gain"),
    "phimoe": Traits(
        norm="layer", qkv_bias="attention_bias", out_bias="attention_bias", head_bias="lm_head_bias", window="all"
    ),
    "phi": Traits(
        norm="layer",
        norms=1,
        qkv_bias="yes",
        out_bias="yes",
        mlp_bias="yes",
        gated=False,
        head_bias="yes",
        qk_norm="qk_layernorm:head",
    ),
    "gpt2": Traits(norm="layer", qkv_bias="yes", out_bias="yes", mlp_bias="yes", gated=False, tied=True, learned=0),
    "gpt_bigcode": Traits(
        norm="layer", qkv_bias="yes", out_bias="yes", mlp_bias="yes", gated=False, tied=True, learned=0
    ),
    "gpt_neo": Traits(norm="layer", out_bias="yes", mlp_bias="yes", gated=False, tied=True, learned=0),
    "gptj": Traits(norm="layer", norms=1, mlp_bias="yes", gated=False, head_bias="yes"),
    "gpt_neox": Traits(
        norm="layer", qkv_bias="attention_bias=yes", out_bias="attention_bias=yes", mlp_bias="yes", gated=False
    ),
    "opt": Traits(
        norm="layer",
        qkv_bias="enable_bias=yes",
        out_bias="enable_bias=yes",
        mlp_bias="enable_bias=yes",
        gated=False,
        tied=True,
        learned=2,
    ),
    "bloom": Traits(
        norm="layer", qkv_bias="yes", out_bias="yes", mlp_bias="yes", gated=False, tied=True, embedding_norm=True
    ),
    "mpt": Traits(norm="gain", gated=False, tied=True),
    "falcon": Traits(norm="layer", qkv_bias="bias", out_bias="bias", mlp_bias="bias", gated=False, tied=True),
    "mamba": Traits(norms=1, tied=True),
    "mamba2": Traits(norms=1),
    "falcon_mamba": Traits(norms=1, tied=True),
    "jamba": Traits(),
    "bamba": Traits(qkv_bias="attention_bias", out_bias="attention_bias", mlp_bias="mlp_bias"),
    "falcon_h1": Traits(qkv_bias="attention_bias", out_bias="attention_bias", mlp_bias="mlp_bias"),
    "nemotron_h": Traits(norms=1, gated=False, mlp_bias="mlp_bias", router_bias="yes", shared="nemotron"),
    "bert": GPT,
    "roberta": GPT,
    "xlm-roberta": GPT,
    "lfm2": Traits(qk_norm="head", tied=True),
    "lfm2_moe": Traits(qk_norm="head", tied=True, router_bias="use_expert_bias=yes"),
}

UNKNOWN = LLAMA
"""What is assumed of other families: two RMSNorms a layer, a gated block, no biases, a head apart."""
