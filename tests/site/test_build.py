"""The build: what it publishes beside a page, and that a failed build says where and leaves the last good site alone.

Policy: a tiny project in a temporary folder, with the real theme and the real facts, so that one build takes a
second. Left out: the rules that the page checks and the lint have of their own, which their own tests show.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gpumoat.facts import fact, registry
from gpumoat.site import check, pages
from gpumoat.site.build import BuildFailed, build
from gpumoat.site.project import Project

CONFIG = """\
site_name: Tiny
docs_dir: docs/en
strict: true
theme:
  name: material
  font: false
extra:
  generator: false
plugins: []
validation:
  links:
    not_found: warn
    anchors: warn
markdown_extensions:
  - attr_list
  - footnotes
  - tables
  - toc
  - pymdownx.arithmatex:
      generic: true
  - pymdownx.blocks.details
  - pymdownx.superfences
  - gpumoat.site.markdown
"""
# The pages to which the cards and citations of the one real page lead.
PAGES = {
    "index.md": "# Home\n\n[The chapter](memory/tiny.md)\n",
    "contribute.md": "# Contribute\n\n## Report a number\n",
    "reference/facts.md": "# Doors\n\n## fact { #gpumoat.facts.fact }\n\n## assume { #gpumoat.facts.assume }\n",
    "bibliography.md": "# Sources\n\n/// bibliography\n///\n",
    "memory/tiny.md": """\
---
title: Layers
---

# Layers

It has {{ layers }} layers [@brown-2020], {{ twice }} halves.[^half]

[^half]: Each layer has two.

/// table | rows
    columns:
      part: Part
      share_bytes:,.1f KiB: Memory
What a layer takes.
///

/// worked
///
""",
}
EXAMPLE = """\
from gpumoat import assume, fact

layers = fact("gpt3.layers")
twice = 2 * layers
page_bytes = assume(4096, "a page of memory")
rows = [{"part": name, "share_bytes": page_bytes * (1 + place)} for place, name in enumerate(["first", "second"])]
print(f"{layers} layers")
"""
PAGE, SCRIPT = "docs/en/memory/tiny.md", "docs/examples/memory/tiny.py"


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one real page and its example."""
    root = tmp_path / "tiny"
    files = {f"docs/en/{name}": text for name, text in PAGES.items()} | {SCRIPT: EXAMPLE, "mkdocs.yml": CONFIG}
    for run in registry().measurements.values():
        files[run.text("script")] = ""  # a run of the registry names the script that was run
    monkeypatch.setattr(check, "check_errata", lambda project: [])  # they name pages that this project lacks
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(root)  # messages name files relative to where the command runs
    return root


