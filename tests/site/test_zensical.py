"""The second builder: the same tree under Zensical has the same pages, headings, numbers, cards and links.

Policy: the copy that is built lies in a temporary folder, so the checkout stays clean (Zensical writes its cache and
its site into the project). What is the builder's own is left out or made equal, each with its reason:

- ids and links of the theme's frame (the link that skips to the content, the navigation): only the article is
  compared;
- a link to a place on the same page is `#place` under MkDocs and `./#place` under Zensical: links are compared by
  where they lead;
- the table of contents keeps the element of a number in a heading, where MkDocs keeps its text: texts are compared.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urljoin

import pytest
from lxml import html

from gpumoat.site import pages as built
from gpumoat.site.build import publish
from gpumoat.site.lock import render
from gpumoat.site.page import Page
from gpumoat.site.project import Project


@pytest.fixture(scope="session")
def zensical_site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as Zensical builds it, with the files that our own build puts beside the pages."""
    copy = tmp_path_factory.mktemp("zensical")
    shutil.copytree(root / "docs", copy / "docs")
    shutil.copytree(root / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(root / "mkdocs.yml", copy)
    done = subprocess.run(
        [Path(sys.executable).with_name("zensical"), "build", "--clean", "--strict"],
        cwd=copy,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    project = Project(root)
    publish([render(project, path)[0] for path in project.all_pages()], copy / "site")
    return copy / "site"


@pytest.mark.parametrize(
    ("path", "rebased", "root_way", "beside"),
    [
        ("memory/gpt3.md", False, "../../", ""),
        ("memory/gpt3.md", True, "../", "gpt3/"),
        ("memory/index.md", False, "../", ""),
        ("memory/index.md", True, "../", ""),
        ("index.md", False, "", ""),
        ("index.md", True, "", ""),
        ("contribute.md", False, "../", ""),
        ("contribute.md", True, "", "contribute/"),
    ],
)
def test_where_links_of_finished_html_begin(root: Path, path: str, rebased: bool, root_way: str, beside: str) -> None:
    page = Page(Project(root), path, rebased)
    assert (page.root, page.beside) == (root_way, beside)


def trees(folder: Path) -> dict[str, html.HtmlElement]:
    """Every page of a site, parsed."""
    return {
        path.relative_to(folder).as_posix(): html.document_fromstring(path.read_bytes())
        for path in sorted(folder.rglob("*.html"))
    }


@pytest.fixture(scope="session")
def both(built_site: Path, zensical_site: Path) -> tuple[dict[str, html.HtmlElement], dict[str, html.HtmlElement]]:
    """The pages of both sites."""
    return trees(built_site), trees(zensical_site)


def article(page: html.HtmlElement) -> html.HtmlElement:
    """What a page says, without the theme's frame."""
    (found,) = page.xpath("//article[contains(concat(' ', @class, ' '), ' md-content__inner ')]")
    return found


def text(element: html.HtmlElement) -> str:
    """The text of an element, with single spaces."""
    return " ".join(element.text_content().split())


def numbers(page: html.HtmlElement) -> list[tuple[str | None, ...]]:
    """Every number of the article with all that it carries."""
    names = ("data-expr", "data-kind", "value", "data-card", "id", "title")
    return [(*map(one.get, names), one.text_content()) for one in article(page).xpath(".//data[@class='n']")]


def headings(page: html.HtmlElement) -> list[tuple[str, str | None, str]]:
    """Every heading of the article with its id."""
    return [
        (one.tag, one.get("id"), text(one))
        for one in article(page).xpath(
            ".//*[re:test(name(), '^h[1-6]$')]", namespaces={"re": "http://exslt.org/regular-expressions"}
        )
    ]


def cards(page: html.HtmlElement) -> list[tuple[str | None, str | None, str]]:
    """Every card with its id and its kind."""
    found = article(page).xpath(".//article[contains(concat(' ', @class, ' '), ' gm-card ')]")
    return [(one.get("id"), one.get("data-kind"), text(one)) for one in found]


def contents(page: html.HtmlElement) -> list[str]:
    """The texts of the table of contents."""
    return [text(one) for one in page.xpath("//nav[contains(@class, 'md-nav--secondary')]//li/a")]


def links(name: str, page: html.HtmlElement) -> list[tuple[str, str]]:
    """Every link of the article: where it leads, and its text."""
    return [
        (
            urljoin(f"https://site.invalid/{name.removesuffix('index.html')}", one.get("href")).replace(
                "/index.html", "/"
            ),
            text(one),
        )
        for one in article(page).xpath(".//a[@href]")
    ]


def test_the_same_pages(both) -> None:
    assert set(both[0]) == set(both[1])
    assert "memory/gpt3/index.html" in both[0]


@pytest.mark.parametrize("what", [numbers, headings, cards, contents], ids=lambda what: what.__name__)
def test_the_same_on_every_page(both, what) -> None:
    ours, theirs = both
    count = 0
    for name in ours:
        if name != "404.html":  # the theme's own page
            assert what(theirs[name]) == what(ours[name]), name
            count += len(what(ours[name]))
    assert count > 50, "this looked at something"


def test_the_same_figures_tables_formulas_and_listings(both) -> None:
    ours, theirs = both
    for name in ours:
        for path in ("//svg[@role='img']", "//figure", "//math", "//pre", "//details"):
            assert [text(one) for one in theirs[name].xpath(path)] == [text(one) for one in ours[name].xpath(path)], (
                name
            )


def test_links_lead_to_the_same_places(both) -> None:
    ours, theirs = both
    for name in ours:
        if name != "404.html":
            assert links(name, theirs[name]) == links(name, ours[name]), name


def test_the_page_checks_pass_there_too(zensical_site: Path) -> None:
    assert [str(problem) for problem in built.check(zensical_site)] == []


def entries(index: Path, key: str) -> dict[str, tuple[str, str]]:
    """A search index: for each place its title and text, without markup and with single spaces."""
    found = {}
    for item in json.loads(index.read_text(encoding="utf-8"))[key]:
        plain = [
            " ".join((html.fromstring(f"<p>{item[part]}</p>").text_content()).split()) for part in ("title", "text")
        ]
        found[item["location"]] = (plain[0], plain[1])
    return found


@pytest.fixture(scope="session")
def indexes(built_site: Path, zensical_site: Path) -> list[dict[str, tuple[str, str]]]:
    """What both searches know."""
    return [
        entries(built_site / "search" / "search_index.json", "docs"),
        entries(zensical_site / "search.json", "items"),
    ]


def test_search_holds_the_numbers_as_text_and_no_card(both, indexes) -> None:
    page = both[0]["memory/gpt3/index.html"]
    for index in indexes:
        known = {place: title + " " + content for place, (title, content) in index.items()}
        chapter = " ".join(content for place, content in known.items() if place.startswith("memory/gpt3/"))
        for sentence in article(page).xpath("./p[data]"):
            assert text(sentence) in chapter
        (heading,) = page.xpath("//h2[@id='times-four']")
        assert text(heading).rstrip("¶").strip() == index["memory/gpt3/#times-four"][0]
        for mark in ("Report this number", "Shown as", "in the worked example.", "gm-card"):
            cards_only = [place for place, content in known.items() if mark in content and "contribute" not in place]
            assert cards_only == [], mark
        assert not any(text(one)[:40] in chapter for one in page.xpath("//ul[@class='gm-card-reads']/li"))


def test_both_searches_know_the_same_places(indexes) -> None:
    assert set(indexes[0]) == set(indexes[1])
    differing = [place for place in indexes[0] if indexes[0][place][0] != indexes[1][place][0]]
    assert differing == []
