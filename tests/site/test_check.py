"""The check: one page or all, near names for an unknown one, and each kind of fault seen once."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpumoat.registry_check import Problem
from gpumoat.site import check
from gpumoat.site.check import check_project
from gpumoat.site.errors import SiteError
from gpumoat.site.page import Page
from gpumoat.site.project import Project


def append(path: Path, text: str) -> int:
    """Put a paragraph at the end of a file and return the line on which it stands."""
    before = path.read_text(encoding="utf-8")
    path.write_text(f"{before}\n{text}\n", encoding="utf-8")
    return len(before.splitlines()) + 2


@pytest.fixture(scope="module")
def whole(root: Path) -> object:
    """The report on the checkout as it is."""
    return check_project(Project(root))


def test_the_checkout_has_no_problem(whole) -> None:
    assert whole.problems == []
    assert len(whole.pages) == len(Project(whole.pages[0].project.root).all_pages())
    changed = "\n".join(map(str, whole.lock))
    assert not whole.lock, f"the pages show other numbers than docs/numbers.lock: run `make lock`\n{changed}"


@pytest.mark.parametrize("name", ["memory/gpt3", "memory/gpt3.md", "docs/en/memory/gpt3.md", "docs/en/memory/gpt3"])
def test_a_page_can_be_named_as_one_likes(copy: Path, name: str) -> None:
    report = check_project(Project(copy), name)
    assert [page.path for page in report.pages] == ["memory/gpt3.md"]
    assert report.good, (report.problems, report.lock)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("gpt3", "did you mean memory/gpt3.md?"),
        ("memory/gtp3", "memory/gpt3.md"),
        ("memori/gpt3.md", "memory/gpt3.md"),
        ("qqqqqq", "there are bibliography.md, claims/index.md"),
    ],
)
def test_an_unknown_page_brings_near_names(root: Path, name: str, near: str) -> None:
    with pytest.raises(SiteError) as failed:
        check_project(Project(root), name)
    assert "no page" in str(failed.value)
    assert near in str(failed.value)
    assert "\n" not in str(failed.value)


def test_one_page_is_not_blamed_for_another(copy: Path) -> None:
    """``index`` is the home page only, although every folder has a page of that name."""
    append(copy / "docs/en/memory/index.md", "It takes 17 GiB.")
    assert check_project(Project(copy), "index").problems == []
    assert len(check_project(Project(copy), "memory/index").problems) == 1


def test_the_example_of_the_page_belongs_to_it(copy: Path) -> None:
    line = append(copy / "docs/examples/memory/gpt3.py", "odd = 17")
    found = check_project(Project(copy), "memory/gpt3").problems
    assert any(problem.startswith(f"docs/examples/memory/gpt3.py:{line}:") and "17" in problem for problem in found)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{{ lost_bytes }}", "the example has no 'lost_bytes'"),
        ("It takes 17 GiB.", "17 GiB: typed number"),
        ("[@lost-2020]", "no source 'lost-2020'"),
        ("/// lost\n///", "'/// lost' is not understood"),
        ("```python\nx", "never closed: end it with a line ```"),
        ("/// details | More", "never closed: end it with a line ///"),
    ],
)
def test_a_planted_fault_is_named_with_file_and_line(copy: Path, text: str, says: str) -> None:
    line = append(copy / "docs/en/memory/gpt3.md", text)
    found = check_project(Project(copy), "memory/gpt3").problems
    assert any(one.startswith(f"docs/en/memory/gpt3.md:{line}:") and says in one for one in found), found


@pytest.mark.parametrize(("unused", "rendered"), [(True, True), (False, False)])
def test_only_broken_data_keeps_a_page_from_being_looked_at(
    copy: Path, monkeypatch: pytest.MonkeyPatch, unused: bool, rendered: bool
) -> None:
    """A chapter in the making has sources that nothing cites yet, and terms without a definition."""
    problem = Problem("sources.toml", "source lost-2020", "id", "a planted fault", unused)
    monkeypatch.setattr(check, "check_registry", lambda repository: [problem])
    append(copy / "docs/en/memory/gpt3.md", "A *wobble factor*, and {{ lost_bytes }}.")
    found = "\n".join(check_project(Project(copy), "memory/gpt3").problems)
    assert "sources.toml: source lost-2020: id: a planted fault" in found
    assert "'wobble factor' is introduced and not defined" in found
    assert ("the example has no 'lost_bytes'" in found) is rendered


def test_every_page_with_a_fault_is_named_at_once(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("contribute.md", "index.md", "memory/gpt3.md")
    whole = check.render
    monkeypatch.setattr(
        check, "render", lambda project, path: whole(project, path) if path in names else (Page(project, path), "")
    )
    for name in ("docs/en/index.md", "docs/en/memory/gpt3.md"):
        append(copy / name, "{{ lost_bytes }}")
    found = check_project(Project(copy)).problems
    assert {problem.split(":")[0] for problem in found} >= {"docs/en/index.md", "docs/en/memory/gpt3.md"}


@pytest.mark.parametrize("name", ["docs/en/memory/gpt3.md", "docs/examples/memory/gpt3.py"])
def test_a_file_that_is_no_text_is_named(copy: Path, name: str) -> None:
    path = copy / name
    path.write_bytes(path.read_bytes() + b"\n# \xff\n")
    (problem,) = check_project(Project(copy)).problems
    assert problem.startswith(f"{name}:{path.read_bytes().count(10)}: no valid UTF-8")


def test_what_an_extension_throws_is_a_line_and_not_a_traceback(copy: Path) -> None:
    append(copy / "docs/en/memory/gpt3.md", "$$\n\\left( a\n$$")
    found = check_project(Project(copy), "memory/gpt3").problems
    assert any(problem.startswith("docs/en/memory/gpt3.md") for problem in found), found
    assert all("\n" not in problem for problem in found)


def test_blocks_and_fences_that_are_closed_are_no_fault(copy: Path) -> None:
    text = (
        "//// details | Outer\n/// details | Inner\nText\n///\n////\n\n"
        "````markdown\n```\n/// table | x\n````\n\n~~~text\n```\n~~~\n\nAn inline ```code``` span.\n"
    )
    append(copy / "docs/en/memory/gpt3.md", text)
    assert check_project(Project(copy), "memory/gpt3").problems == []


def test_a_changed_number_is_a_change_of_the_lock_and_no_problem(copy: Path) -> None:
    script = copy / "docs/examples/memory/gpt3.py"
    script.write_text(script.read_text("utf-8").replace("cache_bytes = llm", "cache_bytes = 2 * llm", 1), "utf-8")
    report = check_project(Project(copy), "memory/gpt3")
    assert report.problems == []
    assert not report.good
    assert any(change.key.startswith("memory/gpt3.md | cache_bytes") for change in report.lock)


def test_the_check_of_one_page_compares_its_lines_only(copy: Path) -> None:
    lock = copy / "docs/numbers.lock"
    lines = [line for line in lock.read_text("utf-8").splitlines() if not line.startswith("index.md")]
    lock.write_text("\n".join(lines) + "\n", "utf-8")
    assert check_project(Project(copy), "memory/gpt3").good
    assert check_project(Project(copy), "index").lock


def test_progress_sees_every_page(root: Path) -> None:
    seen: list[str] = []

    def progress(items, what):
        for item in items:
            seen.append(item)
            yield item

    check_project(Project(root), "index", progress)
    assert seen == ["index.md"]