def fingerprint(folder: Path) -> dict[str, str]:
    """Every file of a folder with the hash of its bytes."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def append(root: Path, name: str, text: str) -> None:
    """Put text at the end of a file of the project."""
    path = root / name
    path.write_text(f"{path.read_text(encoding='utf-8')}\n{text}\n", encoding="utf-8")


def problems(root: Path) -> list[str]:
    """What a build that must fail says."""
    with pytest.raises(BuildFailed) as failed:
        build(Project(root))
    return failed.value.problems


def test_a_good_build_publishes_the_files_beside_the_page(tiny: Path) -> None:
    report = build(Project(tiny))
    beside = tiny / "site" / "memory" / "tiny"
    assert (beside / "index.html").is_file()
    assert (beside / "tiny.py").read_text(encoding="utf-8") == EXAMPLE
    rows = list(csv.DictReader((beside / "rows.csv").open(encoding="utf-8")))
    assert rows == [{"part": "first", "share_bytes": "4096"}, {"part": "second", "share_bytes": "8192"}]
    document = json.loads((beside / "rows.json").read_text(encoding="utf-8"))
    assert document["units"]["share_bytes"] == "bytes"
    assert [row["share_bytes"] for row in document["records"]] == [4096, 8192]
    page = (beside / "index.html").read_text(encoding="utf-8")
    assert f">{fact('gpt3.layers')}</data> layers" in page
    assert len(report.pages) == len(PAGES)
    assert not (tiny / "site.new").exists()
    assert not (tiny / "site.old").exists()


def test_a_second_build_replaces_the_first(tiny: Path) -> None:
    build(Project(tiny))
    (tiny / "site" / "stale.html").write_text("old")
    (tiny / "docs/en/extra.md").write_text("# Extra\n")
    build(Project(tiny))
    assert not (tiny / "site" / "stale.html").exists(), "the folder is new, not written over"
    assert (tiny / "site" / "extra" / "index.html").is_file()


def test_what_an_interrupted_build_left_does_not_stop_the_next(tiny: Path) -> None:
    for name in ("site.new", "site.old"):
        (tiny / name).mkdir()
        (tiny / name / "rest.html").write_text("half")
    build(Project(tiny))
    assert (tiny / "site" / "index.html").is_file()
    assert not (tiny / "site" / "rest.html").exists()
    assert not (tiny / "site.new").exists()
    assert not (tiny / "site.old").exists()


def test_two_builds_show_the_same(tiny: Path) -> None:
    """No time, no order: the pages and the data of two builds have the same bytes."""
    build(Project(tiny))
    first = fingerprint(tiny / "site")
    build(Project(tiny))
    second = fingerprint(tiny / "site")
    dated = {"sitemap.xml", "sitemap.xml.gz"}  # the builder writes the day into them
    assert {name: first[name] for name in first.keys() - dated} == {
        name: second[name] for name in second.keys() - dated
    }


def test_the_project_need_not_be_where_the_command_runs(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(build(Project(tiny)).pages) == len(PAGES)


@pytest.mark.parametrize("address", ["https://example.org/moat/", "https://example.org/"])
def test_a_published_site_builds(tiny: Path, address: str) -> None:
    """The owner fills one setting; 404.html then links from the site's own path."""
    append(tiny, "mkdocs.yml", f"site_url: {address}")
    build(Project(tiny))
    assert address.removeprefix("https://example.org") + "assets/" in (tiny / "site" / "404.html").read_text("utf-8")


def test_a_repository_address_puts_a_report_form_on_each_card(tiny: Path) -> None:
    text = (tiny / "mkdocs.yml").read_text("utf-8")
    (tiny / "mkdocs.yml").write_text(text.replace("extra:\n", "extra:\n  repository: https://example.org/them/moat\n"))
    build(Project(tiny))
    page = (tiny / "site/memory/tiny/index.html").read_text("utf-8")
    assert "https://example.org/them/moat/issues/new?" in page
    assert "api.github.com/repos" not in page


