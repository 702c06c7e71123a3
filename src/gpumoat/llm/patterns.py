"""Which kind each layer is of: the order of attention, windows, recurrent layers and experts.

Configs say it in a dozen ways: a list of words (``layer_types``), a text of letters (Nemotron-H), a period with an
offset (Jamba), an interval (Qwen3-Next), a count of dense layers first (DeepSeek), or a list of lists.

Promises: a list of exactly as many kinds as layers, or a ``ConfigError``. Left out: the sizes of the layers.
"""

from __future__ import annotations

from typing import Any

from gpumoat.llm.fields import MOST_LAYERS, ConfigError, Fields

FULL, SLIDING, CHUNKED, LINEAR, MAMBA, CONVOLUTION, NOTHING = (
    "full",
    "sliding",
    "chunked",
    "linear",
    "mamba",
    "convolution",
    "nothing",
)
WORDS = {
    "full_attention": FULL,
    "attention": FULL,
    "indexed_attention": FULL,
    "hybrid": FULL,
    "global": FULL,
    "global_attention": FULL,
    "sliding_attention": SLIDING,
    "sliding_window_attention": SLIDING,
    "local": SLIDING,
    "chunked_attention": CHUNKED,
    "linear_attention": LINEAR,
    "mamba": MAMBA,
    "mamba2": MAMBA,
    "conv": CONVOLUTION,
    "moe": "moe",
    "mlp": "mlp",
    "dense": "mlp",
}
"""Words for layers in published configs."""

LETTERS = {"M": MAMBA, "*": FULL, "-": "mlp", "E": "moe"}
"""Letters of Nemotron-H's pattern."""


def mixer_kinds(fields: Fields, count: int, window: int, rule: str, recurrent: str) -> list[str]:
    """Return the kind of mixer of each layer.

    Args:
        fields: The config.
        count: How many layers there are.
        window: Tokens of a window; 0 where there is none.
        rule: How the family says which layers have it; see `gpumoat.llm.traits.Traits.window`.
        recurrent: What stands for recurrent layers in this family: ``linear`` or ``mamba``.
    """
    listed = fields.items("layer_types layers_block_type block_types")
    if listed is not None:
        return _listed(fields, listed, count, recurrent)
    pattern = fields.text("hybrid_override_pattern")
    if pattern:
        return [_letter(fields, letter) for letter in pattern[:count]]
    found = _periodic(fields, count, recurrent)
    if found:
        return found
    if not window or rule == "none":
        return [FULL] * count
    return _windows(fields, count, rule)


def _listed(fields: Fields, listed: list[Any], count: int, recurrent: str) -> list[str]:
    name = fields.find("layer_types layers_block_type block_types")[0]
    if len(listed) < count:
        raise ConfigError(f"{fields.where}{name} names {len(listed)} layers, but there are {count}")
    found = []
    for word in listed[:count]:
        if not isinstance(word, str) or word not in WORDS:
            raise ConfigError(f"{fields.where}{name} has a kind of layer that is not known: {str(word)[:40]!r}")
        kind = WORDS[word]
        found.append(recurrent if kind in (LINEAR, MAMBA) else kind)
    return found


def _letter(fields: Fields, letter: str) -> str:
    if letter not in LETTERS:
        raise ConfigError(f"{fields.where}hybrid_override_pattern must be made of M, E, * and -, not {letter!r}")
    return LETTERS[letter]


def _periodic(fields: Fields, count: int, recurrent: str) -> list[str]:
    """Return kinds that a period or an interval gives, or an empty list."""
    linear = fields.inner("linear_attn_config")
    if linear is not None:
        full = linear.numbers("full_attn_layers", 1, MOST_LAYERS)
        if full is not None:
            return [FULL if place + 1 in full else recurrent for place in range(count)]
    attentive = fields.numbers("attn_layer_indices full_attn_idxs", 0, MOST_LAYERS)
    if attentive is not None:
        other = CONVOLUTION if fields.has("full_attn_idxs") else recurrent
        return [FULL if place in attentive else other for place in range(count)]
    if fields.find("full_attention_interval")[1] is not None:
        interval = fields.number("full_attention_interval", most=MOST_LAYERS)
        return [recurrent if (place + 1) % interval else FULL for place in range(count)]
    if fields.find("attn_layer_period")[1] is not None:
        period = fields.number("attn_layer_period", most=MOST_LAYERS)
        offset = fields.number("attn_layer_offset", 0, 0, MOST_LAYERS)
        return [FULL if place % period == offset else recurrent for place in range(count)]
    return []


