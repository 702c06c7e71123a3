"""Terms: marked once on a page and only in running text, listed with their chapters, and checked against the prose.

Policy: the marker is tested on pages of its own, with terms of its own; the glossary of the checkout is tested for what
a reader gets. Each check has a planted fault.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from lxml import html
from markdown.util import AtomicString

from gpumoat.site import glossary
from gpumoat.site.errors import SiteError
from gpumoat.site.glossary import Glossary, Term, check_glossary, introduced, load_glossary, pattern, usage
from gpumoat.site.page import Page
from gpumoat.site.project import Project

TERMS = (
    Term("cache", "part/page", "A store.", "It is near."),
    Term("KV cache", "part/page", 'Keys & "values".', "It grows.", ("KV caches",)),
    Term("warp", "part/page", "A group of threads.", "It moves as one.", ("warps",)),
    Term("layer", "part/page", "A step.", "They follow.", (), ("other",)),
    Term("die", "part/absent", "A chip.", "It is cut."),
)


@pytest.fixture
def marked(checkout, monkeypatch: pytest.MonkeyPatch):
    """Render a page with the terms above; return its tree and the marked words."""
    monkeypatch.setattr(glossary, "load_glossary", lambda *_: Glossary(TERMS))

    def render(text: str) -> tuple[html.HtmlElement, list[str]]:
        tree = checkout.render("It has {{ layers }}.\n\n" + text).prose
        return tree, [one.text_content() for one in tree.xpath(".//abbr")]

    return render


def test_the_first_mention_is_marked_and_no_later_one(marked) -> None:
    tree, words = marked("A warp, and another warp.\n\nAnd *warps* again.")
    assert words == ["warp"]
    (word,) = tree.xpath(".//abbr")
    assert dict(word.attrib) == {
        "class": "gm-term", "title": "A group of threads.", "tabindex": "0", "data-term": "warp"
    }  # fmt: skip
    assert word.tail == ", and another warp."


def test_the_text_stays_as_it_was(marked) -> None:
    text = "Before a warp, then KV caches and a cache: *one* warp of `code`, **bold** cache."
    tree, words = marked(text)
    assert words == ["warp", "KV caches", "cache"]
    assert " ".join(tree.xpath(".//p")[1].text_content().split()) == text.replace("*", "").replace("`", "")


def test_the_order_is_that_of_reading(marked) -> None:
    tree, words = marked("- *A cache* in a list\n- a warp **and a KV cache** here\n\nThen a cache and a warp.")
    assert words == ["cache", "warp", "KV cache"]
    assert [one.getparent().tag for one in tree.xpath(".//abbr")] == ["em", "li", "strong"]


@pytest.mark.parametrize(
    "text",
    [
        "## A warp {#x}",
        "A [warp](page.md) here.",
        "A `warp` here.",
        "```\nwarp\n```",
        "A <abbr title='own'>warp</abbr> here.",
        "A <a href='x'>good <i>warp</i> here</a>.",
        "A formula $warp$ here.",
        "/// details | A warp?\nText.\n///",
        "| warp |\n|---|\n| x |",
        "Warping, a sub-warp, a warp-wide thing, and WARP.",
        "A kv cached thing.",
        "A layer is another thing on this page.",
        "A die waits for its chapter.",
    ],
)
def test_what_is_left_alone(marked, text: str) -> None:
    tree, words = marked(text)
    assert words == (["warp"] if "own" in text else [])
    assert not tree.xpath(".//abbr[@class='gm-term']")


def test_after_raw_html_terms_are_marked_again(marked) -> None:
    assert (
        marked("A <a href='x'>warp</a>, <b>a</b> <br> warp.")[0].xpath("string(.//abbr/preceding-sibling::a)") == "warp"
    )


def test_a_number_and_its_card_are_left_alone(marked, checkout) -> None:
    checkout.example("warp = 'a warp'\nlayers = 2\nwarp_count = 32\n")
    tree, words = marked("It is {{ warp_count }} and {{ warp_count:.1f }}.")
    assert words == []
    assert [one.text_content() for one in tree.xpath(".//data")] == ["2", "32", "32.0"]


def test_a_capital_begins_a_sentence_and_names_keep_theirs(marked) -> None:
    assert marked("Warps begin.")[1] == ["Warps"]
    assert marked("A Kv Cache is none.")[1] == ["Cache"], "and no KV cache"


def test_a_line_may_end_inside_a_term(marked) -> None:
    assert marked("The KV\ncache is long.")[1] == ["KV\ncache"]


def test_finished_html_is_left_alone() -> None:
    root = ElementTree.fromstring("<div><p/></div>")
    root[0].text = AtomicString("a warp")
    assert glossary.mark_first_mentions(root, list(TERMS)) == []
    assert glossary.mark_first_mentions(root, []) == []


def test_a_page_that_is_no_chapter_is_left_alone(marked, checkout) -> None:
    (checkout.root / "docs/examples/part/page.py").unlink()
    tree = checkout.render('A warp and {{ fact("net.layers") }}.').prose
    assert not tree.xpath(".//abbr")


def test_where_a_word_has_its_meaning() -> None:
    term = Term("x", "a/b", "S.", "M.", (), ("memory", "compute/image"))
    assert [term.means_this_on(path) for path in ("memory/gpt3.md", "compute/image.md")] == [True, True]
    assert [term.means_this_on(path) for path in ("memoryx/a.md", "compute/image-two.md", "x.md")] == [False] * 3


def test_the_longest_form_wins() -> None:
    find = pattern(TERMS)
    assert find is not None
    assert find.findall("KV caches, a cache") == ["KV caches", "cache"]
    assert pattern([]) is None


# The data


GOOD = '[[term]]\nname = "warp"\nchapter = "part/page"\nshort = "A group."\nmore = "It moves."\n'


def write(folder: Path, text: str) -> Path:
    path = folder / "glossary.toml"
    path.write_text("schema = 1\n" + text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (GOOD.replace('more = "It moves."\n', ""), r"glossary.toml:2: a term needs more"),
        (GOOD.replace("It moves.", ""), "a term needs more"),
        (GOOD + "colour = 1\n", "unknown field colour"),
        (GOOD + 'also = "warps"\n', "also must be a list of texts"),
        (GOOD + GOOD.replace('"warp"', '"Warp"'), r"glossary.toml:7: 'Warp' is there already, as 'warp'"),
        (GOOD.replace("A group.", "A group of 32 threads."), "short of 'warp' holds a typed number, 32"),
        (GOOD.replace("A group.", "A group"), "must be a sentence"),
        ("[[term]\n", "no valid TOML"),
    ],
)
def test_bad_data_is_named(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(SiteError, match=says):
        load_glossary(write(tmp_path, text))
    assert len(load_glossary(write(tmp_path, GOOD)).terms) == 1


def test_the_check_says_what_is_unused_and_what_is_undefined(checkout, tmp_path: Path) -> None:
    project = checkout.write(
        "# Page\n\nIt has {{ layers }}, *stress* and a *lane* in `*code*`.\n\n*The lecture:* no.\n"
    )
    path = write(tmp_path, 'plain = ["stress"]\n' + GOOD)
    unused, undefined = check_glossary(project, "", path)
    assert "glossary.toml:4: no chapter uses 'warp'" in unused.replace(str(tmp_path) + "/", "")
    assert "page.md:3: 'lane' is introduced and not defined" in undefined
    assert check_glossary(project, "part/page.md", path) == [undefined], "of one page: its words only"
    checkout.write("# Page\n\nIt has {{ layers }} warps: a warp.\n")
    assert check_glossary(project, "", path) == []
    (checkout.root / "docs/en/part/page.md").unlink()
    assert check_glossary(project, "", path) == [], "a term waits for its chapter"


def test_bad_data_is_one_line_of_the_check(checkout, tmp_path: Path) -> None:
    (line,) = check_glossary(checkout.write("# Page\n"), "", write(tmp_path, GOOD + "colour = 1\n"))
    assert "unknown field colour" in line


# The glossary of the book


def test_every_term_of_the_book_is_used_and_every_introduced_word_defined(root: Path) -> None:
    assert check_glossary(Project(root)) == []


def test_the_chapter_on_gpt3_introduces_terms(root: Path) -> None:
    words = {word for _, word in introduced(Page(Project(root), "memory/gpt3.md"))}
    assert {"KV cache", "activations"} <= words


def test_the_page_lists_the_terms_with_links_that_the_builder_checks(root: Path, built_site: Path) -> None:
    page = html.parse(str(built_site / "glossary/index.html"))
    found = load_glossary()
    used = usage(Project(root), found)
    names = [one.text_content() for one in page.xpath("//dl[@class='gm-glossary']/dt")]
    assert names == [term.name for term in found.shown(Project(root)) if used[term.name]]
    assert names == sorted(names, key=str.lower)
    assert len(names) > 15
    assert page.xpath("//dt[@id='kv-cache']/following-sibling::dd[1]//a/@href")[0] == "../memory/gpt3/"


def test_marks_of_a_chapter_name_entries_of_the_glossary(built_site: Path) -> None:
    entries = set(html.parse(str(built_site / "glossary/index.html")).xpath("//dl/dt/@id"))
    chapter = html.parse(str(built_site / "memory/gpt3/index.html"))
    marks = chapter.xpath("//abbr[@class='gm-term']/@data-term")
    assert len(marks) == len(set(marks)) > 10
    assert set(marks) <= entries
    assert not chapter.xpath(
        "//*[self::h1 or self::h2 or self::a or self::code or self::summary]//abbr[@class='gm-term']"
    )
