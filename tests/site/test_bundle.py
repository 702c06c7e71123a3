"""The models run on MicroPython and answer as they do on CPython; what cannot run there is refused."""

import importlib.util
import json
import shutil
import subprocess
from pathlib import Path

import pytest

import gpumoat
from gpumoat.facts import registry
from gpumoat.site.bundle import BundleError, bundle, for_micropython

ROOT = Path(__file__).parents[2]
MICROPYTHON = ROOT / "tests" / "micropython"
NODE = shutil.which("node")
PACKAGE = Path(gpumoat.__file__).parent
MODELS = ["__init__.py", "units.py", "facts.py", "hardware.py", "partition.py"]
MODELS += ["lithography.py", "coalescing.py", "occupancy.py", "dates.py"]
MODELS += ["llm/__init__.py", "llm/catalogue.py", "llm/gpt.py", "llm/memory.py", "llm/capacity.py"]
MODELS += ["cloud.py", "prices.py"]

needs_micropython = pytest.mark.skipif(
    NODE is None or not (MICROPYTHON / "node_modules").is_dir(),
    reason="no node, or no MicroPython: run npm ci in tests/micropython",
)

# In the browser the registry comes from JSON, because MicroPython reads no TOML.
BROWSER_SETUP = """
import json
from gpumoat import facts
facts._registry = facts.Registry()
with open("/registry.json") as stream:
    for table, rows in json.load(stream).items():
        for row in rows:
            facts._registry.add(table, row, "registry.json")
"""

SETUP = """
from gpumoat import assume, fact, model
from gpumoat import lithography as litho
from gpumoat.facts import recording
from gpumoat.llm import *
from gpumoat.llm.gpt import in_numbers
from gpumoat.partition import *
from gpumoat.coalescing import *
from gpumoat.occupancy import limits, residency
from gpumoat.dates import *
from gpumoat.units import dtype_bytes, format_value
gpt2 = GPTShape(768, 12, 12, 50257, 1024)
gpt3 = GPTShape(12288, 96, 96, 50257, 2048)
wide = GPTShape(64, 2, 4, 100, 32, feed_forward=100, head_dim=24, biases=False, tied_head=False)
image = Strips(600_000_000, 16_384, after=1)
few = Strips(10, 7, before=2, after=1, balanced=True)
tiles = Tiles(1000, 700, 32, 16, halo=2)
"""

SETUP += """
from gpumoat import cloud
from gpumoat.prices import day_number, latest, prices
own = cloud.Ownership(30000, 0.1, 60, 0.09, 1000, 250, 1.5, 2.5e-8, 1200, 0.18, 100, 0.02)
"""

