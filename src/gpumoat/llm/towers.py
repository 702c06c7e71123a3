"""Vision towers, and what joins them to the text model.

A model for pictures and text carries an encoder of pictures beside its layers. Its weights are loaded with the rest,
so they belong to the bytes, though plain text never uses them.

Promises: a tower whose kind is known is counted exactly; one that is not is left out, and ``assumed`` says so.
Left out: audio towers.
"""

from __future__ import annotations

from typing import Any

from gpumoat.llm.configs import class_defaults
from gpumoat.llm.fields import Fields
from gpumoat.llm.tensors import COLUMNS, ROWS, WHOLE, Block, Tensor


def read_towers(data: dict[str, Any], text: Fields) -> tuple[Tensor, ...]:
    """Return the weights of a model's towers; nothing for a model of text alone.

    Args:
        data: The whole config.
        text: The fields of its text model.
    """
    whole = Fields(data, {}, text.assumed)
    found: list[Tensor] = []
    for name in ("vision_config", "audio_config"):
        tower = whole.inner(name)
        if tower is None or not tower.data:
            continue
        kind = tower.text("model_type") or str(data.get("model_type"))
        known = TOWERS.get(kind)
        if name == "vision_config" and known is not None:
            tower.defaults = class_defaults(kind)
            hidden = text.number("hidden_size n_embd d_model")
            found.extend(known(tower, hidden, whole))
        else:
            text.assume(f"the tower of {name} ({kind[:40]}) is not counted: only the text model is")
    return tuple(found)


def image_size(data: dict[str, Any]) -> tuple[int, int]:
    """Return the values of one picture and the tokens that it becomes; zeros where that is not known."""
    whole = Fields(data)
    tower = whole.inner("vision_config")
    if tower is None or data.get("model_type") != "gemma3":
        return 0, 0
    tower.defaults = class_defaults("siglip_vision_model")
    side = tower.number("image_size", most=65536)
    return tower.number("num_channels", 3, 1, 64) * side * side, whole.number("mm_tokens_per_image", 256)


def siglip(tower: Fields, hidden: int, whole: Fields) -> list[Tensor]:
    """Return a SigLIP tower, and the matrix and norm that join it to Gemma 3."""
    block = _transformer(tower, True)
    block.symbols["h"] = hidden
    block.vector("post_layernorm", "2 × v")
    if tower.flag("vision_use_head", False) and whole.data.get("model_type") != "gemma3":
        whole.assume("the pooling head of the vision tower is not counted")
    if str(whole.data.get("model_type")) == "gemma3":
        block.matrix("mm_input_projection", "v", "h")
        block.vector("mm_soft_emb_norm", "v")
    else:
        block.matrix("projector", "h", "v", bias=True)
    return block.tensors


def clip(tower: Fields, hidden: int, whole: Fields) -> list[Tensor]:
    """Return a CLIP tower, and the two matrices that join it to a text model as in LLaVA."""
    block = _transformer(tower, False, 1)
    block.symbols["h"] = hidden
    block.vector("class_embedding", "v")
    block.vector("pre_layernorm", "2 × v")
    block.vector("post_layernorm", "2 × v")
    block.matrix("projector.linear_1", "h", "v", bias=True)
    block.matrix("projector.linear_2", "h", "h", bias=True)
    return block.tensors


def llama4(tower: Fields, hidden: int, whole: Fields) -> list[Tensor]:
    """Return the tower of Llama 4, its adapter, and the matrix that joins it."""
    block = _transformer(tower, False, 1)
    block.symbols["h"] = hidden
    block.symbols["i"] = tower.number("projector_input_dim")
    block.symbols["o"] = tower.number("projector_output_dim")
    block.symbols["w"] = tower.number("vision_output_dim")
    block.vector("class_embedding", "v")
    block.vector("layernorms", "4 × v")
    block.matrix("vision_adapter.mlp.fc1", "i", "f")
    block.matrix("vision_adapter.mlp.fc2", "o", "o")
    block.matrix("multi_modal_projector.linear_1", "h", "w")
    return block.tensors