def _windows(fields: Fields, count: int, rule: str) -> list[str]:
    """Return which layers have a window, where no list says it."""
    if rule == "all":
        return [SLIDING] * count
    if rule == "switch":
        if not fields.flag("use_sliding_window"):
            return [FULL] * count
        first = fields.number("max_window_layers", 0, 0, MOST_LAYERS)
        return [SLIDING if place >= first else FULL for place in range(count)]
    if rule == "alternate":
        return [FULL if place % 2 else SLIDING for place in range(count)]
    name, pattern = fields.find("sliding_window_pattern _sliding_window_pattern no_rope_layer_interval")
    if pattern is None and rule.startswith("every "):
        pattern = int(rule[6:])
    if isinstance(pattern, str) and pattern and not pattern.strip("LG"):
        return [SLIDING if pattern[place % len(pattern)] == "L" else FULL for place in range(count)]
    if pattern is None:
        return [FULL] * count
    every = fields.check(name, pattern, 1, MOST_LAYERS)
    return [SLIDING if (place + 1) % every else FULL for place in range(count)]


def expert_layers(fields: Fields, count: int) -> list[bool]:
    """Return which layers have experts, in a model that has experts."""
    words = fields.items("mlp_layer_types")
    if words is not None:
        if len(words) < count:
            raise ConfigError(f"{fields.where}mlp_layer_types names {len(words)} layers, but there are {count}")
        return [word not in ("dense", "mlp") for word in words[:count]]
    listed = fields.numbers("moe_layers", 0, MOST_LAYERS)
    if listed is not None:
        return [place in listed for place in range(count)]
    frequency = fields.find("moe_layer_freq")[1]
    if isinstance(frequency, list):
        flags = fields.numbers("moe_layer_freq", 0, MOST_LAYERS) or []
        return [place < len(flags) and flags[place] > 0 for place in range(count)]
    if fields.find("first_k_dense_replace num_dense_layers")[1] is not None or frequency is not None:
        first = fields.number("first_k_dense_replace num_dense_layers", 0, 0, MOST_LAYERS)
        step = fields.number("moe_layer_freq", 1, 1, MOST_LAYERS)
        return [place >= first and place % step == 0 for place in range(count)]
    if fields.find("moe_layer_start_index")[1] is not None:
        first = fields.number("moe_layer_start_index", 0, 0, MOST_LAYERS)
        last = fields.number("moe_layer_end_index", -1, -1, MOST_LAYERS)
        step = fields.number("moe_layer_interval", 1, 1, MOST_LAYERS)
        stop = count - 1 if last == -1 else last
        return [first <= place <= stop and (place + 1) % step == 0 for place in range(count)]
    if fields.find("interleave_moe_layer_step")[1] is not None:
        step = fields.number("interleave_moe_layer_step", most=MOST_LAYERS)
        return [(place + 1) % step == 0 for place in range(count)]
    if fields.find("expert_layer_period")[1] is not None:
        period = fields.number("expert_layer_period", most=MOST_LAYERS)
        offset = fields.number("expert_layer_offset", 0, 0, MOST_LAYERS)
        return [place % period == offset for place in range(count)]
    step = fields.number("decoder_sparse_step", 1, 0, MOST_LAYERS)
    dense = fields.numbers("mlp_only_layers", 0, MOST_LAYERS) or []
    return [place not in dense and step > 0 and (place + 1) % step == 0 for place in range(count)]
