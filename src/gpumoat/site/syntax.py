"""What a statement's text says: the names it uses, the names it binds, and the objects it may change.

Promises to over-approximate and never to miss: a name inside a lambda counts as used where the lambda
stands; whatever is passed to a call counts as changed by it, save for a short list of built-in functions
and methods that change nothing. Names local to a function or a comprehension never count as the module's.
Left out: what a called function does when it runs. That is read from its code by ``gpumoat.site.execute``.
"""

import ast
from dataclasses import dataclass, field

PURE_FUNCTIONS = frozenset(
    [
        "abs",
        "all",
        "any",
        "bool",
        "dict",
        "divmod",
        "enumerate",
        "filter",
        "float",
        "format",
        "frozenset",
        "int",
        "isinstance",
        "len",
        "list",
        "map",
        "max",
        "min",
        "print",
        "range",
        "repr",
        "reversed",
        "round",
        "set",
        "sorted",
        "str",
        "sum",
        "tuple",
        "type",
        "zip",
    ]
)
"""Built-in functions that change none of their arguments (iterators excepted: they are used up)."""

FRESH = frozenset(
    [
        "abs",
        "all",
        "any",
        "bool",
        "divmod",
        "float",
        "format",
        "int",
        "isinstance",
        "len",
        "print",
        "range",
        "repr",
        "round",
        "str",
        "type",
    ]
)
"""Of these, the ones whose result holds no reference to an argument."""

PURE_METHODS = frozenset(
    [
        "copy",
        "count",
        "endswith",
        "format",
        "get",
        "index",
        "items",
        "join",
        "keys",
        "split",
        "startswith",
        "strip",
        "values",
    ]
)
"""Methods that change nothing on the built-in containers and on text."""


@dataclass
class Names:
    """The names of one statement or expression, as its text shows them.

    Attributes:
        uses: Module names that it reads.
        binds: Module names that it assigns, imports, defines or deletes.
        changes: Module names whose objects it may change in place.
        consumes: Names handed to a function that changes nothing but may use up an iterator.
        stores: Module names that it gave a value when it ran, although its text does not show it.
    """

    uses: set[str] = field(default_factory=set)
    binds: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)
    consumes: set[str] = field(default_factory=set)
    stores: set[str] = field(default_factory=set)


def names_of(node: ast.AST) -> Names:
    """Read the names of a statement or an expression at module level."""
    visitor = _Visitor()
    visitor.visit(node)
    return visitor.names


def escaping(node: ast.AST | None) -> set[str]:
    """Return the names whose objects an expression may hand on, as they are or inside its value."""
    if node is None or isinstance(node, (ast.Constant, ast.JoinedStr)):
        return set()
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FRESH:
        return set()
    if isinstance(node, ast.Lambda):
        return names_of(node).uses
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return names_of(node).uses
    return set().union(*(escaping(child) for child in ast.iter_child_nodes(node)))


def is_pure_call(node: ast.Call) -> bool:
    """Say whether a call's text shows that it changes nothing but iterators."""
    if isinstance(node.func, ast.Name):
        return node.func.id in PURE_FUNCTIONS
    return isinstance(node.func, ast.Attribute) and node.func.attr in PURE_METHODS


class _Visitor(ast.NodeVisitor):
    """Walks a statement, keeping the local names of comprehensions and lambdas apart."""

    def __init__(self) -> None:
        self.names = Names()
        self._locals: list[set[str]] = []
        self._fresh: set[str] = set()  # bound for certain earlier in this very statement: no use of an older value

    def block(self, statements: list[ast.stmt], fresh: set[str] = frozenset()) -> None:  # type: ignore[assignment]
        """Visit statements that run in order, or not at all; what they bind is fresh only among themselves."""
        before = self._fresh
        self._fresh = before | fresh
        for statement in statements:
            self.visit(statement)
            if isinstance(statement, (ast.Assign, ast.AnnAssign)) and not self._locals:
                self._fresh = self._fresh | names_of(statement).binds
        self._fresh = before

    # Names

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            if node.id not in self._fresh and not any(node.id in scope for scope in self._locals):
                self.names.uses.add(node.id)
        elif self._locals:
            self._locals[-1].add(node.id)
        else:
            self.names.binds.add(node.id)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self.names.binds.add(node.target.id)  # a walrus in a comprehension binds the module's name

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        self._changes(node.target)
        if isinstance(node.target, ast.Name):
            self.names.uses.add(node.target.id)
            self.names.binds.add(node.target.id)
        else:
            self.visit(node.target)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._changes(node.value)
        self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._changes(node.value)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        handed = set().union(*(escaping(arg) for arg in [*node.args, *(word.value for word in node.keywords)]))
        if isinstance(node.func, ast.Attribute):
            handed |= escaping(node.func.value)
        elif not isinstance(node.func, ast.Name):
            handed |= escaping(node.func)
        else:
            handed.add(node.func.id)
        target = self.names.consumes if is_pure_call(node) else self.names.changes
        target |= {name for name in handed if not any(name in scope for scope in self._locals)}
        self.generic_visit(node)

    def _changes(self, node: ast.AST) -> None:
        self.names.changes |= {name for name in escaping(node) if not any(name in s for s in self._locals)}

    # Statements with blocks

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.annotation)
        if node.value is not None:  # an annotation alone binds nothing
            self.visit(node.value)
            self.visit(node.target)

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self.visit(node.target)
        self.block(node.body, names_of(node.target).binds)
        self.block(node.orelse)

    def visit_If(self, node: ast.If | ast.While) -> None:
        self.visit(node.test)
        self.block(node.body)
        self.block(node.orelse)

    visit_While = visit_If  # noqa: N815 - the name that NodeVisitor looks for

    # What binds a name without a Name node

    def visit_Import(self, node: ast.Import) -> None:
        self.names.binds |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.names.binds |= {alias.asname or alias.name for alias in node.names}

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.names.binds.add(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name:
            self.names.binds.add(node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name:
            self.names.binds.add(node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.names.binds.add(node.rest)
        self.generic_visit(node)

    # Scopes

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.names.binds.add(node.name)
        for expression in [*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d)]:
            self.visit(expression)
        for decorator in node.decorator_list:
            self.names.changes |= escaping(decorator)
        # The body runs when the function is called, with the globals of that moment.

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - the name that NodeVisitor looks for

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.names.binds.add(node.name)
        for expression in [*node.decorator_list, *node.bases, *(word.value for word in node.keywords)]:
            self.visit(expression)
        inner = _Visitor()
        for statement in node.body:
            inner.visit(statement)
        # The body runs here and now; what it binds are attributes, not module names.
        self.names.uses |= inner.names.uses
        self.names.changes |= inner.names.changes
        self.names.consumes |= inner.names.consumes

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for expression in [*node.args.defaults, *(d for d in node.args.kw_defaults if d)]:
            self.visit(expression)
        arguments = node.args
        names = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        self._locals.append({argument.arg for argument in names if argument})
        self.visit(node.body)
        self._locals.pop()

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        self.visit(node.generators[0].iter)
        self._locals.append(set())
        for index, generator in enumerate(node.generators):
            if index:
                self.visit(generator.iter)
            self.visit(generator.target)
            for condition in generator.ifs:
                self.visit(condition)
        for part in [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]:
            self.visit(part)
        self._locals.pop()

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension  # noqa: N815