# Text that is put at the end of the page or of the example, the line at which the message points, and its words.
LINE = len(PAGES["memory/tiny.md"].splitlines()) + 2
LAST = len(EXAMPLE.splitlines()) + 2
FAULTS = [
    ("undefined name", PAGE, "{{ nothing }}", LINE, "the example has no 'nothing'"),
    ("unknown format", PAGE, "{{ layers:.1q }}", LINE, "format '.1q' is not"),
    ("unit that does not fit", PAGE, "{{ page_bytes:.0f s }}", LINE, "unit 's' does not fit page_bytes"),
    ("number in a heading without an id", PAGE, "## Of {{ twice:d }}", LINE, "end it with {#name}"),
    ("braces in raw HTML", PAGE, "<p>{{ page_bytes }}</p>", LINE, "stands inside raw HTML"),
    ("unknown source", PAGE, "[@nobody-2020]", LINE, "no source 'nobody-2020'"),
    ("two sources at once", PAGE, "[@brown-2020; @gpt2-code]", LINE, "one for each"),
    ("unknown block", PAGE, "/// tabel | rows\nCap\n///", LINE, "'/// tabel | rows' is not understood"),
    ("unknown option", PAGE, "/// figure | rows\n    kolour: red\nCap\n///", LINE + 1, "no option 'kolour'"),
    ("unknown records", PAGE, "/// table | lost\n    columns:\n      part: Part\nC\n///", LINE, "called 'lost'"),
    ("block that is not closed", PAGE, "/// details | More\nText", LINE, "never closed: end it with a line ///"),
    ("block that is not open", PAGE, "///", LINE, "closes no block"),
    ("fence that is not closed", PAGE, "```python\nx", LINE, "never closed: end it with a line ```"),
    ("formula that stops the converter", PAGE, "$$\n\\left( a\n$$", LINE + 1, "is not understood"),
    ("typed number", PAGE, "It takes 17 GiB.", LINE, "17 GiB: typed number"),
    ("raising example", SCRIPT, 'raise ValueError("boom")', LAST, "the example fails: ValueError: boom"),
    ("leaving example", SCRIPT, "import sys; sys.exit(1)", LAST, "the example exits with 1"),
    ("unknown fact", SCRIPT, 'fact("gpt3.lost")', LAST, "no fact 'gpt3.lost'"),
    ("no Python", SCRIPT, "x = = 1", LAST, "no valid Python"),
    ("unknown import", SCRIPT, "import nosuchmodule", LAST, "No module named 'nosuchmodule'"),
    ("unknown extension", "mkdocs.yml", "  - nosuch.extension", 0, "markdown_extensions: No module named 'nosuch'"),
]
# What only the builder sees, and then what only the built pages show: one build for each group.
LINK_FAULTS = [
    ("[a](nowhere.md)", "'nowhere.md' leads to no page"),
    ("[b](../index.md#lost)", "'../index.md#lost' leads to no place on index.md"),
    ("[c](#lost-here)", "'#lost-here' leads to no place on memory/tiny.md"),
]
FILE_FAULTS = [("![d](lost.png)", "'memory/lost.png' is not found")]
PAGE_FAULTS = [
    ("Said.[^lost]", "'[^lost]' is a footnote that is defined nowhere"),
    ("[text][lost]", "'[text][lost]' is a link whose target is defined nowhere"),
    ("[e](/memory/)", "write it relative to the page"),
    ("![f](https://example.org/a.png)", "asks example.org"),
    ("[g](htps://example.com/)", "is no link for a reader"),
    ("## One {#same}\n\n## Two {#same}", "'same' stands on line"),
    ("$\\nonsense{a}$", "'\\nonsense' in a formula is no command"),
]


def good_site(root: Path) -> dict[str, str]:
    """Put a folder in place that stands for the last good site."""
    for name, text in {"index.html": "<p>the last good site</p>", "sub/data.csv": "a,b\n"}.items():
        path = root / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return fingerprint(root / "site")


def spared(root: Path, before: dict[str, str]) -> bool:
    """Whether the last good site is there, byte for byte, and nothing beside it."""
    rests = [name for name in ("site.new", "site.old") if (root / name).exists()]
    return fingerprint(root / "site") == before and not rests


@pytest.mark.parametrize(("name", "text", "line", "says"), [fault[1:] for fault in FAULTS], ids=[f[0] for f in FAULTS])
def test_a_fault_stops_the_build_and_spares_the_site(tiny: Path, name: str, text: str, line: int, says: str) -> None:
    before = good_site(tiny)
    append(tiny, name, text)
    found = problems(tiny)
    where = f"{name}:{line}:" if line else f"{name}: "
    assert any(problem.startswith(where) and says in problem for problem in found), found
    assert all("\n" not in problem for problem in found)
    assert spared(tiny, before)


@pytest.mark.parametrize("faults", [LINK_FAULTS, FILE_FAULTS, PAGE_FAULTS], ids=["links", "files", "built pages"])
def test_each_fault_of_links_and_built_pages_is_named_at_its_line(tiny: Path, faults: list[tuple[str, str]]) -> None:
    before = good_site(tiny)
    lines = {}
    for text, says in faults:
        lines[says] = len((tiny / PAGE).read_text("utf-8").splitlines()) + 2
        append(tiny, PAGE, text)
    found = problems(tiny)
    for says, line in lines.items():
        assert any(problem.startswith(f"{PAGE}:{line}: ") and says in problem for problem in found), (says, found)
    assert spared(tiny, before)