def pixtral(tower: Fields, hidden: int, whole: Fields) -> list[Tensor]:
    """Return a Pixtral tower, and what joins it: with a merger of patches in Mistral 3, without in Pixtral."""
    merge = whole.number("spatial_merge_size", 1, 1, 64)
    symbols = _sizes(tower, hidden)
    symbols["s"] = merge * merge
    block = Block(symbols, "vision")
    heads = tower.number("num_attention_heads")
    block.matrix("patch_conv", "v", "c × k × k", WHOLE, linear=False)
    block.vector("ln_pre", "v")
    _layer(block, heads, False, True, "2 × v")
    merged = whole.data.get("model_type") == "mistral3"
    if merged:
        block.vector("projector.norm", "v")
        block.matrix("projector.patch_merger", "v", "v × s")
    bias = whole.flag("multimodal_projector_bias", not merged)
    block.matrix("projector.linear_1", "h", "v", bias=bias)
    block.matrix("projector.linear_2", "h", "h", bias=bias)
    return block.tensors


def qwen(tower: Fields, hidden: int, whole: Fields) -> list[Tensor]:
    """Return a tower of Qwen3-VL or Qwen3.5, its merger, and those of the deeper layers."""
    symbols = _sizes(tower, hidden)
    symbols["t"] = tower.number("temporal_patch_size", 2, 1, 64)
    symbols["s"] = tower.number("spatial_merge_size", 2, 1, 64) ** 2
    symbols["o"] = tower.number("out_hidden_size", hidden)
    symbols["P"] = tower.number("num_position_embeddings", 2304)
    deep = len(tower.items("deepstack_visual_indexes") or [])
    symbols["D"] = deep
    block = Block(symbols, "vision")
    heads = tower.number("num_heads num_attention_heads", 16)
    block.matrix("patch_embed", "v", "c × t × k × k", WHOLE, bias=True, linear=False)
    block.matrix("pos_embed", "P", "v", WHOLE, linear=False)
    _layer(block, heads, True, False, "4 × v")
    block.vector("merger.norm", "2 × v")
    for copies in ("", "D") if deep else ("",):
        if copies:
            block.matrix("deepstack.norm", "2 × v × s", "", WHOLE, copies=copies, active=copies)
        block.matrix("merger.linear_fc1", "v × s", "v × s", ROWS, bias=True, copies=copies, active=copies)
        block.matrix("merger.linear_fc2", "o", "v × s", COLUMNS, bias=True, copies=copies, active=copies)
    return block.tensors


def qwen25(tower: Fields, hidden: int, whole: Fields) -> list[Tensor]:
    """Return the tower of Qwen2.5-VL and its merger."""
    symbols = _sizes(tower, hidden)
    symbols["t"] = tower.number("temporal_patch_size", 2, 1, 64)
    symbols["s"] = tower.number("spatial_merge_size", 2, 1, 64) ** 2
    symbols["o"] = tower.number("out_hidden_size", hidden)
    block = Block(symbols, "vision")
    block.matrix("patch_embed", "v", "c × t × k × k", WHOLE, linear=False)
    _layer(block, tower.number("num_heads", 16), True, True, "2 × v")
    block.vector("merger.ln_q", "v")
    block.matrix("merger.mlp.0", "v × s", "v × s", ROWS, bias=True)
    block.matrix("merger.mlp.2", "o", "v × s", COLUMNS, bias=True)
    return block.tensors


