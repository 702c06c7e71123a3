"""The probes of the execution record: each is checked for the facts and for the lines behind a number."""

import textwrap
from pathlib import Path

import pytest

from gpumoat import facts
from gpumoat.facts import Record, Registry
from gpumoat.site.errors import SiteError
from gpumoat.site.execute import Example, run_example
from gpumoat.site.provenance import ExpressionError, element, origin

VALUES = {"a": 10, "b": 20, "c": 30, "d": 40}


@pytest.fixture(autouse=True)
def small_registry(monkeypatch):
    """Four facts a to d, and three cards with a memory and a price each."""
    small = Registry()
    small.add("sources", {"id": "s"}, "t")
    for id, value in VALUES.items():
        small.add("facts", {"id": id, "value": value, "unit": "", "status": "verified", "source": "s"}, "t")
    for index, card in enumerate(["one", "two", "three"]):
        small.add("subjects", {"id": card, "kind": "gpu", "name": card}, "t")
        row = {"id": f"{card}.memory_bytes", "value": 8 * (index + 1), "unit": "GiB", "status": "quoted"}
        small.add("facts", row, "t")
        small.add("facts", {"id": f"{card}.price_usd", "value": 100 + index, "unit": "USD"}, "t")
    small.add("claims", {"id": "said", "value": 99, "unit": "", "verdict": "wrong"}, "t")
    monkeypatch.setattr(facts, "_registry", small)


@pytest.fixture
def run(tmp_path):
    def run(source: str) -> Example:
        path = tmp_path / "example.py"
        path.write_text("from gpumoat import assume, claim, fact, gpu, measured\n" + textwrap.dedent(source).lstrip())
        return run_example(path)

    return run


def ids(found) -> set[str]:
    return {read.id for read in found.reads}


# Each probe: a script (line 1 is the import), the expression, the facts and the lines behind it.
PROBES = {
    "append": ("xs = []\nd = fact('a')\nxs.append(d)\nn = len(xs) + sum(xs)", "n", {"a"}, {2, 3, 4, 5}),
    "item": ("d = {}\nv = fact('a')\nd['k'] = v\nn = d['k'] + 1", "n", {"a"}, {2, 3, 4, 5}),
    "attribute": (
        "class A: pass\na = A()\nv = fact('a')\na.x = v\nn = a.x * 2",
        "n",
        {"a"},
        {2, 3, 4, 5, 6},
    ),
    "alias": ("xs = [1]\nys = xs\nys += [fact('a')]\nn = sum(xs)", "n", {"a"}, {2, 3, 4, 5}),
    "rebound": ("k = fact('a')\ndef f(): return k * 2\nk = fact('b')\nn = f()", "n", {"b"}, {3, 4, 5}),
    "cache": (
        "from functools import lru_cache\n@lru_cache\ndef f(): return fact('a')\nx = f()\ny = f() + 1",
        "y",
        {"a"},
        {3, 4, 5, 6},
    ),
    "local": ("k = fact('a')\ndef f(x):\n    k = x + 1\n    return k\nn = f(fact('b'))", "n", {"b"}, {3, 4, 5, 6}),
    "comprehension": ("i = fact('a')\nn = sum([i * 2 for i in [fact('b')]])", "n", {"b"}, {3}),
    "rows": ("m = [gpu(i).memory_bytes for i in ['one', 'two']]", "m[1]", {"two.memory_bytes"}, {2}),
    # More of the same kind, each a way in which a plain record of names would miss something.
    "nested alias": ("a = []\nb = [a]\nb[0].append(fact('a'))\nn = len(a)", "n", {"a"}, {2, 3, 4, 5}),
    "closure": (
        "def make():\n    xs = []\n    def add(v):\n        xs.append(v)\n        return sum(xs)\n    return add\n"
        "add = make()\nadd(fact('a'))\nn = add(1)",
        "n",
        {"a"},
        {2, 3, 4, 5, 6, 7, 8, 9, 10},
    ),
    "global statement": (
        "t = 0\ndef f(v):\n    global t\n    t += v\nf(fact('a'))\nn = t * 2",
        "n",
        {"a"},
        {2, 3, 4, 5, 6, 7},
    ),
    "iterator": ("it = iter([fact('a'), fact('b')])\nx = next(it)\ny = next(it) + 1", "y", {"a", "b"}, {2, 3, 4}),
    "used up": ("g = (fact(i) for i in 'ab')\nt = sum(g)\nn = len(list(g)) + 1", "n", {"a", "b"}, {2, 3, 4}),
    "walrus": ("xs = [(y := fact(i)) for i in 'ab']\nn = y + 1", "n", {"a", "b"}, {2, 3}),
    "branch": ("x = fact('a')\nif x > 5:\n    x = fact('b')\nn = x + 1", "n", {"a", "b"}, {2, 3, 4, 5}),
    "lambda": ("k = fact('a')\nf = lambda v: v * k\nn = f(2)", "n", {"a"}, {2, 3, 4}),
    "method": (
        "class Sum:\n    def __init__(self): self.t = 0\n    def add(self, v): self.t += v\n"
        "s = Sum()\ns.add(fact('a'))\nn = s.t + 1",
        "n",
        {"a"},
        {2, 3, 4, 5, 6, 7},
    ),
    "partial": (
        "from functools import partial\ndef f(x, y): return x * k + y\nk = fact('a')\ng = partial(f, 2)\nn = g(1)",
        "n",
        {"a"},
        {3, 4, 5, 6},
    ),
    "unrelated": ("x = fact('a')\ny = fact('b')\nprint(x, y)\nn = x + 1", "n", {"a"}, {2, 5}),
    "tuple": ("x, y = fact('a'), fact('b')\nn = y + 1", "n", {"a", "b"}, {2, 3}),
    "printing changes nothing": ("xs = [fact('a')]\nprint(len(xs), f'{xs}')\nn = sum(xs)", "n", {"a"}, {2, 4}),
    "guard block": (
        "n = 0\nif __name__ == '__main__':\n    x = fact('a')\n    n = x + 1",
        "n",
        {"a"},
        {2, 3, 4, 5},
    ),
    "output argument": (
        "def fill(v, out):\n    out.append(v)\nxs = []\nfill(fact('a'), out=xs)\nn = sum(xs)",
        "n",
        {"a"},
        {2, 3, 4, 5, 6},
    ),
}