EXPRESSIONS = [
    # dates
    "[span('2014-09-07'), span('2016-02'), span('1900'), years_between('2007', '2017-03-14')]",
    "spread_years('2016-04', '2018-11')",
    "span('2015-02-29')",
    # own or rent
    "cloud.parts(own), cloud.totals(own), cloud.own_usd_per_hour(own, 300)",
    "[cloud.break_even_hours(own, rent) for rent in (0.01, 1, 4)], own.changed(purchase_usd=1, pue_ratio=2)",
    "cloud.flip_value(own, 'purchase_usd', 4, 300, 0, 100000)",
    "cloud.flip_value(own, 'lifetime_months', 4, 300, 36, 84)",
    "own.changed(price=1)",
    "cloud.own_usd_per_hour(own.changed(lifetime_months=0), 300)",
    "[(offer.id, offer.usd_per_hour) for offer in latest(prices('h100-sxm', 'on-demand', days=50))]",
    "prices('h100')",
    "day_number('2026-11-30') - day_number('2024-02-29'), day_number('2026')",
    # partition
    "image.chunk, image.slots, image.last_elements, image.idle_workers, image.used_share",
    "image.reads(1).one_based, image.writes(16_383), list(image.reads(16_383))",
    "[(few.writes(i), few.reads(i)) for i in range(7)], few.busy_workers, few.used_share",
    "few == Strips(10, 7, 2, 1, True), few != Strips(10, 7), few == 1, {few: 1}[Strips(10, 7, 2, 1, True)]",
    "repr(few), repr(Range(1, 2))",
    "image.writes(16_384)",
    "Strips(0, 4)",
    "Strips(5, 2.0)",
    "tiles.tasks, tiles.used_share, tiles.read_elements, tiles.read_ratio, tiles.reads(31, 43)",
    "[Waves(589_824, cards * 16_384).used_share for cards in (1, 36, 100)]",
    "check_partition(10, [(0, 4), (3, 7), (8, 12)], [(0, 6), (3, 9), (9, 12)], after=1)",
    "str(check_partition(10, [(0, 4), (3, 7), (8, 12)], [(0, 6), (3, 9), (9, 12)], after=1))",
    "str(check_partition(600_000_000, [(i * 36_621, i * 36_621 + 36_621) for i in range(16_384)]))",
    "check_partition(10, [(4, 3)])",
    # coalescing
    "[warp_traffic(image, order, 1, 32, 32, shift) for order in ORDERS for shift in (0, 1, -2)]",
    "warp_traffic(few, 'strip', 3, 4, 8).sectors_per_request, warp_traffic(few, 'grid-stride', 3, 4, 8).used_share",
    "warp_traffic(few, 'rows', 3, 4, 8)",
    # occupancy
    "limits('sm_90'), [residency(limits('sm_89'), *each).blocks for each in ((320, 37), (1024, 65), (64, 16, 5000))]",
    "residency(limits('sm_100'), 256, 64, 49152), residency(limits('sm_100'), 256, 64, 49152).limit",
    "residency(limits('sm_90'), 0, 1)",
    "limits('sm_70')",
    # parameters
    "[parameters(shape) for shape in (gpt2, gpt3, wide)], layer_parameters(gpt3), gpt3, wide",
    "parameters_by_part(gpt3), parameters_by_part(wide)",
    "attention_parameters(gpt3) - attention_parameters(gpt3.without_biases())",
    "GPTShape(100, 2, 3, 10, 10)",
    "GPTShape(100, 0, 5, 10, 10)",
    "GPTShape(100, '2', 5, 10, 10)",
    # facts
    "gpt_shape('gpt3') == gpt3, fact('gpt3.layers'), model('gpt3').hidden",
    "assume(2, '')",
    "fact('gpt3.colour')",
    # memory and cards
    "inference_terms(gpt3, 2048, dtype='fp32'), inference_terms(gpt3, 100, 7, 'int4', 'fp8')",
    "training_terms(parameters(gpt3)), full_precision_terms(parameters(gpt3))",
    "total_bytes(training_terms(parameters(gpt3))), total_bytes(inference_terms(gpt3, 2048, dtype='int4'))",
    "[activation_terms(gpt3, 2048, 4, how) for how in ('none', 'selective', 'full')]",
    "activation_terms(wide, 8)",
    "activation_terms(gpt3, 8, recompute='some')",
    "kv_cache_bytes(gpt3, 2049)",
    "[cards_needed(698417037312 * 4, memory * share) for memory in (24e9, 80e9, 141e9) for share in (0.9, 1, 0.77)]",
    "cards_needed(10**30 + 1, 10), cards_needed(3 * 0.1, 0.1), used_share(10, 4)",
    "cards_needed(0, 1)",
    "cards_needed(1.0, float('inf'))",
    # lithography
    "litho.resolution_m(13.5e-9, 0.33, 0.32), litho.depth_of_focus_m(13.5e-9, 0.55), litho.photon_energy_j(13.5e-9)",
    "litho.mirrors_share(0.7, 11), litho.source_power_w(21500, 0.06, 0.2), litho.chain_share(0.5, 0.25)",
    "litho.implied_power_w(0.082368, 200, 170 / 3600, 300, 135 / 3600), litho.implied_overhead_s(16, 0.0375)",
    "[litho.dies_on_wafer(width / 1000, 814 / width / 1000, 0.3, 0.003, 0.0001) for width in (24.67, 25.4, 26)]",
    "[litho.dies_on_wafer(*sides) for sides in ((3, 4, 10), (6, 8, 10), (6.001, 8, 10))]",
    "round(litho.dies_less_edge(814e-6, 0.3), 9), round(litho.dies_ferris_prabhu(814e-6, 0.3), 9)",
    "[round(litho.yield_share(1e-4, 8000, name), 12) for name in ('poisson', 'murphy', 'seeds')]",
    "round(litho.yield_share(1e-4, 8000, 'negative-binomial', 2), 12), litho.good_dies(60, 0.5)",
    # units
    "format_value(698417037312, ',.1f GiB', 'weights_bytes'), format_value(698417037312, ',d', 'weights_bytes')",
    "format_value(0.36, '.1f', 'used_share'), format_value(3.35e12, '.2f TB/s', 'bandwidth_bytes_per_s')",
    "format_value(2.5, '.1f', 'speedup_ratio'), format_value(1.5, '.0f', 'speedup_ratio')",
    "format_value(1, '.1', 'weights_flop')",
]


