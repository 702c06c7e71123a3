"""Parameters of a GPT-style language model, part by part.

GPT-style means the decoder of GPT-2 (Radford et al. 2019) and GPT-3 (Brown et al. 2020, section 2.1): learned
token and position embeddings, layers of self-attention and a two-matrix feed-forward block, a LayerNorm
before each of the two and one after the last layer, and a head that turns the result into scores for the
vocabulary.

Promises: whole numbers, exact; equal to the public GPT-2 checkpoints and, rounded, to the GPT-3 paper's
tables. The text of each formula is evaluated by a test, so it cannot drift from the code.

Left out: grouped KV heads, rotary positions, gated feed-forward blocks, experts. Buffers that a checkpoint
file may hold, such as the causal mask, are no parameters.

Notation: V vocabulary, P positions, L layers, h hidden, a heads, d head dimension, f feed-forward.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class GPTShape:
    """The sizes that decide how many parameters a GPT-style model has.

    Attributes:
        hidden: Length h of the vector that stands for a token.
        layers: Number L of layers.
        heads: Number a of attention heads.
        vocabulary: Number V of tokens that the model knows.
        positions: Longest sequence P, one learned vector for each place.
        feed_forward: Width f inside the feed-forward block; 0 stands for the usual 4h.
        head_dim: Length d of a head's vectors; 0 stands for the usual h / a.
        biases: Whether matrices and LayerNorms have a bias vector.
        tied_head: Whether the head reuses the token embedding, as in GPT-2 and GPT-3.

    Raises:
        ValueError: A size is no whole number or too small, or the heads do not divide the hidden size.
    """

    hidden: int
    layers: int
    heads: int
    vocabulary: int
    positions: int
    feed_forward: int = 0
    head_dim: int = 0
    biases: bool = True
    tied_head: bool = True

    def __post_init__(self) -> None:
        for field, least in _LEAST:
            value = getattr(self, field)
            if not isinstance(value, int) or value < least:
                raise ValueError(f"{field} must be a whole number of at least {least}, not {value!r}")
        if not self.head_dim and self.hidden % self.heads:
            raise ValueError(
                f"heads must divide hidden, and {self.heads} does not divide {self.hidden}: "
                "give head_dim if the heads are of another size"
            )
        object.__setattr__(self, "feed_forward", self.feed_forward or 4 * self.hidden)
        object.__setattr__(self, "head_dim", self.head_dim or self.hidden // self.heads)

    def without_biases(self) -> GPTShape:
        """Return the same shape with matrices only: no bias vectors."""
        return GPTShape(
            self.hidden,
            self.layers,
            self.heads,
            self.vocabulary,
            self.positions,
            self.feed_forward,
            self.head_dim,
            False,
            self.tied_head,
        )


_LEAST = (
    ("hidden", 1),
    ("layers", 1),
    ("heads", 1),
    ("vocabulary", 1),
    ("positions", 1),
    ("feed_forward", 0),
    ("head_dim", 0),
)


@dataclass(frozen=True)
class Part:
    """One part of a model and its share of the parameters.

    Attributes:
        name: What the part is.
        parameters: How many parameters it has, over all layers.
        formula: How they are counted, in the letters of the module's notation.
        numbers: The same formula with this model's numbers.
    """

    name: str
    parameters: int
    formula: str
    numbers: str


def attention_parameters(shape: GPTShape) -> int:
    """Return the parameters of one layer's self-attention: four matrices and, if there are biases, four vectors.

    Query, key and value map h to a·d, the output maps a·d back to h. With a·d = h these are 4h² weights and
    4h biases, or 4h(h + 1): a bias is one more row of a matrix, hence the 12,289 beside the 12,288 of GPT-3.
    """
    inner = shape.heads * shape.head_dim
    matrices = 4 * shape.hidden * inner
    return matrices + (3 * inner + shape.hidden if shape.biases else 0)


def feed_forward_parameters(shape: GPTShape) -> int:
    """Return the parameters of one layer's feed-forward block: h to f and back, 8h² + 5h with f = 4h."""
    matrices = 2 * shape.hidden * shape.feed_forward
    return matrices + (shape.feed_forward + shape.hidden if shape.biases else 0)


def norm_parameters(shape: GPTShape) -> int:
    """Return the parameters of one LayerNorm: a gain and, if there are biases, a bias for each of h values."""
    return 2 * shape.hidden if shape.biases else shape.hidden


def layer_parameters(shape: GPTShape) -> int:
    """Return the parameters of one layer: 12h² + 13h with f = 4h and biases, 12h² + 2h without."""
    return attention_parameters(shape) + feed_forward_parameters(shape) + 2 * norm_parameters(shape)


def embedding_parameters(shape: GPTShape) -> int:
    """Return the parameters of both embeddings: one vector for each token and one for each position."""
    return (shape.vocabulary + shape.positions) * shape.hidden


def head_parameters(shape: GPTShape) -> int:
    """Return the parameters of the head: none if it is tied to the token embedding, a matrix without bias if not."""
    return 0 if shape.tied_head else shape.vocabulary * shape.hidden


def parameters(shape: GPTShape) -> int:
    """Return the parameters of the whole model: Vh + Ph + L(12h² + 13h) + 2h for a GPT-2 or a GPT-3."""
    layers = shape.layers * layer_parameters(shape)
    return embedding_parameters(shape) + layers + norm_parameters(shape) + head_parameters(shape)


def parameters_by_part(shape: GPTShape) -> list[Part]:
    """Return the parts of the model from input to output; their sum is `parameters`. A tied head is left out."""
    layers = shape.layers
    bias = shape.biases
    parts = [
        ("token embedding", shape.vocabulary * shape.hidden, "V × h"),
        ("position embedding", shape.positions * shape.hidden, "P × h"),
        (
            "attention",
            layers * attention_parameters(shape),
            "L × (4 × h × a × d + 3 × a × d + h)" if bias else "L × 4 × h × a × d",
        ),
        (
            "feed-forward",
            layers * feed_forward_parameters(shape),
            "L × (2 × h × f + f + h)" if bias else "L × 2 × h × f",
        ),
        ("layer norms", layers * 2 * norm_parameters(shape), "L × 2 × 2 × h" if bias else "L × 2 × h"),
        ("final norm", norm_parameters(shape), "2 × h" if bias else "h"),
    ]
    if not shape.tied_head:
        parts.append(("head", head_parameters(shape), "V × h"))
    return [Part(name, count, formula, in_numbers(formula, shape)) for name, count, formula in parts]


SYMBOLS = {
    "V": "vocabulary",
    "P": "positions",
    "L": "layers",
    "h": "hidden",
    "a": "heads",
    "d": "head_dim",
    "f": "feed_forward",
}
"""The letters of the formulas and the sizes of a shape that they stand for."""


def in_numbers(formula: str, shape: GPTShape | None, more: Mapping[str, float] | None = None) -> str:
    """Return a formula with its letters replaced by numbers. Every letter of a formula is a symbol of its own.

    Args:
        formula: The formula, in letters.
        shape: The model whose sizes stand for the letters of ``SYMBOLS``; only those that occur are read.
        more: Numbers for further letters.
    """
    found = []
    for letter in formula:
        if more and letter in more:
            found.append(f"{more[letter]:,}")
        elif shape is not None and letter in SYMBOLS:
            found.append(f"{getattr(shape, SYMBOLS[letter]):,}")
        else:
            found.append(letter)
    return "".join(found)
