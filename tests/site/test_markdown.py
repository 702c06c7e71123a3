"""The Markdown extension: numbers wherever Markdown reaches, errors wherever it does not."""

import re
from types import SimpleNamespace

import pytest
from markdown import Markdown
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config

from gpumoat.site import markdown as moat
from gpumoat.site.errors import SiteError
from gpumoat.site.page import Page, current_page
from gpumoat.site.project import Project


def fails(checkout, text: str) -> SiteError:
    with pytest.raises(SiteError) as caught:
        checkout.render(text)
    assert caught.value.path.endswith("docs/en/part/page.md")
    return caught.value


class TestTheElement:
    def test_its_attributes(self, checkout):
        tree = checkout.render("It has {{ weights_bytes:.0f GiB }} and {{ weights_bytes:.0f GiB }}.").prose
        first, second = tree.xpath('.//data[@class="n"]')
        assert dict(first.attrib) == {
            "id": "at-weights-bytes",
            "class": "n",
            "value": str(96 * 2**30),
            "data-kind": "computed",
            "data-expr": "weights_bytes:.0f GiB",
            "data-card": "n-weights-bytes",
            "title": "computed: 103,079,215,104 bytes",
        }
        assert (first.text, second.text) == ("96 GiB", "96 GiB")
        assert "id" not in second.attrib

    @pytest.mark.parametrize(
        ("expression", "kind"),
        [
            ("layers", "cited"),
            ('fact("net.layers")', "cited"),
            ('claim("said")', "claimed"),
            ('measured("run", "free_bytes")', "measured"),
            ("weights_bytes", "computed"),
        ],
    )
    def test_its_kind(self, checkout, expression, kind):
        tree = checkout.render(f"It has {{{{ {expression} }}}}.").prose
        assert tree.xpath("string(.//data/@data-kind)") == kind

    def test_its_text_is_atomic(self, checkout):
        page = checkout.render("See {{ trap }}.\n\n*[HTML]: a language")
        assert page.shown() == ["<b>& **x** HTML"]
        assert not page.prose.xpath(".//data//b | .//data//strong | .//data//abbr | .//data//data")

    def test_a_plain_string_would_not_be(self, checkout, monkeypatch):
        monkeypatch.setattr(moat, "AtomicString", str)  # the fault
        page = checkout.render("See {{ trap }}.\n\n*[HTML]: a language")
        assert page.prose.xpath(".//data//abbr | .//data//strong")


PLACES = {
    "paragraph": "It has {{ layers }}.",
    "strong": "It has **{{ layers }}** of them.",
    "inside strong text": "It **has {{ layers }} layers**.",
    "link": "See [{{ layers }} layers](https://example.org).",
    "heading": "# Of {{ layers }} {#of}",
    "small heading": "###### Of {{ layers }} {: #of .x }",
    "list": "- one\n- {{ layers }}",
    "numbered list": "1. one\n2. {{ layers }}",
    "quote": "> It has {{ layers }}.",
    "table": "| a | b |\n|---|---|\n| x | {{ layers }} |",
    "table head": "| a | {{ layers }} |\n|---|---|\n| x | y |",
    "footnote": "A claim.[^1]\n\n[^1]: It has {{ layers }}.",
    "admonition": "/// note | Title\nIt has {{ layers }}.\n///",
    "admonition title": "/// note | Of {{ layers }}\nText.\n///",
    "details": "/// details | Of {{ layers }}?\nText.\n///",
    "details body": "/// details | Question\nIt has {{ layers }}.\n///",
    "block in HTML": '<div markdown="1">\n\nIt has {{ layers }}.\n\n</div>',
    "after smart text": 'It "has {{ layers }}" layers.',
    "beside code": "`code` {{ layers }} `code`",
}


class TestPlaces:
    @pytest.mark.parametrize("place", PLACES)
    def test_a_number_works_there(self, checkout, place):
        page = checkout.render(PLACES[place])
        assert page.shown() == ["96"]
        assert "{{" not in page.prose.text_content()

    def test_caption_of_a_table(self, checkout):
        text = "/// table | rows\n    columns:\n      card: Card\nOf {{ layers }}.\n///"
        assert checkout.render(text).prose.xpath("string(.//figcaption)").strip() == "Of 96."

    @pytest.mark.parametrize(
        ("text", "path", "shown"),
        [
            ("![Of {{ layers }} layers](a.png)", "string(.//img/@alt)", "Of 96 layers"),
            ('![Layers](a.png "Of {{ layers }}")', "string(.//img/@title)", "Of 96"),
            ('[Layers](https://example.org "Of {{ layers }}")', "string(.//a/@title)", "Of 96"),
        ],
    )
    def test_alternative_texts_and_titles(self, checkout, text, path, shown):
        assert checkout.render(text).prose.xpath(path) == shown