def ask_micropython(files, setup, expressions):
    """Return the answers of MicroPython, or what went wrong."""
    asked = json.dumps({"files": files, "setup": setup, "expressions": expressions})
    done = subprocess.run(
        [NODE, "run.mjs"], input=asked, capture_output=True, encoding="utf-8", cwd=MICROPYTHON, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def answers_file():
    spec = importlib.util.spec_from_file_location("answers", MICROPYTHON / "answers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def files():
    tables = ("sources", "subjects", "facts", "claims", "measurements")
    rows = {table: [record.row for record in getattr(registry(), table).values()] for table in tables}
    return bundle(PACKAGE, MODELS) | {
        "answers.py": (MICROPYTHON / "answers.py").read_text(encoding="utf-8"),
        "registry.json": json.dumps(rows, default=str),
    }


@needs_micropython
def test_micropython_answers_as_cpython(files, answers_file):
    here = answers_file.answers(SETUP, EXPRESSIONS)
    there = ask_micropython(files, BROWSER_SETUP + SETUP, EXPRESSIONS)
    assert dict(zip(EXPRESSIONS, there, strict=True)) == dict(zip(EXPRESSIONS, here, strict=True))


@needs_micropython
def test_comparison_sees_a_wrong_answer(files, answers_file):
    """The planted fault: one digit in the bundle's copy of a formula."""
    planted = files["gpumoat/llm/gpt.py"].replace("matrices = 4 *", "matrices = 3 *")
    assert planted != files["gpumoat/llm/gpt.py"]
    there = ask_micropython({**files, "gpumoat/llm/gpt.py": planted}, BROWSER_SETUP + SETUP, EXPRESSIONS)
    here = answers_file.answers(SETUP, EXPRESSIONS)
    wrong = [ask for ask, a, b in zip(EXPRESSIONS, here, there, strict=True) if a != b]
    assert "attention_parameters(gpt3) - attention_parameters(gpt3.without_biases())" not in wrong
    assert "parameters_by_part(gpt3), parameters_by_part(wide)" in wrong


DIFFERENT = ["[letter for letter in {'b': 1, 'a': 2, 'd': 3, 'c': 4}]", "f'{12345.6:,.1f}'"]


@needs_micropython
def test_known_differences_are_still_there(files, answers_file):
    """What the module's docstring says that no transformation mends."""
    here, there = answers_file.answers("", DIFFERENT), ask_micropython(files, "", DIFFERENT)
    assert here == ["['b', 'a', 'd', 'c']", "'12,345.6'"]
    assert all(a != b for a, b in zip(here, there, strict=True))


def test_expected_errors_are_expected_ones(answers_file):
    """An expression that fails alike on both sides would pass the comparison: only our own messages are meant."""
    found = answers_file.answers(SETUP, EXPRESSIONS)
    failed = [answer for answer in found if "Error: " in answer]
    assert len(failed) == 23
    assert all(answer.startswith(("ValueError: ", "UnitError: ", "DataError: ", "DateError: ")) for answer in failed)


def test_a_float_is_written_to_the_last_bit(answers_file):
    assert answers_file.text(0.1 + 0.2) != answers_file.text(0.3)
    assert answers_file.text((1, [True, None, "a"], {"b": 1})) == "[1, [True, None, 'a'], {'b': 1}]"


DATACLASS = '''
from __future__ import annotations
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
import math

if TYPE_CHECKING:
    from decimal import Decimal

@dataclass(frozen=True)
class Point:
    """A point."""
    x: float
    y: float = 2
    def __post_init__(self) -> None:
        object.__setattr__(self, "x", self.x + 1)
    def away(self, other: Decimal | Sequence[int]) -> float:
        step: float = math.sqrt(self.x)
        unset: int
        return step

@dataclass
class Shown:
    a: int
    def __repr__(self) -> str:
        return "shown"

class Plain:
    only: int
'''


def run(source):
    names = {}
    exec(for_micropython(source, "m.py"), names)
    return names


def test_dataclass_becomes_the_class_it_stands_for():
    names = run(DATACLASS)
    point = names["Point"](3)
    assert (point.x, point.y, repr(point)) == (4, 2, "Point(x=4, y=2)")
    assert point == names["Point"](3, y=2)
    assert point != names["Point"](4)
    assert point != (4, 2)
    assert hash(point) == hash(names["Point"](3))
    assert point.away(0) == 2.0
    assert repr(names["Shown"](1)) == "shown"
    assert names["Point"].__doc__ == "A point."
    assert names["Plain"]()


def test_nothing_is_left_of_annotations():
    text = for_micropython(DATACLASS, "m.py")
    for word in ("dataclass", "typing", "Sequence", "Decimal", "__future__", "->", "__setattr__"):
        assert word not in text


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import enum", "m.py:1: module enum is not for the browser: use gpumoat, heapq, json"),
        ("\nfrom decimal import Decimal", "m.py:2: module decimal is not for the browser"),
        ("import numpy.linalg", "module numpy.linalg is not"),
        ("from functools import lru_cache", "module functools is not"),
        ("from typing import cast\nx = cast(int, 1)", "m.py:2: cast exists for annotations only"),
        ("from typing import Protocol\nclass A(Protocol): pass", "Protocol exists for annotations only"),
        ("def f(a, /): pass", "positional-only arguments"),
        ("match 1:\n    case 1: pass", "MicroPython does not know match"),
        ("async def f(): pass", "MicroPython does not know async def"),
        ("zip([1], [2], strict=True)", "zip takes no strict="),
        ("@dataclass(order=True)\nclass A:\n    x: int", "dataclass option order"),
        ("@dataclass\nclass A(B):\n    x: int", "dataclass A has a base class"),
        ("@dataclass\nclass A:\n    x: list = field(default_factory=list)", "m.py:3: x is no plain field"),
        ("@dataclass\nclass A:\n    x: ClassVar[int] = 1", "x is no plain field"),
        ("def f(s, n):\n    object.__setattr__(s, n, 1)", "m.py:2: object.__setattr__ needs the field's name"),
    ],
)
def test_what_cannot_be_carried_over_is_refused(source, message):
    with pytest.raises(BundleError) as error:
        for_micropython(source, "m.py")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_star_in_assignments_and_calls_stays():
    assert run("def f(*a, **k): return a, k\nfirst, *rest = [1, 2]\nx = f(*rest, **{'b': 1})")["x"] == ((2,), {"b": 1})


