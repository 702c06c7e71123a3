"""The API reference: every public object has a docstring and a place, and every function on a card leads to one."""

from __future__ import annotations

import importlib
import inspect
import re
import types
from pathlib import Path

import pytest
from lxml import html

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "en" / "reference"
# The models, which chapters use: each must be in the reference. What else is there is read from its pages.
MODELS = {
    "gpumoat.units",
    "gpumoat.facts",
    "gpumoat.hardware",
    "gpumoat.partition",
    "gpumoat.dates",
    "gpumoat.stack",
} | {f"gpumoat.llm.{path.stem}" for path in (ROOT / "src/gpumoat/llm").glob("*.py") if path.stem != "__init__"}
LISTED = {
    name: page.stem
    for page in sorted(REFERENCE.glob("*.md"))
    for name in re.findall(r"^::: ([\w.]+)", page.read_text(encoding="utf-8"), re.MULTILINE)
}


def public(module: types.ModuleType) -> dict[str, object]:
    """The functions and classes that a module defines for others, and what its classes define."""
    found: dict[str, object] = {}
    for name, thing in vars(module).items():
        # A kernel and a cached function are objects around the function that somebody wrote.
        thing = getattr(thing, "py_func", None) or (thing if inspect.isclass(thing) else inspect.unwrap(thing))
        if name.startswith("_") or getattr(thing, "__module__", None) != module.__name__:
            continue
        if not (inspect.isclass(thing) or inspect.isfunction(thing)):
            continue
        found[f"{module.__name__}.{name}"] = thing
        if inspect.isclass(thing):
            for key, member in vars(thing).items():
                function = getattr(member, "fget", None) or getattr(member, "func", None) or member
                if not key.startswith("_") and inspect.isfunction(function):
                    found[f"{module.__name__}.{name}.{key}"] = function
    return found


def undocumented(module: types.ModuleType) -> list[str]:
    """Public names without a docstring of their own; a dataclass gets one made from its fields, which is none."""
    bare = []
    for name, thing in public(module).items():
        text = (getattr(thing, "__doc__", None) or "").strip()
        if not text or text.startswith(f"{name.rsplit('.', 1)[1]}("):
            bare.append(name)
    return bare


@pytest.fixture(scope="session")
def anchors(built_site: Path) -> dict[str, set[str]]:
    """The ids of each reference page."""
    found = {}
    for page in (built_site / "reference").glob("*/index.html"):
        tree = html.document_fromstring(page.read_bytes())
        found[page.parent.name] = set(tree.xpath("//@id"))
    return found


def test_every_model_is_in_the_reference() -> None:
    assert set(LISTED) >= MODELS


@pytest.mark.parametrize("name", sorted(LISTED))
def test_every_public_object_has_a_docstring_and_a_place(anchors: dict[str, set[str]], name: str) -> None:
    module = importlib.import_module(name)
    assert (module.__doc__ or "").strip(), f"{name} states no policy"
    assert public(module), f"{name} has nothing public"
    assert undocumented(module) == []
    assert sorted(set(public(module)) - anchors[LISTED[name]]) == []


def test_an_object_without_a_docstring_is_found() -> None:
    source = "class A:\n    'a'\n    def f(self): pass\n\ndef g(): pass\n\ndef h():\n    'h'\n"
    module = types.ModuleType("planted")
    exec(source, vars(module) | {"__name__": "planted"}, vars(module))
    assert undocumented(module) == ["planted.A.f", "planted.g"]


def test_a_dataclass_without_a_docstring_is_found() -> None:
    source = "from dataclasses import dataclass\n@dataclass\nclass B:\n    x: int = 0\n"
    module = types.ModuleType("planted")
    import sys

    sys.modules["planted"] = module
    try:
        exec(source, vars(module))
        assert undocumented(module) == ["planted.B"]
    finally:
        del sys.modules["planted"]


def test_every_function_on_a_card_leads_to_its_place(built_site: Path, anchors: dict[str, set[str]]) -> None:
    seen = set()
    for page in built_site.rglob("index.html"):
        tree = html.document_fromstring(page.read_bytes())
        for href in tree.xpath("//article[contains(@class, 'gm-card')]//footer/a/@href"):
            if "reference/" in href.partition("?")[0]:
                way, _, name = href.partition("#")
                target = (page.parent / way / "index.html").resolve()
                assert target.is_file(), f"{page}: {href}"
                assert name in anchors[target.parent.name], f"{page}: {href}"
                seen.add(name)
    assert "gpumoat.llm.gpt.layer_parameters" in seen
    assert "gpumoat.facts.fact" in seen