class TestLeftAlone:
    @pytest.mark.parametrize(
        "text",
        [
            "Write `{{ layers }}` so.",
            "Write ``{{ `layers` }}`` so.",
            "```\n{{ layers }}\n```",
            "~~~ text\n{{ layers }}\n~~~",
            "````\n```\n{{ layers }}\n```\n````",
            "    {{ layers }}",
            "- item\n\n    ```\n    {{ layers }}\n    ```",
            "`${{ layers }}$`",
        ],
    )
    def test_code(self, checkout, text):
        page = checkout.render(text)
        assert page.shown() == []
        assert "layers" in page.html
        assert "{{" in page.html

    @pytest.mark.parametrize(
        "text",
        [
            "$$\n\\frac{{a}}{{b}}\n$$",
            "So $x^{{a}_{b} }$ is {{ layers }}.",
            "So $\\sqrt{\\frac{a}{b}}$ is.",
            "So $\\frac{{a}}{{b}}$ is {{ layers }}.",
        ],
    )
    def test_formulas(self, checkout, text):
        page = checkout.render(text)
        assert page.shown() == ["96"] * text.count("layers")
        assert "<math" in page.html

    def test_a_dollar_that_is_no_formula(self, checkout):
        assert checkout.render("It costs 3 $ or {{ layers }} of them.").shown() == ["96"]


class TestHeadings:
    def test_an_automatic_id_is_an_error(self, checkout):
        error = fails(checkout, "# One\n\n## Of {{ layers }} layers\n")
        assert error.line == 3
        assert "needs an id that stays" in error.what

    def test_code_in_a_heading_needs_none(self, checkout):
        assert "<h2" in checkout.render("## The `{{ name }}`\n").html

    def test_the_table_of_contents_and_the_link_hold_text_only(self, checkout):
        project = checkout.write("## Of {{ layers }} layers {#of}\n\nText.\n")
        md = Markdown(
            extensions=["attr_list", "toc", "gpumoat.site.markdown"], extension_configs={"toc": {"permalink": True}}
        )
        md.moat_page = Page(project, "part/page.md")
        md.convert(project.pages.joinpath("part/page.md").read_text(encoding="utf-8"))
        (token,) = md.toc_tokens
        assert (token["name"], token["id"]) == ("Of 96 layers", "of")
        assert "gm-card" not in md.toc
        assert "<data" not in md.toc

    def test_one_list_of_cards_at_the_end(self, checkout):
        page = checkout.render("# Of {{ layers }} {#of}\n\n## And {{ weights_bytes:GiB }} {#and}\n\nText.")
        assert page.html.count('id="numbers"') == 1
        assert page.html.rstrip().endswith("</details>")
        assert "data-search-exclude" in page.html
        assert page.tree.xpath('count(.//article[@class="gm-card"])') == 2
        assert not page.tree.xpath(".//h1//article | .//h2//article")