@pytest.mark.parametrize("name", PROBES)
def test_probe(run, name):
    source, expression, reads, lines = PROBES[name]
    found = origin(run(source), expression)
    assert ids(found) == reads
    assert set(found.lines) == lines


ROWS = """
total = 100
rows = []
for name in ["one", "two", "three"]:
    card = gpu(name)
    rows.append({"name": name, "memory_bytes": card.memory_bytes, "cards": total // card.memory_bytes, "fixed": total})
table = {name: gpu(name).price_usd for name in ["one", "two"]}
nested = []
for name in ["one", "two"]:
    memory = gpu(name).memory_bytes
    for price in [gpu(name).price_usd]:
        nested.append({"ratio": memory / price})
running = []
so_far = 0
for name in ["one", "two", "three"]:
    so_far = so_far + gpu(name).memory_bytes
    running.append({"sum_bytes": so_far})
by_price = sorted(rows, key=lambda row: -row["memory_bytes"])
"""


class TestRows:
    def test_a_cell_rests_on_its_row_alone(self, run):
        example = run(ROWS)
        for index, name in enumerate(["one", "two", "three"]):
            assert ids(element(example, "rows", index, "cards")) == {f"{name}.memory_bytes"}
        assert ids(element(example, "table", "two", None)) == {"two.price_usd"}

    def test_a_bare_cell_keeps_its_kind(self, run):
        example = run(ROWS)
        assert element(example, "rows", 0, "memory_bytes").kind == "cited"
        assert element(example, "rows", 0, "cards").kind == "computed"
        assert element(example, "table", "one", None).kind == "cited"

    def test_an_inner_turn_knows_the_outer_one(self, run):
        assert ids(element(run(ROWS), "nested", 1, "ratio")) == {"two.memory_bytes", "two.price_usd"}

    def test_a_running_sum_rests_on_every_turn_before(self, run):
        example = run(ROWS)
        assert ids(element(example, "running", 0, "sum_bytes")) == {"one.memory_bytes"}
        assert ids(element(example, "running", 1, "sum_bytes")) == {"one.memory_bytes", "two.memory_bytes"}

    def test_a_sorted_copy_is_no_narrower_than_the_truth(self, run):
        assert "three.memory_bytes" in ids(element(run(ROWS), "by_price", 0, "cards"))

    def test_sorting_in_place_keeps_each_row_its_own(self, run):
        example = run(ROWS + "rows.reverse()\n")
        assert "three.memory_bytes" in ids(element(example, "rows", 0, "cards"))

    def test_equal_numbers_are_told_apart_by_place(self, run):
        example = run("m = [gpu(i).memory_bytes // gpu(i).memory_bytes for i in ['one', 'two']]")
        assert ids(origin(example, "m[0]")) == {"one.memory_bytes"}


