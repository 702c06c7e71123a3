"""Every worked example: it runs alone, prints what its page shows, and imports the package and the library only."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from lxml import html

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "docs" / "examples"
SCRIPTS = sorted(path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*.py"))
PAGES = ROOT / "docs" / "en"


def address(script: str) -> str:
    """The built file of the page with the script's stem."""
    stem = script.removesuffix(".py")
    return "index.html" if stem == "index" else f"{stem.removesuffix('/index')}/index.html"


@pytest.fixture(scope="session")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, subprocess.CompletedProcess[str]]:
    """What each example prints when it is run alone, as a reader would run it, from another folder."""
    folder = tmp_path_factory.mktemp("elsewhere")
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    return {
        script: subprocess.run(
            [sys.executable, str(EXAMPLES / script)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        for script in SCRIPTS
    }


def test_there_are_examples() -> None:
    assert {"index.py", "memory/gpt3.py"} <= set(SCRIPTS)


@pytest.mark.parametrize("script", SCRIPTS)
def test_it_runs_alone(printed: dict[str, subprocess.CompletedProcess[str]], script: str) -> None:
    done = printed[script]
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.strip(), "an example prints its results"


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_page_shows_the_script_and_what_it_prints(
    built_site: Path, printed: dict[str, subprocess.CompletedProcess[str]], script: str
) -> None:
    source = (EXAMPLES / script).read_text(encoding="utf-8")
    beside = built_site / Path(address(script)).parent / Path(script).name
    assert beside.read_text(encoding="utf-8") == source, "the file beside the page is the script itself"
    page = html.document_fromstring((built_site / address(script)).read_bytes())
    outputs = page.xpath("//pre[contains(concat(' ', @class, ' '), ' gm-output ')]")
    if not outputs and "/// worked" not in (PAGES / script).with_suffix(".md").read_text("utf-8"):
        pytest.skip("the page links to its script and shows no listing")
    (output,) = outputs
    assert output.text_content() == printed[script].stdout
    (listing,) = page.xpath("//pre[@id='listing']")
    assert listing.text_content().strip("\n") == source.strip("\n")


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_page_with_numbers_leads_to_its_script(built_site: Path, script: str) -> None:
    page = html.document_fromstring((built_site / address(script)).read_bytes())
    assert page.xpath("//data[@class='n']"), "an example is there for the numbers of its page"
    assert page.xpath(f"//a[@href='{Path(script).name}']"), "the page links to the file"


def test_a_chapter_with_numbers_shows_its_listing(built_site: Path) -> None:
    """Every chapter shows the whole script; the home page, which fits on one screen, links to the file."""
    for script in SCRIPTS:
        if script != "index.py":
            page = html.document_fromstring((built_site / address(script)).read_bytes())
            assert len(page.xpath("//pre[@id='listing']")) == 1, script


@pytest.mark.parametrize("script", SCRIPTS)
def test_it_has_a_page_of_the_same_stem(script: str) -> None:
    assert (PAGES / script).with_suffix(".md").is_file()


def foreign(source: str) -> set[str]:
    """Modules that a script imports and that are neither the package nor the standard library."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." if node.level else (node.module or "").split(".")[0])
    return found - set(sys.stdlib_module_names) - {"gpumoat"}


@pytest.mark.parametrize("script", SCRIPTS)
def test_it_imports_the_package_and_the_standard_library_only(script: str) -> None:
    assert foreign((EXAMPLES / script).read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize(
    "source", ["import numpy", "from altair import Chart", "from . import other", "def f():\n    import torch"]
)
def test_a_foreign_import_is_found(source: str) -> None:
    assert foreign("import math\nfrom gpumoat import fact\n" + source)