WRONG = {
    "block of raw HTML": ("<div>\n{{ layers }}\n</div>", 2, "raw HTML"),
    "inline raw HTML": ("One <b>{{ layers</b> }}", 1, ""),
    "attribute of a block": ('<div title="{{ layers }}">\nx\n</div>', 1, "raw HTML"),
    "title of a reference": ('[Layers][l]\n\n[l]: https://example.org "Of {{ layers }}"', 3, "attribute"),
    "dollar before": ("It is ${{ layers }} now", 1, r"a \$ touches"),
    "dollar range": ("It is ${{ layers }}-${{ layers }} now", 1, r"a \$ touches"),
    "dollar after": ("It is {{ layers }}$ now", 1, r"a \$ touches"),
    "unclosed": ("It has {{ layers and so on", 1, "not closed"),
    "unclosed in an item": ("- a\n- It has {{ layers", 2, "not closed"),
    "line break": ("It has {{ layers\n}} so", 1, "not closed on its line"),
    "walrus": ("{{ (x := 1) }}", 1, "not allowed"),
    "bare walrus": ("{{ x := 1 }}", 1, "no :="),
    "lambda": ("{{ lambda: 1 }}", 1, "no lambda"),
    "nested braces": ("{{ {1: 2}[1] }}", 1, "no braces"),
    "conversion": ("{{ layers!r }}", 1, "no ! in"),
    "backslash": ("{{ layers\\_x }}", 1, "no backslash"),
    "pipe": ("{{ layers | round }}", 1, r"no \|"),
    "arithmetic": ("{{ layers + 1 }}", 1, "arithmetic belongs in the example"),
    "a call": ("{{ len(rows) }}", 1, "arithmetic belongs in the example"),
    "empty": ("{{ }}", 1, "is empty"),
    "unknown name": ("\n\nIt has {{ layer }}.", 3, "the example has no 'layer'"),
    "unknown fact": ('{{ fact("net.layer") }}', 1, "no fact 'net.layer': did you mean net.layers"),
    "unknown field": ("{{ rows[0].zzz }}", 1, "AttributeError"),
    "unknown row": ("{{ rows[7] }}", 1, "IndexError"),
    "a list": ("{{ rows }}", 1, "is a list"),
    "wrong unit": ("\nIt has {{ weights_bytes:.1f GHz }}.", 2, "does not fit weights_bytes"),
    "no unit of ours": ("{{ weights_bytes:.1f Gib }}", 1, "unknown unit 'Gib'"),
    "no format": ("{{ layers:zz }}", 1, "unknown unit 'zz'"),
    "unknown source": ("As [@papers] says", 1, "no source 'papers'"),
    "two sources at once": ("As [@paper; @log] say", 1, "no citation of one source: write .*, one for each"),
    "misspelt block": ("/// figur | x\nText.\n///", 1, "'/// figur | x' is not understood: .* did you mean figure?"),
    "a block of no name": ("/// zzz\n///", 1, "no block 'zzz'; there are worked, table, figure"),
    "colon in an option": (
        "/// figure | rows\n    title: T\n    alt: A: b\nText.\n///",
        3,
        "'alt' cannot be read as YAML",
    ),
    "no such option": (
        "/// figure | rows\n    title: T\n    kolour: red\nText.\n///",
        3,
        "no option 'kolour'; it has also, alt",
    ),
    "options that are none": ("/// figure | rows\n    red\nText.\n///", 1, "lines such as 'title: Text'"),
    "misspelt block below": ("One.\n\n/// tabel | rows\nText.\n///", 3, "is not understood"),
    "unknown option": (
        "/// table | rows\n    colums:\n      card: Card\nText.\n///",
        2,
        "no option 'colums'; it has columns",
    ),
    "option of no block": ("/// worked\n    size: 3\n///", 2, "no option 'size'; it has none"),
    "missing columns": ("/// table | rows\nText.\n///", 1, "needs columns"),
    "missing name": ("/// table\n    columns:\n      card: Card\n///", 1, ""),
    "unknown records": ("/// table | row\n    columns:\n      card: Card\nText.\n///", 1, "no list or dict of records"),
    "unknown column": ("/// table | rows\n    columns:\n      cord: Card\nText.\n///", 1, "has no field 'cord'"),
    "column in a wrong unit": (
        "/// table | rows\n    columns:\n      cards:.1f GiB: Cards\nText.\n///",
        1,
        "does not fit",
    ),
    "figure without a title": (
        "/// figure | rows\n    chart: bars\n    x: cards | Cards\n    y: card | Card\n    alt: A\nText.\n///",
        1,
        "has no 'title'",
    ),
    "figure without an alternative": (
        "/// figure | rows\n    chart: bars\n    x: cards | Cards\n    y: card | Card\n    title: A\nText.\n///",
        1,
        "has no 'alt'",
    ),
    "unknown chart": (
        "/// figure | rows\n    chart: pie\n    x: cards | C\n    y: card | C\n    title: A\n    alt: A\nText.\n///",
        1,
        "'pie' is none of bars",
    ),
    "shown twice": (
        "/// table | rows\n    columns:\n      card: Card\nA.\n///\n\n"
        "/// table | rows\n    columns:\n      card: Card\nB.\n///",
        1,
        "shown twice",
    ),
}