def gemma4(tower: Fields, hidden: int, whole: Fields) -> list[Tensor]:
    """Return the tower of Gemma 4, with heads of a size of their own, and the matrix that joins it."""
    symbols = _sizes(tower, hidden)
    heads = tower.number("num_attention_heads")
    symbols["a"], symbols["g"] = heads, tower.number("num_key_value_heads", heads)
    symbols["d"] = tower.number("head_dim", 64)
    symbols["P"] = tower.number("position_embedding_size", 10240)
    block = Block(symbols, "vision")
    block.matrix("patch_embedder.input_proj", "v", "c × k × k", WHOLE)
    block.matrix("patch_embedder.position_embedding_table", "2 × P", "v", WHOLE, linear=False)
    for name, rows in (("q", "a × d"), ("k", "g × d"), ("v", "g × d")):
        block.matrix(f"layers.{name}_proj", rows, "v", ROWS, "qkv", False, 0, "n", "n")
    block.matrix("layers.o_proj", "v", "a × d", COLUMNS, copies="n", active="n")
    for name in ("gate_proj", "up_proj"):
        block.matrix(f"layers.{name}", "f", "v", ROWS, "gate_up", copies="n", active="n")
    block.matrix("layers.down_proj", "v", "f", COLUMNS, copies="n", active="n")
    block.matrix("layers.norms", "4 × v + 2 × d", "", WHOLE, copies="n", active="n")
    block.matrix("embedding_projection", "h", "v")
    return block.tensors


def _sizes(tower: Fields, hidden: int) -> dict[str, int]:
    """Return the sizes that every tower has."""
    return {
        "h": hidden,
        "v": tower.number("hidden_size"),
        "f": tower.number("intermediate_size"),
        "n": tower.number("num_hidden_layers depth", most=1000),
        "c": tower.number("num_channels in_channels in_chans", 3, 1, 64),
        "k": tower.number("patch_size", most=1024),
    }


def _transformer(tower: Fields, bias: bool, more: int = 0) -> Block:
    """Return a plain encoder: 3·patch²·v + v + positions·v, and layers of 4v² + 4v + 2v·f + f + v + 4v.

    Args:
        tower: Its fields.
        bias: Whether the patches' matrix has a bias.
        more: Positions besides those of the patches.
    """
    symbols = _sizes(tower, 0)
    image = tower.number("image_size", most=65536)
    symbols["P"] = (image // symbols["k"]) ** 2 + more
    block = Block(symbols, "vision")
    block.matrix("patch_embedding", "v", "c × k × k", WHOLE, bias=bias, linear=False)
    block.matrix("position_embedding", "P", "v", WHOLE, linear=False)
    _layer(block, tower.number("num_attention_heads"), True, False, "4 × v")
    return block


def _layer(block: Block, heads: int, bias: bool, gated: bool, norms: str) -> None:
    """Add an encoder's layers: attention of full heads, a feed-forward block, and norms."""
    for name in "qkv":
        block.matrix(f"layers.{name}_proj", "v", "v", ROWS, "qkv", bias, heads, "n", "n")
    block.matrix("layers.out_proj", "v", "v", COLUMNS, "", bias, heads, "n", "n")
    for name in ("gate", "fc1") if gated else ("fc1",):
        block.matrix(f"layers.{name}", "f", "v", ROWS, "gate_up" if gated else "", bias, 0, "n", "n")
    block.matrix("layers.fc2", "v", "f", COLUMNS, "", bias, 0, "n", "n")
    block.matrix("layers.norms", norms, "", WHOLE, copies="n", active="n")


TOWERS = {
    "siglip_vision_model": siglip,
    "clip_vision_model": clip,
    "llama4_vision_model": llama4,
    "pixtral": pixtral,
    "qwen3_vl": qwen,
    "qwen3_vl_moe": qwen,
    "qwen3_vl_vision": qwen,
    "qwen3_vl_moe_vision": qwen,
    "qwen3_5": qwen,
    "qwen3_5_moe": qwen,
    "qwen3_5_vision": qwen,
    "qwen3_5_moe_vision": qwen,
    "qwen2_5_vl": qwen25,
    "qwen2_5_vl_vision": qwen25,
    "gemma4_vision": gemma4,
}
"""Readers of towers by their kind."""
