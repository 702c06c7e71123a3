"""The checkout: its settings, its pages, and one clear line where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpumoat.site.errors import SiteError, short
from gpumoat.site.project import Project, find_project


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with two pages."""
    for name in ("docs/en/memory/gpt3.md", "docs/en/index.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("# T\n")
    (tmp_path / "mkdocs.yml").write_text("docs_dir: docs/en\n")
    return tmp_path


def test_a_folder_inside_finds_the_root(checkout: Path) -> None:
    assert find_project(checkout / "docs" / "en" / "memory").root == checkout.resolve()
    assert find_project(checkout).root == checkout.resolve()


def test_the_working_folder_is_where_it_looks(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(checkout / "docs")
    assert find_project().root == checkout.resolve()


def test_outside_a_checkout_one_line_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SiteError, match=r"no mkdocs\.yml here or in a folder above: run this inside the checkout"):
        find_project(tmp_path)


def test_pages_in_order_with_forward_slashes(checkout: Path) -> None:
    project = Project(checkout)
    assert project.all_pages() == ["index.md", "memory/gpt3.md"]
    assert project.example_of("memory/gpt3.md") == checkout / "docs/examples/memory/gpt3.py"
    assert project.lock == checkout / "docs/numbers.lock"


def test_the_repository_is_one_setting_and_empty_until_it_is_filled(checkout: Path) -> None:
    assert Project(checkout).repository == ""
    (checkout / "mkdocs.yml").write_text("extra:\n  repository: https://example.org/them/moat/\n")
    assert Project(checkout).repository == "https://example.org/them/moat"
    (checkout / "mkdocs.yml").write_text("extra:\n")
    assert Project(checkout).repository == ""


def test_tags_of_the_builder_are_read_as_text(checkout: Path) -> None:
    text = "site_url: !ENV [SITE, '']\nfence: !!python/name:pymdownx.superfences.fence_div_format\n"
    (checkout / "mkdocs.yml").write_text(text)
    assert set(Project(checkout).settings) == {"site_url", "fence"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: 1\nb: [c\n", "mkdocs.yml:3: no valid YAML"),
        ("- a\n- b\n", "mkdocs.yml: holds no settings"),
        ("just words\n", "mkdocs.yml: holds no settings"),
    ],
)
def test_a_broken_file_of_settings_is_named_with_its_line(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, text: str, says: str
) -> None:
    monkeypatch.chdir(checkout)
    (checkout / "mkdocs.yml").write_text(text)
    with pytest.raises(SiteError) as failed:
        _ = Project(checkout).settings
    assert str(failed.value).startswith(says)


def test_paths_are_short_below_the_working_folder_and_whole_elsewhere(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(checkout / "docs")
    assert short(checkout / "docs" / "en" / "index.md") == "en/index.md"
    assert short(checkout / "mkdocs.yml") == (checkout / "mkdocs.yml").as_posix()
