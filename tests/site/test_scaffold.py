"""A chapter that is begun by the command: it checks and builds at once, or nothing is written and one line says why.

Policy: the good cases run in a copy of the checkout, because only the whole says whether the chapter fits; each
reason to refuse is seen once, with the proof that not a byte changed.
"""

from __future__ import annotations

import difflib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from gpumoat.site import scaffold
from gpumoat.site.build import build_into
from gpumoat.site.errors import SiteError
from gpumoat.site.project import Project
from gpumoat.site.scaffold import new_chapter, parts_of, unfinished, with_entry

TITLE = 'Does it keep a "quote", an apostrophe\'s and a colon: here?'


@pytest.fixture
def copy(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of what a chapter lies in, as the working folder."""
    target = tmp_path / "copy"
    shutil.copytree(root / "docs", target / "docs")
    shutil.copytree(root / "tests/chapters", target / "tests/chapters", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(root / "mkdocs.yml", target)
    (target / "src").symlink_to(root / "src")
    monkeypatch.chdir(target)
    return target


def state(folder: Path) -> dict[str, bytes]:
    """Every file of the copy but the package's own, with its contents."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for top in ("docs", "tests", "mkdocs.yml")
        for path in [folder / top, *(folder / top).rglob("*")]
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_new_chapters_check_and_build_at_once(copy: Path, tmp_path: Path) -> None:
    """In a part of one page, in a part of several, and in a part that the navigation did not have."""
    (copy / "docs/en/power").mkdir()
    (copy / "docs/en/power/index.md").write_text("# Power\n\nWhat runs a data centre?\n", encoding="utf-8")
    paths = ("cloud/first-steps", "memory/first-steps", "docs/en/power/grid.md")
    begun = [new_chapter(Project(copy), path, TITLE) for path in paths]
    project = Project(copy)
    report = build_into(project, tmp_path / "site")
    kinds = {
        number.origin.kind for page in report.pages if page.path == "power/grid.md" for number in page.numbers.values()
    }
    assert kinds == {"computed", "cited", "measured", "assumed", "claimed"}, "one number of each kind"
    assert {change.key.split(" | ")[0] for change in report.lock if "first-steps" in change.key} == {
        "cloud/first-steps.md",
        "memory/first-steps.md",
    }
    built = (tmp_path / "site/power/grid/index.html").read_text(encoding="utf-8")
    assert built.count("<summary>") >= 3 + 1
    assert "gm-table" in built
    assert "gm-figure" in built
    assert "quote&quot;" in built or 'quote"' in built
    # The tests that came along pass as well; two chapters share a name.
    (copy / "tests/conftest.py").write_text("", encoding="utf-8")
    tests = [each.written[-1] for each in begun]
    assert [test.rsplit("/", 1)[1] for test in tests] == [
        "test_first_steps.py", "test_memory_first_steps.py", "test_grid.py"
    ]  # fmt: skip
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--import-mode=importlib",
        "-q",
        "-p",
        "no:xdist",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(
        [*command, *tests],
        cwd=copy,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_navigation_keeps_its_comments_and_its_order(root: Path) -> None:
    project = Project(root)
    before = (root / "mkdocs.yml").read_text(encoding="utf-8")
    for part in parts_of(project):
        after, line = with_entry(project, before, part, f"{part}/new.md", "A: title")
        changed = [
            text
            for text in difflib.ndiff(before.splitlines(), after.splitlines())
            if text[0] in "+-" and not text.startswith("? ")
        ]
        assert after.splitlines()[line - 1].strip() == f'- "A: title": {part}/new.md'
        gone = [text for text in changed if text[0] == "-"]
        assert len(gone) <= 1, "a part of one page loses the page from its line"
        assert [text for text in gone if "#" in text] == []


SMALL = """\
nav:  # what readers see
  - Home: index.md
  # the first part
  - One: one/index.md  # stays
  - Two:
    - two/index.md
    - Deep:
        - "T: t": two/t.md
    # the end of two

  - Reference: reference/index.md
theme: {name: material}
"""


@pytest.fixture
def small(tmp_path: Path) -> Project:
    """A checkout of three parts, one of which the navigation lacks."""
    for part in ("one", "two", "three", "reference"):
        (tmp_path / "docs/en" / part).mkdir(parents=True)
        (tmp_path / "docs/en" / part / "index.md").write_text(f"# Part {part} {{#x}}\n", encoding="utf-8")
    (tmp_path / "mkdocs.yml").write_text("docs_dir: docs/en\n" + SMALL, encoding="utf-8")
    return Project(tmp_path)


@pytest.mark.parametrize(
    ("part", "wanted"),
    [
        ("one", '  - One:  # stays\n      - one/index.md\n      - "New": one/n.md\n  - Two:'),
        ("two", '        - "T: t": two/t.md\n    - "New": two/n.md\n    # the end of two\n'),
        ("three", '"T: t": two/t.md\n  - "Part three":\n      - three/index.md\n      - "New": three/n.md\n    # the'),
    ],
)
def test_where_an_entry_goes(small: Project, part: str, wanted: str) -> None:
    text, _ = with_entry(small, SMALL, part, f"{part}/n.md", "New")
    assert wanted in text
    nav = yaml.safe_load(text)["nav"]
    assert [next(iter(one)) for one in nav if next(iter(one)) != "Part three"] == ["Home", "One", "Two", "Reference"]


def test_parts_are_folders_with_a_first_page(small: Project) -> None:
    assert parts_of(small) == ["one", "two", "three"]


def test_a_file_without_a_line_break_at_its_end(small: Project) -> None:
    text, _ = with_entry(small, "nav:\n  - One: one/index.md", "one", "one/n.md", "New")
    assert yaml.safe_load(text)["nav"] == [{"One": ["one/index.md", {"New": "one/n.md"}]}]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("theme: {}\n", "no nav"),
        ("nav: [index.md]\n", "no nav with a line for each page"),
        ("nav:\n  - One: [one/index.md]\n", "write this list with a line for each page"),
    ],
)
def test_a_navigation_that_cannot_be_edited(small: Project, text: str, says: str) -> None:
    with pytest.raises(SiteError, match=says):
        with_entry(small, text, "one", "one/n.md", "New")


