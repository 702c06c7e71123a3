"""Which type each tensor gets in a GGUF file of a type such as ``Q4_K_M``.

The name of a file stands for a mix: the head, the values and the second feed-forward matrix of some layers are kept
wider than the rest. The rules are those of llama.cpp's ``llama-quant.cpp`` as of 2024 to mid-2026, without an
importance matrix, with which a few tensors of Q4_0 and Q5_0 are wider.

Promises: for models with separate queries, keys and values, the mix of the file. Left out: types below two bits,
single tensors that a person chose by hand, and later changes of the rules. A file's header is exact: read it instead
where there is one.
"""

from __future__ import annotations

from gpumoat.llm.architecture import Architecture
from gpumoat.llm.quantization import GGML_BLOCKS
from gpumoat.llm.tensors import Tensor

BASE = {
    "Q3_K_S": "Q3_K",
    "Q3_K_M": "Q3_K",
    "Q3_K_L": "Q3_K",
    "Q4_K_S": "Q4_K",
    "Q4_K_M": "Q4_K",
    "Q5_K_S": "Q5_K",
    "Q5_K_M": "Q5_K",
}
"""The type of most matrices of a file type; others have the name of the file."""

NARROW = {"Q2_K": "Q4_0", "Q3_K": "Q4_0", "Q4_K": "Q5_0", "Q5_K": "Q5_1", "Q6_K": "Q8_0"}
"""What stands in where the columns are no multiple of 256."""


def stored_type(mix: str, tensor: Tensor, layer: int, model: Architecture) -> str:
    """Return the type of a tensor in a file of type ``mix``; empty where there is no mix."""
    if not mix:
        return ""
    if not tensor.columns or tensor.part in ("norms", "router", "vision", "audio"):
        return "F32" if tensor.part not in ("vision", "audio") else "F16"
    if not tensor.linear and tensor.part != "embedding":
        return "F32"
    if mix in ("F32", "F16", "BF16"):
        return mix
    wanted = _wanted(mix, tensor, layer, model)
    if GGML_BLOCKS[wanted][0] == 256 and tensor.columns % 256:
        return NARROW[wanted]
    return wanted


def _wanted(mix: str, tensor: Tensor, layer: int, model: Architecture) -> str:
    base = BASE.get(mix, mix)
    name = tensor.module.rsplit(".", 1)[-1]
    if name == "lm_head" or (name == "embed_tokens" and model.tied):
        return base if base == "Q8_0" else "Q6_K"
    if layer < 0:
        return base
    count = len(model.layers)
    experts = model.layers[layer].feed_forward.experts
    if name == "v_proj":
        return _values(mix, base, layer, count, experts, model)
    if name == "k_proj" and experts == 8:
        return "Q8_0"
    if name == "down_proj":
        return _down(mix, base, layer, count)
    if name == "o_proj":
        if experts == 8 and "_K" in mix:
            return "Q5_K" if base in ("Q2_K", "Q3_K", "Q4_K") else base
        return {"Q2_K": "Q3_K", "Q3_K_M": "Q4_K", "Q3_K_L": "Q5_K"}.get(mix, base)
    return base


def _more(layer: int, count: int) -> bool:
    """Say whether a layer is one that gets more bits: the first and last eighth, and every third between."""
    eighth = count // 8
    return layer < eighth or layer >= 7 * count // 8 or (layer - eighth) % 3 == 2


def _values(mix: str, base: str, layer: int, count: int, experts: int, model: Architecture) -> str:
    mixer = model.layers[layer].mixer
    found = base
    if mix == "Q2_K":
        found = "Q4_K" if mixer.heads >= 4 * mixer.kv_heads else "Q3_K"
    elif mix == "Q3_K_M":
        found = "Q5_K" if layer < 2 else "Q4_K"
    elif mix == "Q3_K_L":
        found = "Q5_K"
    elif mix in ("Q4_K_M", "Q5_K_M") and _more(layer, count):
        found = "Q6_K"
    elif mix == "Q4_K_S" and layer < 4:
        found = "Q5_K"
    if count == 80 and mixer.heads == 8 * mixer.kv_heads and found in ("Q3_K", "Q4_K"):
        found = "Q5_K"  # the 70B of Llama 2 and 3, whose values eight heads share
    return "Q8_0" if experts == 8 else found


def _down(mix: str, base: str, layer: int, count: int) -> str:
    if mix == "Q2_K":
        return "Q3_K"
    if mix == "Q3_K_M":
        return "Q5_K" if layer < count // 16 else "Q4_K"
    if mix == "Q3_K_L":
        return "Q5_K"
    if mix in ("Q4_K_M", "Q5_K_M") and _more(layer, count):
        return "Q6_K"
    return "Q5_K" if mix == "Q4_K_S" and layer < count // 8 else base