class TestErrors:
    """Never text left on the page: the build stops with file, line and what would be right."""

    @pytest.mark.parametrize("case", WRONG)
    def test_it_stops(self, checkout, case):
        text, line, words = WRONG[case]
        error = fails(checkout, text)
        assert re.search(words, error.what), error.what
        assert error.line == line

    def test_an_attribute_of_inline_html(self, checkout):
        assert fails(checkout, 'One <span title="{{ layers }}">x</span>').line == 1

    def test_lines_are_counted_in_the_file_with_its_front_matter(self, checkout):
        assert fails(checkout, "---\ntitle: A\nstatus: new\n---\n\n# One\n\nIt has {{ layer }}.\n").line == 8

    def test_a_failing_example_names_its_own_line(self, checkout):
        checkout.example("x = 1\ny = x / 0\n")
        with pytest.raises(SiteError, match="ZeroDivisionError") as caught:
            checkout.render("It has {{ x }}.")
        assert caught.value.path.endswith("docs/examples/part/page.py")
        assert caught.value.line == 2

    def test_a_worked_block_without_an_example(self, checkout):
        (checkout.root / "docs/examples/part/page.py").unlink()
        assert "there is no example docs/examples/part/page.py" in fails(checkout, "/// worked\n///").what

    def test_without_the_last_look_braces_would_reach_a_reader(self, checkout, monkeypatch):
        monkeypatch.setattr(moat.Leftovers, "run", lambda self, text: text)  # the fault
        assert "{{ layers }}" in checkout.render("<div>\n{{ layers }}\n</div>").html

    def test_a_page_without_an_example_may_cite(self, checkout):
        (checkout.root / "docs/examples/part/page.py").unlink()
        assert checkout.render('It has {{ fact("net.layers"):d }}.').shown() == ["96"]

    def test_a_page_without_numbers_has_no_cards(self, checkout):
        assert "gm-cards" not in checkout.render("# One\n\nText.").html


class TestCitations:
    def test_a_link_to_the_bibliography(self, checkout):
        (link,) = checkout.render("So [@paper, table 2].").tree.xpath('.//a[@class="gm-cite"]')
        assert link.get("href") == "../bibliography.md#paper"
        assert link.text == "(Paper <2020>, table 2)"
        assert link.get("title") == "On & off"

    def test_code_is_no_citation(self, checkout):
        assert "gm-cite" not in checkout.render("Write `[@nobody]`.").html


class TestWorked:
    def test_the_script_and_what_it_prints(self, checkout):
        checkout.example("x = '<b>&'\nprint(x, 1 < 2)\n")
        tree = checkout.render("/// worked\n///").tree
        assert tree.xpath('string(.//pre[contains(@class, "gm-output")])').strip() == "<b>& True"
        assert "print" in tree.xpath('string(.//div[@class="highlight"])')
        assert tree.xpath("string(.//p[@class='gm-worked-head']/a/@href)") == "page.py"


class TestOneAfterAnother:
    def test_nothing_of_a_page_stays(self, checkout):
        md = Markdown(extensions=["gpumoat.site.markdown"])
        for _ in range(2):
            md.reset()
            md.moat_page = Page(checkout.write("It has {{ layers }}."), "part/page.md")
            text = md.convert("It has {{ layers }}.")
            assert text.count("<article") == 1
            assert 'id="at-layers"' in text


class TestCurrentPage:
    def test_under_mkdocs(self, checkout, monkeypatch):
        project = checkout.write("It has {{ layers }}.\n")
        settings = "site_name: x\ndocs_dir: docs/en\nmarkdown_extensions: [gpumoat.site.markdown]\nplugins: []\n"
        checkout.settings(settings)
        monkeypatch.chdir(project.root)
        out = project.root / "out"
        mkdocs_build(load_config(str(project.root / "mkdocs.yml"), site_dir=str(out)))
        assert 'id="at-layers"' in (out / "part/page/index.html").read_text(encoding="utf-8")

    @pytest.mark.parametrize("registry", ["preprocessors", "treeprocessors", "postprocessors"])
    def test_under_zensical(self, checkout, monkeypatch, registry):
        # Zensical names its page on a processor of this name; tests of the second builder run it itself.
        project = checkout.write("Text")
        monkeypatch.chdir(project.root)
        md = Markdown()
        processor = SimpleNamespace(page=SimpleNamespace(path="part/page.md"))
        getattr(md, registry).register(processor, "rendering_context", 1)
        found = current_page(md)
        assert found.path == "part/page.md"
        assert found.script == Project(project.root).examples / "part/page.py"

    def test_under_neither(self, checkout, monkeypatch):
        project = checkout.write("Text")
        monkeypatch.chdir(project.root)
        with pytest.raises(SiteError, match="where no page is rendered"):
            Markdown(extensions=["gpumoat.site.markdown"]).convert("It has {{ layers }}.")

    def test_plain_text_needs_no_page(self):
        assert Markdown(extensions=["gpumoat.site.markdown"]).convert("A docstring.") == "<p>A docstring.</p>"
