"""Shapes of models in the catalogue: the step from sourced facts to the formulas.

A size is read when a formula asks for it and not before, so that a number rests on the sizes that made it: the
parameters of attention on the width, and not on the vocabulary.
"""

from __future__ import annotations

from gpumoat.hardware import Subject, model
from gpumoat.llm.gpt import GPTShape


class CatalogueShape:
    """The shape of a GPT-style model whose sizes are facts of the catalogue; it can stand for a `GPTShape`.

    Attributes:
        subject: The model in the catalogue.
        biases: Whether matrices and LayerNorms have a bias vector.
        tied_head: Whether the head reuses the token embedding, as in GPT-2 and GPT-3.
    """

    frozen = True  # a call that is handed it cannot change it

    def __init__(self, subject: Subject, biases: bool = True) -> None:
        self.subject = subject
        self.biases = biases
        self.tied_head = True

    def __getattr__(self, name: str) -> int:
        # Called only for what is no plain attribute: a size.
        if name in ("hidden", "layers", "heads", "vocabulary", "positions"):
            return int(getattr(self.subject, name))
        if name == "head_dim":
            return self.hidden // self.heads
        if name == "feed_forward":
            return int(self.subject.feed_forward_ratio * self.hidden)
        raise AttributeError(f"a shape has no {name!r}")

    def without_biases(self) -> CatalogueShape:
        """Return the same shape with matrices only: no bias vectors."""
        return CatalogueShape(self.subject, False)


def gpt_shape(id: str) -> GPTShape:
    """Return the shape of a GPT-style model of the catalogue, such as ``"gpt3"``; every size is a cited fact.

    Raises:
        DataError: The catalogue has no such model.
        AttributeError: The catalogue lacks the size that a formula asks for.
    """
    return CatalogueShape(model(id))  # type: ignore[return-value]