KINDS = {
    "cited": "n = fact('a')",
    "assumed": "n = assume(5, 'the picture of the problem')",
    "claimed": "n = claim('said')",
    "computed": "n = fact('a') + 1",
}


class TestKind:
    @pytest.mark.parametrize("kind", KINDS)
    def test_bare_reads_keep_their_kind(self, run, kind):
        assert origin(run(KINDS[kind]), "n").kind == kind

    @pytest.mark.parametrize("source", ["m = fact('a')\nn = m", "n, m = fact('a'), fact('b')", "n: int = fact('a')"])
    def test_a_second_name_changes_nothing(self, run, source):
        found = origin(run(source), "n")
        assert (found.kind, ids(found)) == ("cited", {"a"})

    @pytest.mark.parametrize("source", ["n = int(fact('a'))", "n = fact('a')\nn = n * 1", "n = -fact('a')", "n = 10"])
    def test_anything_done_makes_it_computed(self, run, source):
        assert origin(run(source), "n").kind == "computed"

    def test_a_catalogue_field_is_cited(self, run):
        example = run("card = gpu('one')\nn = card.memory_bytes")
        assert origin(example, "n").kind == "cited"
        assert origin(example, "card.memory_bytes").kind == "cited"
        assert origin(example, "fact('a')").kind == "cited"

    def test_marks_say_what_the_arithmetic_rests_on(self, run):
        example = run("n = assume(2, 'a guess') * claim('said') * gpu('one').memory_bytes")
        marks = origin(example, "n").marks
        assert marks == ["rests on an assumption", "rests on a claim under examination", "rests on a quoted source"]


class TestExpressions:
    @pytest.mark.parametrize(
        "text",
        ["a + 1", "(a := 1)", "lambda: 1", "f(x)", "a if b else c", "[a]", "a.b()", "x[f(1)]", "x[1 + 1]", "1", "a, b"],
    )
    def test_arithmetic_belongs_in_the_script(self, run, text):
        with pytest.raises(ExpressionError):
            origin(run("a = b = c = x = 1"), text)

    def test_an_unknown_name_is_no_blank(self, run):
        with pytest.raises(ExpressionError, match="no 'weights_gib': it has weights_bytes"):
            origin(run("weights_bytes = 1"), "weights_gib")

    def test_an_unknown_fact_is_no_blank(self, run):
        with pytest.raises(ExpressionError, match="no fact 'zzz'"):
            origin(run("a = 1"), "fact('zzz')")


class TestRunning:
    def test_the_script_sees_what_it_sees_alone(self, run):
        example = run(
            """
            import dataclasses, inspect, sys
            @dataclasses.dataclass
            class Point:
                x: "int" = 0
            assert __name__ == "__main__"
            assert sys.modules["__main__"].__dict__ is globals()
            source = inspect.getsource(Point)
            assert __file__.endswith("example.py")
            print("done")
            """
        )
        assert example.output == "done\n"
        assert "class Point" in example.namespace["source"]

    def test_future_flags_reach_every_statement(self, tmp_path):
        path = tmp_path / "flags.py"
        path.write_text("from __future__ import annotations\ndef f(x: nowhere) -> never: return 1\nn = f(1)\n")
        assert run_example(path).namespace["n"] == 1

    @pytest.mark.parametrize(
        ("source", "line", "words"),
        [
            ("x = 1\ny = x / 0\n", 3, "ZeroDivisionError"),
            ("def f():\n    return 1 / 0\n\nf()\n", 3, "ZeroDivisionError"),
            ("for i in [1, 0]:\n    x = 1 / i\n", 3, "ZeroDivisionError"),
            ("x = [1 / i for i in [0]]\n", 2, "ZeroDivisionError"),
            ("x = (\n", 2, "does not parse"),
            ("import sys\nsys.exit(3)\n", 3, "exits with 3"),
            ("x = fact('zzz')\n", 2, "no fact 'zzz'"),
        ],
    )
    def test_a_failing_script_names_its_line(self, run, source, line, words):
        with pytest.raises(SiteError, match=words) as caught:
            run(source)
        assert caught.value.line == line

    def test_a_missing_script_is_one_clear_line(self, tmp_path):
        with pytest.raises(SiteError, match="no such example"):
            run_example(Path(tmp_path / "nowhere.py"))

    def test_what_the_record_adds_is_not_seen(self, run):
        example = run("xs = [i for i in range(2)]\nd = {i: i for i in range(2)}\nfor j in range(2): pass\nn = sorted(globals())")
        assert not [name for name in example.namespace["n"] if "moat" in name]
        assert example.namespace["d"] == {0: 0, 1: 1}
