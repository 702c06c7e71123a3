"""The record of turns: which turn of a loop, or which written-out field, read what and made which element.

A table's cell rests on its own row and not on the whole loop; these records keep the rows apart. They say nothing of
how a script is run (``gpumoat.site.execute``) or how its code is changed to be watched (``gpumoat.site.watch``).
"""

import ast
from dataclasses import dataclass, field
from typing import Any

from gpumoat.facts import Read


@dataclass
class Scope:
    """One turn of a top-level loop or comprehension.

    Attributes:
        statement: Index of the statement that it is part of.
        parent: The turn of the loop around it, if any.
        reads: What was read in this turn, inner turns included.
        group: What it shares with the other turns of its loop, or with the other fields of its record.
        carried: Earlier turns whose work this turn builds on.
        uses: Module names that what was made here rests on, or None where that is the whole statement's.
        node: The expression written out for this element or field, if there is one.
        alone: Whether that expression's lines are all that made it; in a loop the whole loop did.
    """

    statement: int
    parent: "Scope | None" = None
    reads: list[Read] = field(default_factory=list)
    group: object = None
    carried: "list[Scope]" = field(default_factory=list)
    children: "list[Scope]" = field(default_factory=list)
    uses: set[str] | None = None
    node: ast.expr | None = None
    alone: bool = False

    def within(self, other: "Scope") -> bool:
        """Say whether this turn happened inside another one."""
        outer = self.parent
        while outer is not None and outer is not other:
            outer = outer.parent
        return outer is other

    def provenance(self) -> list[Read]:
        """Return everything that a row made in this turn rests on."""
        found = list(self.reads)
        for earlier in self.carried:
            found += earlier.reads
        inner = self
        while inner.parent is not None:
            outer = inner.parent
            found += besides(outer.reads, outer.children, inner)
            for earlier in outer.carried:
                found += earlier.reads
            inner = outer
        return found


def besides(reads: list[Read], scopes: list[Scope], own: Scope) -> list[Read]:
    """Return the reads that happened in no sibling of a turn: those of another loop beside it may have fed it."""
    siblings = [scope for scope in scopes if scope.group is own.group and scope is not own]
    skip = {id(read) for scope in siblings for read in scope.reads}
    return [read for read in reads if id(read) not in skip]


@dataclass
class Rows:
    """Which turn made which element of a list or which value of a dict."""

    container: Any
    made: dict[Any, tuple[Any, Scope]] = field(default_factory=dict)
