"""The foot of a chapter: the days of its facts, and a citation that invents nothing; and the errata."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lxml import html

from gpumoat import facts
from gpumoat.site import errata
from gpumoat.site.errata import check_errata, load_errata
from gpumoat.site.errors import SiteError
from gpumoat.site.foot import bibtex, checked, citation

PAGE = "# A title with 5% & more?\n\nIt has {{ layers }} layers.\n"


def test_only_the_facts_behind_the_page_count(checkout) -> None:
    known = facts.registry().facts
    known["net.layers"].row["checked"] = "2026-01-02"
    assert checked(checkout.render("It has {{ layers }}.").page).newest == "2026-01-02"
    found = checked(checkout.render('It has {{ layers }} and {{ rows[0]["memory_bytes"]:GiB }}.').page)
    assert (found.oldest, found.newest, found.facts, found.unverified) == ("2026-01-02", "2026-11-30", 2, 0)
    found = checked(checkout.render('A card is {{ fact("card.price_usd"):.0f USD }}.').page)
    assert (found.facts, found.unverified) == (1, 1)


def test_an_assumption_and_a_claim_are_no_facts(checkout) -> None:
    checkout.example("from gpumoat import assume, claim, measured\na = assume(3, 'why')\nb_bytes = claim('said')\n"
                     "c_bytes = measured('run', 'free_bytes')\n")  # fmt: skip
    found = checked(checkout.render("{{ a }}, {{ b_bytes:GiB }} and {{ c_bytes:GiB }}.").page)
    assert found == type(found)("", "", 0, 0, 0, ("2026-11-30",))


def test_the_foot_stands_before_the_cards(checkout) -> None:
    tree = checkout.render(PAGE).tree
    (foot,) = tree.xpath(".//section[@class='gm-foot no-copy']")
    assert foot.getnext().get("id") == "numbers"
    assert foot.get("data-search-exclude") is not None
    assert "The fact behind this page was last checked on 2026-11-30." in foot.text_content()
    assert foot.xpath(".//time/@datetime")[0] == "2026-11-30"
    assert "errata" not in foot.text_content(), "no link to a page that is not there"


def test_how_far_the_facts_are_to_be_trusted_is_counted(checkout) -> None:
    """The planted fault: a chapter of quoted facts whose foot says nothing of it."""
    known = facts.registry().facts
    text = 'It has {{ layers }} and {{ rows[0]["memory_bytes"]:GiB }}, for {{ fact("card.price_usd"):.0f USD }}.'

    def foot() -> str:
        (found,) = checkout.render(text).tree.xpath(".//p[@class='gm-checked']")
        return found.text_content()

    for fact in known.values():
        fact.row["status"] = "verified"
    assert "We read each of them at its source." in foot()
    known["net.layers"].row["status"] = known["card.price_usd"].row["status"] = "quoted"
    assert "Of these: 1 read at the source, 2 quoted from somebody who had read it. Each card says which." in foot()
    known["card.price_usd"].row["status"] = "unverified"
    assert "1 quoted from somebody who had read it, 1 not read at any source." in foot()


def test_a_page_without_an_example_has_no_foot(checkout) -> None:
    (checkout.root / "docs/examples/part/page.py").unlink()
    assert "gm-foot" not in checkout.render('It has {{ fact("net.layers") }}.').html


def test_a_citation_without_an_address(checkout) -> None:
    page = checkout.render(PAGE).page
    text, entry = citation(page, checked(page)), bibtex(page, checked(page))
    assert (
        text
        == "The GPU Moat contributors (2026). “A title with 5% & more?” In: The GPU Moat, facts checked 2026-11-30."
    )
    assert entry == (
        '@incollection{gpumoat-part-page,\n  author = "{The GPU Moat contributors}",\n'
        '  title = "{A title with 5\\% \\& more?}",\n  booktitle = "The GPU Moat",\n  year = "2026",\n'
        '  note = "Facts checked 2026-11-30"\n}'
    )
    assert "://" not in text + entry, "no address is invented"


def test_a_citation_with_the_sites_address(checkout) -> None:
    text = (checkout.root / "mkdocs.yml").read_text("utf-8")
    checkout.settings(re.sub(r"(?m)^site_url: .*$", "site_url: https://moat.example.org/book/", text))
    page = checkout.render(PAGE).page
    assert citation(page, checked(page)).endswith(" https://moat.example.org/book/part/page/")
    assert '  url = "https://moat.example.org/book/part/page/"' in bibtex(page, checked(page))


def test_a_page_that_rests_on_no_dated_fact(checkout) -> None:
    checkout.example("layers = 2\n")
    page = checkout.render("---\ntitle: Front\n---\n# Heading\n\nIt has {{ layers }}.").page
    assert citation(page, checked(page)) == "The GPU Moat contributors. “Front.” In: The GPU Moat."
    assert "year" not in bibtex(page, checked(page))


def test_braces_of_a_title_balance(checkout) -> None:
    page = checkout.render("---\ntitle: 'A {_$#^~\\\\ b'\n---\nIt has {{ layers }}.").page
    entry = re.sub(r"\\[{}]", "", bibtex(page, checked(page)))
    assert entry.count("{") == entry.count("}")


def test_the_chapter_says_what_the_registry_says(root: Path, built_site: Path) -> None:
    from gpumoat.site.lock import render
    from gpumoat.site.project import Project

    page, _ = render(Project(root), "memory/gpt3.md")
    ids = {read.id for number in page.numbers.values() for read in number.origin.reads if read.kind == "cited"}
    days = {facts.registry().facts[id].text("checked") for id in ids}
    (foot,) = html.parse(str(built_site / "memory/gpt3/index.html")).xpath("//section[@aria-label='About this page']")
    assert f"The {len(ids)} facts behind this page" in foot.text_content()
    assert {min(days), max(days)} <= set(foot.xpath(".//time/@datetime"))
    assert foot.xpath(".//a[text()='errata']/@href") == ["../../errata/"]


# Errata

ENTRY = '[[erratum]]\ndate = "2027-01-31"\npage = "part/page"\nwrong = "5 <GiB>"\nright = "6 GiB & more"\n'


def write(folder: Path, text: str) -> Path:
    path = folder / "errata.toml"
    path.write_text("schema = 1\n" + text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (ENTRY.replace("2027-01-31", "2027-02-31"), "errata.toml:2: date '2027-02-31' is no day"),
        (ENTRY.replace("2027-01-31", "20270131"), "is no day: write it as"),
        (ENTRY.replace("part/page", "part/gone"), "there is no page 'part/gone'"),
        (ENTRY.replace("wrong =", "was ="), "an erratum needs wrong"),
        (ENTRY + "colour = 'x'\n", "unknown field colour"),
        ("[[erratum]\n", "no valid TOML"),
    ],
)
def test_bad_errata_are_named(checkout, tmp_path: Path, text: str, says: str) -> None:
    project = checkout.write("# Page\n")
    path = write(tmp_path, text)
    with pytest.raises(SiteError, match=says):
        load_errata(project, path)
    assert len(check_errata(project, path)) == 1
    assert check_errata(project, write(tmp_path, ENTRY)) == []


def test_the_newest_stands_first_and_its_text_is_text(
    checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = ENTRY.replace("2027-01-31", "2026-12-01") + 'report = "a reader"\n'
    monkeypatch.setattr(errata, "ERRATA", write(tmp_path, older + ENTRY))
    tree = checkout.render("# The title\n\n/// errata\n///\n").tree
    entries = tree.xpath(".//section[@class='gm-erratum']")
    assert [one.xpath("string(.//time)") for one in entries] == ["2027-01-31", "2026-12-01"]
    assert "Was: 5 <GiB>" in entries[0].text_content()
    assert "Is: 6 GiB & more" in entries[0].text_content()
    assert "Noticed by: a reader" in entries[1].text_content()
    assert entries[0].xpath(".//a")[0].text == "The title"


def test_no_errata_say_so(checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errata, "ERRATA", write(tmp_path, ""))
    assert "None so far." in checkout.render("# The title\n\n/// errata\n///\n").html
