"""The lock: equal to the pages, the same bytes on every machine, and every kind of change seen."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpumoat import facts
from gpumoat.site import page as page_module
from gpumoat.site.errors import SiteError
from gpumoat.site.lock import HEAD, Change, changes, grouped, lock_lines, lock_text, render
from gpumoat.site.project import Project


@pytest.fixture(scope="module")
def project(root: Path) -> Project:
    """The checkout."""
    return Project(root)


@pytest.fixture(scope="module")
def pages(project: Project) -> list[page_module.Page]:
    """Every page of the checkout, rendered once."""
    return [render(project, path)[0] for path in project.all_pages()]


def test_the_lock_is_what_the_pages_show(project: Project, pages: list[page_module.Page]) -> None:
    held, shown = project.lock.read_text(encoding="utf-8"), lock_text(pages)
    differing = "\n".join(map(str, changes(held, shown)))
    assert held == shown, f"docs/numbers.lock is not what the pages show: run `make lock`\n{differing}"


def test_every_number_has_one_line(pages: list[page_module.Page]) -> None:
    for page in pages:
        lines = [line for line in lock_lines(page) if " | output " not in line]
        assert len(lines) == len(page.numbers)
        keys = [" | ".join(line.split(" | ")[:2]) for line in lines]
        assert len(set(keys)) == len(keys)
        assert lines == sorted(lines)
        assert all(len(line.split(" | ")) == 5 for line in lines), "five fields, and no bar inside one"


def test_what_the_example_prints_is_in_the_lock(pages: list[page_module.Page]) -> None:
    page = next(page for page in pages if page.path == "memory/gpt3.md")
    printed = [line.split(" | ")[2] for line in lock_lines(page) if " | output " in line]
    assert printed == [line.rstrip() for line in page.example.output.splitlines()]


def test_no_time_and_no_path(root: Path, project: Project) -> None:
    text = project.lock.read_text(encoding="utf-8")
    assert str(root) not in text
    assert not re.search(r"\b\d{1,2}:\d{2}\b", text), "a time of day"
    assert not re.search(r"(^|[\s'\"])/\w+/", text), "an absolute path"
    assert not re.search(r"0x[0-9a-f]{6,}", text), "an address in memory"
    assert text.endswith("\n")
    assert "\r" not in text


def test_the_order_of_rendering_does_not_matter(project: Project, pages: list[page_module.Page], monkeypatch) -> None:
    monkeypatch.setattr(page_module, "_runs", {})  # run the examples again, in the other order too
    backwards = [render(project, path)[0] for path in reversed(project.all_pages())]
    assert lock_text(backwards) == lock_text(pages)
    assert lock_text(reversed(pages)) == lock_text(pages)


SCRIPT = """
import sys
from pathlib import Path
from gpumoat.site.lock import lock_text, render
from gpumoat.site.project import Project
project = Project(Path(sys.argv[1]))
pages = ("claims/index.md", "memory/gpt3.md", "moat/company.md")  # many facts, many kinds of number, many rows
sys.stdout.buffer.write(lock_text(render(project, path)[0] for path in pages).encode("utf-8"))
"""


def test_two_processes_write_the_same_bytes(root: Path, tmp_path: Path) -> None:
    """Neither the seed of hashes nor the folder, the locale or the time zone of the process shows."""
    running = []
    for seed, zone, folder in (("1", "UTC", root), ("4242", "Asia/Shanghai", tmp_path)):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": "C"}
        command = [sys.executable, "-c", SCRIPT, str(root)]
        running.append(subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE))
    found = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert found[0] == found[1]
    assert found[0].decode("utf-8").startswith(HEAD)


def test_a_changed_fact_shows_on_every_number_that_rests_on_it(project: Project, monkeypatch) -> None:
    """A planted change of one value moves the numbers that rest on it, and no others."""
    monkeypatch.chdir(project.root)
    monkeypatch.setattr(page_module, "_runs", {})
    before = lock_text([render(project, "memory/gpt3.md")[0]])
    monkeypatch.setattr(page_module, "_runs", {})
    row = facts.registry().facts["gpt3.layers"].row
    monkeypatch.setitem(row, "value", row["value"] + 1)
    after = lock_text([render(project, "memory/gpt3.md")[0]])
    found = changes(before, after)
    assert any(change.key == "memory/gpt3.md | layers" and change.after.startswith("97 |") for change in found)
    numbers = [change for change in found if " | output " not in change.key]
    assert numbers
    assert all("layers" in change.after for change in numbers), "each of them rests on the layers"
    assert not any("hidden:,d" in change.key for change in numbers), "the width does not"


OLD = HEAD + "a.md | x | 1 | cited | f\na.md | y | 2 | cited | g\n"


def test_new_gone_and_changed() -> None:
    new = HEAD + "a.md | x | 1 | cited | f\na.md | y | 3 | cited | g\nb.md | z:,d | 4 | computed | f\n"
    assert changes(OLD, new) == [
        Change("a.md | y", "2 | cited | g", "3 | cited | g"),
        Change("b.md | z:,d", "", "4 | computed | f"),
    ]
    assert [str(change) for change in changes(OLD, new)] == [
        "a.md | y: was 2 | cited | g, is 3 | cited | g",
        "b.md | z:,d: new, 4 | computed | f",
    ]
    assert [str(change) for change in changes(new, HEAD)] == [
        "a.md | x: gone, was 1",
        "a.md | y: gone, was 3",
        "b.md | z:,d: gone, was 4",
    ]


def test_the_same_value_from_another_fact_is_a_change() -> None:
    """The reviewer sees that a number rests on something else, even if it looks the same."""
    assert changes(OLD, OLD.replace("cited | g", "measured | run"))


def test_the_marks_of_a_merge_are_reported_and_stop_nothing() -> None:
    conflict = OLD + "<<<<<<< HEAD\n=======\n>>>>>>> other\n"
    assert [change.key for change in changes(conflict, OLD)] == ["<<<<<<< HEAD", "=======", ">>>>>>> other"]


LINES = st.dictionaries(st.sampled_from("uvwxyz"), st.sampled_from(["1 | cited | f", "2 | computed | g"]))


def as_lock(lines: dict[str, str]) -> str:
    return HEAD + "".join(f"p.md | {key} | {rest}\n" for key, rest in lines.items())


@given(LINES, LINES)
def test_changes_are_the_difference_and_nothing_else(old: dict[str, str], new: dict[str, str]) -> None:
    found = {
        change.key.split(" | ")[1]: (change.before, change.after) for change in changes(as_lock(old), as_lock(new))
    }
    keys = [key for key in old.keys() | new.keys() if old.get(key) != new.get(key)]
    assert found == {key: (old.get(key, ""), new.get(key, "")) for key in keys}
    assert changes(as_lock(old), as_lock(old)) == []
    mirrored = {change.key: (change.after, change.before) for change in changes(as_lock(new), as_lock(old))}
    assert mirrored == {change.key: (change.before, change.after) for change in changes(as_lock(old), as_lock(new))}


def test_ids_of_one_subject_stand_together() -> None:
    assert grouped({"gpt3.layers", "gpt3.heads", "h200.memory_bytes", "an assumption"}) == (
        "an assumption, gpt3.{heads, layers}, h200.memory_bytes"
    )
    assert grouped(set()) == "nothing else"


def test_an_unknown_extension_is_named(project: Project, monkeypatch) -> None:
    settings = {**project.settings, "markdown_extensions": ["nosuch.extension"]}
    planted = Project(project.root)
    monkeypatch.setitem(planted.__dict__, "settings", settings)
    with pytest.raises(SiteError, match=r"mkdocs\.yml: markdown_extensions: No module named 'nosuch'"):
        render(planted, "index.md")
