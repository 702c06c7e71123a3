"""Changing a script's statements so that they tell what each turn, element and field did.

Loops, comprehensions, written-out lists and records at module level get calls to the running example around them;
what runs inside a function belongs to the statement that calls it. The changed code computes what the written code
computes. Left out: what the calls record (``gpumoat.site.execute`` and ``gpumoat.site.turns``).
"""

import ast
import copy
import types
from typing import TYPE_CHECKING

from gpumoat.site.syntax import escaping, names_of

if TYPE_CHECKING:
    from gpumoat.site.execute import Example


class Watch(ast.NodeTransformer):
    """Put the record of turns around the loops, comprehensions, lists and records written at module level."""

    def __init__(self, example: "Example", statement: ast.stmt) -> None:
        self.example = example
        # In a block, what a record rests on may be made in the very same statement.
        self._block = isinstance(statement, (ast.If, ast.While, ast.Try, ast.TryStar, ast.With, ast.Match))
        self._loop: ast.For | None = None
        self._carried = False
        self._local: list[set[str]] = []  # names of comprehensions

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Leave a function alone: what runs inside it belongs to the statement that calls it."""
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        """Leave a function alone."""
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Leave a class alone."""
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """Leave a function alone."""
        return node

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        """Leave a generator alone: it runs when somebody asks, perhaps in another statement."""
        return node

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        """Leave a set alone: its elements have no places."""
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        """Give each turn of a loop a record of its own."""
        carried = self.example.carried(list(node.body), names_of(node.target).binds)
        outer = self._loop, self._carried
        self._loop, self._carried = self._loop or copy.deepcopy(node), self._carried or carried
        self.generic_visit(node)
        self._loop, self._carried = outer
        node.iter = _call("__moat_turns__", node.iter, ast.Constant(carried), ast.Constant(True))
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """Note each element of a written-out list."""
        if isinstance(node.value, ast.List) and not any(
            isinstance(part, (ast.Starred, ast.NamedExpr)) for part in ast.walk(node.value)
        ):
            elements = node.value
            places = [ast.Constant(index) for index in range(len(elements.elts))]
            elements.elts = self._all_noted(places, elements.elts)
            node.value = ast.copy_location(_call("__moat_record__", _call("__moat_start__"), elements), elements)
        else:
            self.generic_visit(node)
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        """Note each field of a written-out record."""
        if not all(isinstance(key, ast.Constant) and isinstance(key.value, str) for key in node.keys):
            return self.generic_visit(node)
        if any(isinstance(part, ast.NamedExpr) for part in ast.walk(node)):
            return node
        keys = [ast.Constant(key.value) for key in node.keys if isinstance(key, ast.Constant)]
        node.values = self._all_noted(keys, node.values)
        return ast.copy_location(_call("__moat_record__", _call("__moat_start__"), node), node)

    def _all_noted(self, keys: list[ast.Constant], values: list[ast.expr]) -> list[ast.expr]:
        """Wrap all elements or fields; where one may change what the next one reads, none of them."""
        own = set().union(*self._local) | (names_of(self._loop).binds if self._loop else set())
        harmless = {name for name in own if not any(self._may_change(value, name) for value in values)}
        if self.example.carried(list(values), harmless):
            return [self.visit(value) for value in values]
        return [self._noted(key, value) for key, value in zip(keys, values, strict=True)]

    def _may_change(self, value: ast.expr, name: str) -> bool:
        """Say whether an expression hands a name of a loop to anything but a function of the package."""
        for call in (part for part in ast.walk(value) if isinstance(part, ast.Call)):
            names = names_of(call.func)
            for argument in [*call.args, *(word.value for word in call.keywords)]:
                names.changes |= escaping(argument)
            if name in names.changes | names.uses and name in names_of(call).changes and not self._is_ours(call.func):
                return True
        return False

    def _is_ours(self, node: ast.expr) -> bool:
        """Say whether a called name, or a name in a module, is the package's: its functions change no argument."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = self.example.namespace.get(node.value.id)
            target = getattr(module, node.attr, None) if isinstance(module, types.ModuleType) else None
        else:
            target = self.example.namespace.get(node.id) if isinstance(node, ast.Name) else None
        return str(getattr(target, "__module__", "")).split(".")[0] == "gpumoat"

    def _noted(self, key: ast.Constant, value: ast.expr) -> ast.expr:
        """Wrap one element or field so that what it reads, and which names it rests on, are kept apart."""
        place = ast.Constant(len(self.example.places))
        alone = not self._loop and not self._local and not self._block
        self.example.places.append((copy.deepcopy(value), self._rests_on(value), alone))
        return ast.copy_location(_call("__moat_out__", _call("__moat_in__", place), key, self.visit(value)), value)

    def _rests_on(self, value: ast.expr) -> set[str] | None:
        """Return the module names that an expression rests on, through names that the loop around it binds.

        None means the whole statement: in a loop whose turns build on each other, or in a block, nothing smaller
        is safe.
        """
        uses = set(names_of(value).uses)
        if self._carried or self._block or uses & set().union(*self._local):
            return None
        if self._loop is None:
            return uses
        todo, seen = list(uses), set(uses)
        while todo:
            name = todo.pop()
            for part in [*self._loop.body, self._loop.target]:
                names = names_of(part)
                # The simple statement that holds the expression changes what it is handed only afterwards.
                own = isinstance(part, ast.Expr) and part.lineno <= value.lineno <= (part.end_lineno or 0)
                if name in names.binds | (set() if own else names.changes):
                    more = names.uses | (names_of(self._loop.iter).uses if part is self._loop.target else set())
                    todo += sorted(more - seen)
                    seen |= more
        return seen

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        """Note which turn made which element."""
        self._turn(node, [node.elt])
        node.elt = self._inside(node, node.elt)
        node.elt = _call("__moat_row__", ast.Constant(None), node.elt)
        return ast.copy_location(_call("__moat_rows__", _call("__moat_start__"), node), node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        """Note which turn made the value of which key."""
        if any(isinstance(part, ast.NamedExpr) for part in ast.walk(node)):
            return node
        self._turn(node, [node.key, node.value])
        node.value = self._inside(node, node.value)
        # The key is computed once: it is needed as it is and as the place of the row.
        key = ast.Name("__moat_key__", ast.Load())
        bound = ast.comprehension(ast.Name("__moat_key__", ast.Store()), ast.List([node.key], ast.Load()), [], 0)
        node.generators.append(bound)
        node.key, node.value = key, _call("__moat_row__", key, node.value)
        return ast.copy_location(_call("__moat_rows__", _call("__moat_start__"), node), node)

    def _inside(self, node: ast.ListComp | ast.DictComp, part: ast.expr) -> ast.expr:
        """Visit what a comprehension makes, knowing which names are its own."""
        self._local.append(set().union(*(names_of(generator.target).binds for generator in node.generators)))
        visited: ast.expr = self.visit(part)
        self._local.pop()
        return visited

    def _turn(self, node: ast.ListComp | ast.DictComp, parts: list[ast.AST]) -> None:
        conditions = [condition for generator in node.generators for condition in generator.ifs]
        targets = set().union(*(names_of(generator.target).binds for generator in node.generators))
        carried = self.example.carried([*conditions, *parts], targets)
        first = node.generators[0]
        first.iter = _call("__moat_turns__", first.iter, ast.Constant(carried), ast.Constant(False))


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])