def test_an_error_while_publishing_spares_the_site(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even what nobody foresaw, such as a full disk, leaves no half-built folder."""

    def full(*_: object) -> None:
        raise OSError("no space left")

    before = good_site(tiny)
    monkeypatch.setattr("gpumoat.site.build.publish", full)
    with pytest.raises(OSError, match="no space"):
        build(Project(tiny))
    assert spared(tiny, before)


def test_code_may_show_what_would_be_a_fault_elsewhere(tiny: Path) -> None:
    """In code nothing is replaced and nothing is a fault: a page can explain how pages are written."""
    shown = "Write `{{ name }}`, `[^x]`, `[@source]`, `[a][b]`.\n\n````text\n```\n/// table\n{{ name }} [^x]\n````"
    append(tiny, PAGE, shown)
    assert len(build(Project(tiny)).pages) == len(PAGES)


# What must not reach a reader, planted in a built page: a mark that nobody replaced, outside code and formulas.
SHELL = '<html lang="en"><head><title>T</title></head><body>{}</body></html>'
LEFT = [
    ("<p>{{ weights_bytes }}</p>", "braces", "was not replaced"),
    ('<p title="{{ weights_bytes }}">x</p>', "braces", "was not replaced"),
    ("<p>/// table | cards</p>", "leftover", "block that was not understood"),
    ("<p>before\n  ///\nafter</p>", "leftover", "block that was not understood"),
    ("<li>Said.[^1]</li>", "leftover", "footnote that is defined nowhere"),
    ("<td>[@brown-2020]</td>", "leftover", "no citation"),
    ("<p>[a text][target]</p>", "leftover", "target is defined nowhere"),
    ("<p>[a text][]</p>", "leftover", "target is defined nowhere"),
    ("<math><mi>\\foo</mi></math>", "leftover", "no command that the converter knows"),
]


@pytest.mark.parametrize(("fragment", "rule", "says"), LEFT)
def test_a_mark_left_in_a_built_page_is_found(tmp_path: Path, fragment: str, rule: str, says: str) -> None:
    (tmp_path / "index.html").write_text(SHELL.format(fragment), encoding="utf-8")
    (problem,) = pages.check(tmp_path)
    assert problem.rule == rule
    assert says in problem.message


@pytest.mark.parametrize("tag", ["code", "pre", "script", "style"])
def test_the_same_marks_in_code_are_innocent(tmp_path: Path, tag: str) -> None:
    marks = "{{ a }} [^1] [@b] [c][d]\n/// table"
    (tmp_path / "index.html").write_text(SHELL.format(f"<{tag}>{marks}</{tag}>"), encoding="utf-8")
    assert pages.check(tmp_path) == []


@pytest.mark.parametrize("text", ["a[i] and b[j]", "from 1 // 2 to 3", "[a note] (aside)", "an e-mail: me@[host]"])
def test_innocent_brackets_and_slashes_pass(tmp_path: Path, text: str) -> None:
    (tmp_path / "index.html").write_text(SHELL.format(f"<p>{text}</p>"), encoding="utf-8")
    assert pages.check(tmp_path) == []


def test_the_built_site_has_no_problem(built_site: Path) -> None:
    assert [str(problem) for problem in pages.check(built_site)] == []


def test_the_command_says_it_in_a_line_without_a_traceback(tiny: Path) -> None:
    before = good_site(tiny)
    append(tiny, SCRIPT, 'raise ValueError("boom")')
    done = subprocess.run(
        [Path(sys.executable).with_name("gpumoat"), "build"],
        cwd=tiny,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    lines = [line for line in done.stderr.splitlines() if re.match(rf"{SCRIPT}:{LAST}: .*boom", line)]
    assert len(lines) == 1, done.stderr
    assert spared(tiny, before)
