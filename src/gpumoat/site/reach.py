"""What an object can reach: the changeable objects inside it, and the script's own functions.

Two names are entangled when they reach a common changeable object: a change through one is seen through the
other. Frozen dataclasses, catalogue objects, tuples of numbers and text cannot change and tangle nothing.

An object whose class says ``sealed = True`` is not walked at all: the class promises that its answers never change
once it is made, and that it holds nothing that a script could change through another name. The report of a simulated
launch is such a one: it holds every access, far more than a search for changeable objects should look at, and a
search that stops at its limit would let every later statement count as a change of everything.
"""

import dataclasses
import gc
import types
from collections.abc import Iterator
from typing import Any

LIMIT = 5_000
"""Objects looked at before a value counts as reaching everything: slow and safe beats fast and wrong."""

_ATOMS = (int, float, complex, str, bytes, bool, type(None), range, types.ModuleType)


class Reach:
    """The changeable objects and the script's functions that a value reaches.

    Attributes:
        ids: Identities of changeable objects.
        functions: Functions whose code stands in the script.
        iterators: Whether an iterator, which a mere read uses up, or an object of a class of the script,
            which may do anything on a read, is among them.
        whole: Whether the search stopped at its limit, so that anything may be reached.
    """

    def __init__(self) -> None:
        self.ids: set[int] = set()
        self.functions: list[types.FunctionType] = []
        self.iterators = False
        self.whole = False

    def meets(self, other: "Reach") -> bool:
        """Say whether a change through one value may be seen through the other."""
        return self.whole or other.whole or not self.ids.isdisjoint(other.ids)


def reach(value: Any, path: str) -> Reach:
    """Walk a value and return what it reaches; ``path`` is the file of the script."""
    found = Reach()
    seen: set[int] = set()
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, _ATOMS) or id(item) in seen:
            continue
        seen.add(id(item))
        if len(seen) > LIMIT:
            found.whole = True
            break
        todo.extend(_inside(item, path, found))
    return found


def _inside(item: Any, path: str, found: Reach) -> Iterator[Any]:
    """Yield what lies directly inside an object, noting on ``found`` what the object itself is."""
    if isinstance(item, (tuple, frozenset)):
        yield from item
    elif isinstance(item, types.FunctionType):
        if item.__code__.co_filename == path:
            found.functions.append(item)
            for cell in item.__closure__ or ():
                found.ids.add(id(cell))
                with _quiet():
                    yield cell.cell_contents
            yield from item.__defaults__ or ()
            yield from (item.__kwdefaults__ or {}).values()
            if vars(item):  # a function that carries attributes is an object like any other
                found.ids.add(id(item))
            yield from vars(item).values()
    elif isinstance(item, types.BuiltinFunctionType):
        yield item.__self__  # xs.append reaches xs
    elif isinstance(item, type):
        if item.__module__ == "__main__":
            found.ids.add(id(item))
            yield from vars(item).values()
            yield from item.__bases__
    elif isinstance(item, types.MethodType):
        yield from (item.__self__, item.__func__)
    elif isinstance(item, (property, staticmethod, classmethod)):
        for name in ("fget", "fset", "fdel", "__func__"):
            yield getattr(item, name, None)
    elif isinstance(item, types.GeneratorType):
        found.ids.add(id(item))
        found.iterators = True
        if item.gi_frame is not None:
            yield from item.gi_frame.f_locals.values()
    else:
        yield from _inside_instance(item, found)


def _inside_instance(item: Any, found: Reach) -> Iterator[Any]:
    kind = type(item)
    if vars(kind).get("sealed") is True:
        return
    frozen = vars(kind).get("frozen") is True or (dataclasses.is_dataclass(item) and kind.__dataclass_params__.frozen)
    if not frozen:
        found.ids.add(id(item))
    if isinstance(item, dict):
        yield from item.keys()
        yield from item.values()
    elif isinstance(item, (list, set)) or kind.__name__ == "deque":
        yield from item
    else:
        if kind.__module__ == "__main__" or hasattr(kind, "__next__"):
            found.iterators = found.iterators or not frozen
        yield kind
        if kind.__module__ == "builtins" or hasattr(kind, "__next__"):
            yield from gc.get_referents(item)  # map, zip, the views of a dict: they hold what they walk
        if kind.__module__ == "functools" and kind.__name__ == "partial":
            yield from (item.func, item.args, item.keywords)
        yield getattr(item, "__wrapped__", None) if "__wrapped__" in dir(kind) or hasattr(kind, "cache_info") else None
        yield from getattr(item, "__dict__", {}).values()
        for name in getattr(kind, "__slots__", ()):
            with _quiet():
                yield object.__getattribute__(item, name)


class _quiet:  # noqa: N801 - a context, not a thing
    """An empty cell or an unset slot holds nothing to walk."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        return kind is not None and issubclass(kind, (ValueError, AttributeError))
