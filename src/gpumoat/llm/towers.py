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


def _transformer(tower: Fields, bias: bool) -> Block:
    """Return a plain encoder: 3·patch²·v + v + positions·v, and layers of 4v² + 4v + 2v·f + f + v + 4v."""
    patch = tower.number("patch_size", most=1024)
    image = tower.number("image_size", most=65536)
    symbols = {
        "v": tower.number("hidden_size"),
        "f": tower.number("intermediate_size"),
        "n": tower.number("num_hidden_layers", most=1000),
        "c": tower.number("num_channels", 3, 1, 64),
        "k": patch,
        "P": (image // patch) ** 2,
    }
    heads = tower.number("num_attention_heads")
    block = Block(symbols, "vision")
    block.matrix("patch_embedding", "v", "c × k × k", WHOLE, bias=bias, linear=False)
    block.matrix("position_embedding", "P", "v", WHOLE, linear=False)
    for name in "qkv":
        block.matrix(f"layers.{name}_proj", "v", "v", ROWS, "qkv", True, heads, "n", "n")
    block.matrix("layers.out_proj", "v", "v", COLUMNS, "", True, heads, "n", "n")
    block.matrix("layers.fc1", "f", "v", ROWS, "", True, 0, "n", "n")
    block.matrix("layers.fc2", "v", "f", COLUMNS, "", True, 0, "n", "n")
    block.matrix("layers.norms", "4 × v", "", WHOLE, copies="n", active="n")
    return block


TOWERS = {"siglip_vision_model": siglip}
"""Readers of towers by their kind."""