STARS = """
y = (2, 3)
a, b, c = [1, *y, 4], (*y, 5), {*y, 2}
d = {"p": 1, **{"q": 2, "r": 0}, "r": 3}
e = [*(n for n in y)]
"""


def stars(names):
    return [names[name] for name in "abcde"]


def test_what_stands_beside_type_checking_stays():
    source = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from decimal import Decimal\nelse:\n"
    assert run(source + "    import typing\n    Decimal = float\nx = Decimal(1)")["x"] == 1.0
    with pytest.raises(BundleError, match="Decimal exists for annotations only"):
        run(source + "    x = 1\ny = Decimal(1)")


def test_stars_in_displays_are_written_out():
    names = {}
    exec(STARS, names)
    assert stars(run(STARS)) == stars(names)
    assert "*" not in for_micropython(STARS, "m.py")


@needs_micropython
def test_stars_run_on_micropython(answers_file):
    files = {
        "stars.py": for_micropython(STARS, "stars.py"),
        "answers.py": (MICROPYTHON / "answers.py").read_text(encoding="utf-8"),
    }
    asked = ["a", "b", "sorted(c)", "d", "e"]
    assert ask_micropython(files, "from stars import *", asked) == answers_file.answers(STARS, asked)


def test_imports_inside_a_function_are_kept():
    assert "import tomllib" in for_micropython("def load():\n    import tomllib\n    return tomllib", "m.py")
    with pytest.raises(BundleError, match="module tomllib is not for the browser"):
        for_micropython("def load():\n    pass\nimport tomllib", "m.py")


def test_bundle_names_files_by_package_path():
    files = bundle(PACKAGE, ["llm/capacity.py"])
    assert list(files) == ["gpumoat/llm/capacity.py"]
    assert "def cards_needed(total_bytes, usable_bytes_per_card):" in files["gpumoat/llm/capacity.py"]


def test_lock_file_names_no_address():
    text = (MICROPYTHON / "package-lock.json").read_text(encoding="utf-8")
    assert "://" not in text
    assert '"integrity": "sha512-' in text