REFUSED = [
    ("memory/gpt3", "A title", "docs/en/memory/gpt3.md: exists already"),
    ("memory", "A title", "no path of a chapter"),
    ("memory/deep/er", "A title", "no path of a chapter"),
    ("Memory/GPT", "A title", "no path of a chapter"),
    ("memory/index", "A title", "no path of a chapter"),
    ("../memory/new", "A title", "no path of a chapter"),
    ("/memory/new", "A title", "no path of a chapter"),
    ("memory/new page", "A title", "no path of a chapter"),
    ("memory/new--page", "A title", "no path of a chapter"),
    ("", "A title", "no path of a chapter"),
    ("physics/new", "A title", "the book has no part 'physics': it has moat, compute, memory, stack, silicon, cloud;"),
    ("reference/new", "A title", "the book has no part 'reference'"),
    ("memory/new", "  ", "--title: is empty"),
    ("memory/new", "Two\nlines", "a title is plain text on one line"),
    ("memory/new", "With {{ braces }}", "a title is plain text on one line"),
    ("memory/new", "x" * 101, "is 101 characters long"),
    ("memory/new", "Why 650 GiB are not enough", "holds a typed number, 650 GiB"),
]


@pytest.mark.parametrize(("path", "title", "says"), REFUSED)
def test_what_is_refused_leaves_everything_as_it_was(
    copy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], path: str, title: str, says: str
) -> None:
    from gpumoat.cli import main

    before = state(copy)
    monkeypatch.setattr(sys, "argv", ["gpumoat", "new-chapter", path, "--title", title])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert ended.value.code == 2
    assert said.err.count("\n") == 1, "one line"
    assert says in said.err
    assert said.out == ""
    assert state(copy) == before


@pytest.mark.parametrize(
    "there", ["docs/examples/memory/new.py", "docs/en/memory/new/index.md"], ids=["example", "folder"]
)
def test_a_file_that_is_in_the_way_is_not_overwritten(copy: Path, there: str) -> None:
    (copy / there).parent.mkdir(parents=True, exist_ok=True)
    (copy / there).write_text("mine\n", encoding="utf-8")
    before = state(copy)
    with pytest.raises(SiteError, match="exists already"):
        new_chapter(Project(copy), "memory/new", "A title")
    assert state(copy) == before


def test_a_disk_that_refuses_leaves_nothing_half_written(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, write = state(copy), Path.write_text

    def full(self: Path, text: str, **options: str) -> int:
        if self.name == "mkdocs.yml" and "memory/new.md" in text:
            raise OSError(28, "No space left on device", str(self))
        return write(self, text, **options)

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(SiteError, match="No space left"):
        new_chapter(Project(copy), "memory/new", "A title")
    monkeypatch.undo()
    assert state(copy) == before


def test_no_chapter_of_the_book_still_says_what_to_replace(root: Path) -> None:
    assert unfinished(Project(root)) == []


def test_a_chapter_that_was_only_begun_is_noticed(copy: Path) -> None:
    new_chapter(Project(copy), "memory/new", "A title")
    found = unfinished(Project(copy))
    assert len(found) > 10
    assert all(("memory/new.md:" in one) or ("memory/new.py:" in one) for one in found)


def test_contributing_shows_what_the_command_says(root: Path, copy: Path) -> None:
    """The worked example of CONTRIBUTING is a real run; the line of the entry moves with the navigation."""
    begun = new_chapter(Project(copy), "compute/occupancy", "How many warps hide the wait for memory?")
    told = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for line in begun.report():
        assert f"    {line}" in told or line.startswith("added a line to mkdocs.yml:"), line
    comment = next(
        line for line in (copy / "docs/en/compute/occupancy.md").read_text("utf-8").splitlines() if "<!--" in line
    )
    assert f"    {comment}\n" in told


def test_every_comment_of_the_model_says_what_to_replace() -> None:
    page = (scaffold.MODEL / "page.md").read_text(encoding="utf-8")
    assert page.count("<!--") == page.count("<!-- REPLACE: ") > 5
