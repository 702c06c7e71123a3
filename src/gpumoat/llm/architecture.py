"""What a model is made of: its layers in order, each with its weights, and what stands before and after them.

`gpumoat.llm.reading` makes an `Architecture` from a published config. Everything else, such as parameters, bytes as
loaded and the cache, is arithmetic on it.

Promises: layers that are alike share one ``kind``, so that formulas can name how many there are. Left out: what the
model computes, beyond what decides its memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpumoat.llm.feed_forward import FeedForward
from gpumoat.llm.mixers import Mixer
from gpumoat.llm.tensors import Tensor


@dataclass(frozen=True)
class Layer:
    """One layer.

    Attributes:
        kind: A word that layers of the same make share, such as ``sliding-window attention, dense``.
        mixer: The half in which tokens see each other.
        feed_forward: The half that looks at one token.
        norms: Norms and whatever else belongs to neither half.
        second: A second mixer beside the first, as in models that run attention and Mamba side by side.
    """

    kind: str
    mixer: Mixer
    feed_forward: FeedForward
    norms: tuple[Tensor, ...]
    second: Mixer | None = None

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """All weights of the layer."""
        beside = self.second.tensors if self.second is not None else ()
        return self.mixer.tensors + beside + self.feed_forward.tensors + self.norms

    @property
    def mixers(self) -> tuple[Mixer, ...]:
        """The mixer, and the second one where there is one."""
        return (self.mixer,) if self.second is None else (self.mixer, self.second)


@dataclass(frozen=True)
class RotaryTable:
    """A table of cosines and sines that an engine keeps for rotary positions.

    Attributes:
        name: Which layers use it.
        positions: Its rows.
        width: Values of a row, cosine and sine together.
    """

    name: str
    positions: int
    width: int


@dataclass(frozen=True)
class Architecture:
    """A model's make.

    Attributes:
        name: How it is called.
        model_type: The family, as the config names it.
        hidden: Width h.
        vocabulary: Rows V of the token embedding, as stored.
        positions: Longest sequence; 0 where nothing limits it.
        layers: All layers in order.
        embedding: What comes before the layers.
        final: What comes after them, before the head.
        head: The head; empty where it is tied to the embedding.
        towers: Vision and audio towers and what joins them to the text model.
        extra_layers: Layers for the prediction of several tokens; not used by plain generation.
        extra: What else those layers hold.
        tied: Whether the head is the token embedding.
        dtype: Data type of the weights as published, such as ``bf16``.
        quantization: The object that says how weights are quantised, or an empty one.
        tables: Rotary tables.
        assumed: What the config does not say and was assumed, one line each.
        buffers: Values that a checkpoint may hold besides the parameters, such as causal masks.
        encoder: Whether it reads a whole text at once and makes no text, so that it keeps no cache.
        image_values: Values of one picture as the tower takes it; 0 where that is not known.
        image_tokens: Tokens that a picture becomes.
    """

    name: str
    model_type: str
    hidden: int
    vocabulary: int
    positions: int
    layers: tuple[Layer, ...]
    embedding: tuple[Tensor, ...]
    final: tuple[Tensor, ...]
    head: tuple[Tensor, ...]
    towers: tuple[Tensor, ...]
    extra_layers: tuple[Layer, ...]
    extra: tuple[Tensor, ...]
    tied: bool
    dtype: str
    quantization: Any
    tables: tuple[RotaryTable, ...]
    assumed: tuple[str, ...]
    buffers: int = 0
    encoder: bool = False
    image_values: int = 0
    image_tokens: int = 0

    def slice(self, first: int, count: int) -> Architecture:
        """Return the same model with only some of its layers, as one pipeline stage has them."""
        return Architecture(
            self.name,
            self.model_type,
            self.hidden,
            self.vocabulary,
            self.positions,
            self.layers[first : first + count],
            self.embedding,
            self.final,
            self.head,
            self.towers,
            self.extra_layers,
            self.extra,
            self.tied,
            self.dtype,
            self.quantization,
            self.tables,
            self.assumed,
            self.buffers,
            self.encoder,
            self.image_values,
            self.image_tokens,
        )

    def kinds(self) -> list[tuple[Layer, int]]:
        """Return each kind of layer with how many there are, in the order of the first of each."""
        found: list[tuple[Layer, int]] = []
        places: dict[str, int] = {}
        for layer in self.layers:
            if layer.kind in places:
                place = places[layer.kind]
                found[place] = (found[place][0], found[place][1] + 1)
            else:
                places[layer.kind] = len(found)
                found.append((layer, 1))
        return found
