"""Tensors of a model as lists: each with its size in letters and in numbers, and how engines cut and fuse it.

A reader of a family says what its blocks hold, with sizes as formulas such as ``"a × d"``; the sizes in numbers, the
parameters and the text of every formula follow from that one statement, so they cannot disagree. Parameters, bytes
as loaded and bytes on one rank of several are all sums over the same tensors.

Notation: V vocabulary, h hidden, L layers, a query heads, g KV heads, d head dimension, f feed-forward width,
E experts, e experts a token, m width of an expert, s width of the shared expert, P positions; the mixers name theirs.

Promises: whole numbers. Left out: values of the weights, and tensors that a file may hold but a model does not use.
"""

from __future__ import annotations

from dataclasses import dataclass

ROWS, COLUMNS, KV, VOCABULARY, WHOLE = "rows", "columns", "kv", "vocabulary", "whole"
"""How tensor parallelism cuts a matrix: its outputs, its inputs, its KV heads, its vocabulary, or not at all."""

PARTS = (
    "embedding",
    "attention",
    "state space",
    "feed-forward",
    "experts",
    "shared experts",
    "router",
    "norms",
    "head",
    "vision",
    "audio",
)
"""What parameters are counted by, from input to output."""


@dataclass(frozen=True)
class Tensor:
    """One weight, or several equal ones that stand side by side.

    Attributes:
        module: The module that holds it, inside its block, such as ``self_attn.q_proj``.
        part: One of ``PARTS``.
        rows: Outputs of a matrix, or the length of a vector.
        columns: Inputs of a matrix; 0 for a vector.
        copies: How many equal ones there are, such as experts.
        active: How many of them one token uses.
        formula: The parameters of all copies, in letters.
        numbers: The same with this model's numbers.
        active_formula: The parameters that one token uses, in letters.
        active_numbers: The same with this model's numbers.
        split: How tensor parallelism cuts it.
        heads: For a matrix of heads, how many it has: a cut goes between heads.
        fuse: Tensors of one block with the same word are allocated as one.
        linear: Whether it is a matrix that quantisation may replace.
        stored: Its type in a GGUF file, such as ``Q4_K``; empty for others.
    """

    module: str
    part: str
    rows: int
    columns: int
    copies: int
    active: int
    formula: str
    numbers: str
    active_formula: str
    active_numbers: str
    split: str
    heads: int
    fuse: str
    linear: bool
    stored: str = ""

    @property
    def parameters(self) -> int:
        """Parameters of all copies."""
        return self.rows * (self.columns or 1) * self.copies

    @property
    def active_parameters(self) -> int:
        """Parameters that one token uses."""
        return self.rows * (self.columns or 1) * self.active


def evaluate(formula: str, symbols: dict[str, int]) -> int:
    """Return the value of a formula of sums and products, without parentheses, such as ``"i + 2 × G × N"``."""
    total = 0
    for part in formula.split(" + "):
        product = 1
        for factor in part.split(" × "):
            product *= symbols[factor] if factor in symbols else int(factor)
        total += product
    return total


def in_symbols(formula: str, symbols: dict[str, int]) -> str:
    """Return a formula with each of its letters replaced by its number."""
    out = []
    for word in formula.split(" "):
        bare = word.strip("()")
        out.append(word.replace(bare, f"{symbols[bare]:,}") if bare in symbols else word)
    return " ".join(out)


class Block:
    """Collects the tensors of a block.

    Attributes:
        symbols: What the letters of formulas stand for.
        tensors: What was added.
    """

    def __init__(self, symbols: dict[str, int], part: str) -> None:
        self.symbols = symbols
        self.part = part
        self.tensors: list[Tensor] = []

    def matrix(
        self,
        module: str,
        rows: str,
        columns: str,
        split: str = WHOLE,
        fuse: str = "",
        bias: bool = False,
        heads: int = 0,
        copies: str = "",
        active: str = "",
        part: str = "",
        linear: bool = True,
    ) -> None:
        """Add a matrix of ``rows`` outputs and ``columns`` inputs, and its bias if it has one.

        Args:
            module: Where it stands.
            rows: Its outputs as a formula.
            columns: Its inputs as a formula; empty for a vector.
            split: How tensor parallelism cuts it.
            fuse: What it is allocated with.
            bias: Whether a vector of one value for each output is added.
            heads: How many heads it is made of.
            copies: How many equal ones there are, as a formula.
            active: How many of them a token uses, as a formula.
            part: What it is counted under; the block's own part if empty.
            linear: Whether quantisation may replace it.
        """
        self._add(module, rows, columns, split, fuse, heads, copies, active, part, linear and columns != "")
        if bias:
            cut = split if split in (ROWS, KV, VOCABULARY) else WHOLE
            joined = fuse + ".bias" if fuse else ""
            self._add(module + ".bias", rows, "", cut, joined, heads, copies, active, part, False)

    def vector(self, module: str, length: str, part: str = "", split: str = WHOLE, heads: int = 0) -> None:
        """Add a vector, such as the gain of a norm."""
        self._add(module, length, "", split, "", heads, "", "", part, False)

    def _add(
        self,
        module: str,
        rows: str,
        columns: str,
        split: str,
        fuse: str,
        heads: int,
        copies: str,
        active: str,
        part: str,
        linear: bool,
    ) -> None:
        one = _product([rows, columns])
        formula = _product([copies, one])
        used = _product([active or copies, one])
        known = self.symbols
        tensor = Tensor(
            module,
            part or self.part,
            evaluate(rows, known),
            evaluate(columns, known) if columns else 0,
            evaluate(copies, known) if copies else 1,
            evaluate(active or copies, known) if active or copies else 1,
            formula,
            in_symbols(formula, known),
            used,
            in_symbols(used, known),
            split,
            heads,
            fuse,
            linear,
        )
        if tensor.parameters:
            self.tensors.append(tensor)


def _product(factors: list[str]) -> str:
    """Return the product of formulas, with parentheses around sums."""
    found = [f"({factor})" if " + " in factor else factor for factor in factors if factor]
    return " × ".join(found) if found else "1"
