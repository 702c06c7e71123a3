"""The page checks: a sound site passes, and each rule is seen to fail on a planted fault."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree, html

from gpumoat.site import pages
from gpumoat.site.pages import Allowed, PagesError, Problem, check

SOUND = """<!doctype html>
<html lang="en"><head><title>Weights</title>
<link rel="canonical" href="https://example.org/memory/">
<link rel="stylesheet" href="../assets/site.css">
<script src="../assets/site.js"></script></head>
<body>
<h1 id="weights">What weights take</h1>
<h2 id="size-of-a-layer">A layer takes <data class="n" value="2717909100" data-kind="computed"
  data-expr="layer_bytes" data-card="n-layer-bytes">2,717,909,100 bytes</data></h2>
<p><a href="..">home</a> <a href="../index.html#top">up</a> <a href="#weights">here</a> <a href="gpt3.py">file</a>
<a href="https://example.org/paper">a paper</a> <a href="mailto:someone@example.org">write</a></p>
<p><a href="?q=x">q</a>
<img src="../assets/dot.png" srcset="../assets/dot.png 1x,../assets/dot.png 2x" alt="a dot"></p>
<pre><code>{{ layer_bytes }}</code></pre> <math alttext="{{a}}"><mi>{{</mi></math>
<svg role="img" aria-label="bars" style="fill: url(#shade)">
<defs><g id="shade"></g></defs><use href="#shade"/></svg>
<details><summary>Where the number comes from</summary>
<article class="gm-card" id="n-layer-bytes" data-kind="computed">computed</article></details>
</body></html>
"""
HOME = '<html lang="en"><head><title>Home</title></head><body><a href="memory/#weights">m</a></body></html>'
MISSING = '<html lang="en"><head><title>?</title></head><body><a href="/memory/">m</a></body></html>'
CSS = """/* url(https://example.org/never.png) */
@import "more.css";
body { background: url(dot.png); mask: url("data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>") }
"""
JS = 'const space = "http://www.w3.org/2000/svg", pattern = /^https?:\\/\\//; fetch("data.json"); // a comment\n'


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A small site without a fault."""
    files = {
        "index.html": HOME,
        "404.html": MISSING,
        "memory/index.html": SOUND,
        "memory/gpt3.py": "print(1)\n",
        "assets/site.css": CSS,
        "assets/more.css": "p { color: red }",
        "assets/site.js": JS,
        "assets/dot.png": "",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path


def add(site: Path, fragment: str, name: str = "memory/index.html") -> list[Problem]:
    """The problems after `fragment` was put at the end of a page's body."""
    path = site / name
    path.write_text(path.read_text("utf-8").replace("</body>", fragment + "\n</body>"), "utf-8")
    return check(site)


def test_a_sound_site_has_no_problem(site: Path) -> None:
    assert check(site) == []


BODY_FAULTS = [
    # links
    ("link", '<a href="nowhere/">x</a>', "names memory/nowhere/index.html, which is not in the site"),
    ("link", '<a href="GPT3.py">x</a>', "the file is written memory/gpt3.py"),
    ("link", '<a href="../memory">x</a>', "end it with a slash: ../memory/"),
    ("link", '<a href="../../index.html">x</a>', "leads out of the site"),
    ("link", '<a href="/index.html">x</a>', "write it relative to the page"),
    ("link", '<a href="#missing">x</a>', "has no id 'missing'"),
    ("link", '<a href="../index.html#weights">x</a>', "index.html has no id 'weights'"),
    ("link", '<a href="gpt3.py#L3">x</a>', "leave the #fragment out"),
    ("link", '<a href="javascript:alert(1)">x</a>', "no link for a reader"),
    ("link", '<a href="file:///etc/hosts">x</a>', "no link for a reader"),
    ("link", '<a href="//example.org/x">x</a>', "write https://example.org/x"),
    ("link", '<svg><use href="#part"/></svg>', "has no id 'part'"),
    ("link", '<link rel="next" href="later/">', "not in the site"),
    # files
    ("file", '<img src="no.png" alt="">', "not in the site"),
    ("file", '<img src="" alt="">', "is empty"),
    ("file", '<img srcset="../assets/dot.png 1x, no.png 2x" alt="">', "memory/no.png"),
    ("file", '<script src="no.js"></script>', "not in the site"),
    ("file", '<link rel="stylesheet" href="no.css">', "not in the site"),
    ("file", '<object data="no.svg"></object>', "not in the site"),
    ("file", '<video poster="no.png"></video>', "not in the site"),
    ("file", '<p style="background: url(no.png)">x</p>', "not in the site"),
    ("file", '<img src="file:///x.png" alt="">', "write one relative to the page"),
    # hosts
    ("host", '<script src="https://cdn.example.org/a.js"></script>', "asks cdn.example.org"),
    ("host", '<img src="//cdn.example.org/a.png" alt="">', "asks cdn.example.org"),
    ("host", '<img srcset="https://cdn.example.org/a.png 2x" alt="">', "asks cdn.example.org"),
    ("host", '<iframe src="https://example.org/"></iframe>', "asks example.org"),
    ("host", '<source src="https://example.org/a.mp4">', "asks example.org"),
    ("host", '<source srcset="https://example.org/a.png">', "asks example.org"),
    ("host", '<link rel="preconnect" href="https://fonts.example.org">', "asks fonts.example.org"),
    ("host", '<link rel="dns-prefetch" href="//fonts.example.org">', "asks fonts.example.org"),
    ("host", '<link rel="stylesheet" href="https://fonts.example.org/css">', "asks fonts.example.org"),
    (
        "host",
        '<link rel="alternate stylesheet" href="https://fonts.example.org/css">',
        "asks fonts.example.org",
    ),
    ("host", '<svg><image xlink:href="https://example.org/a.png"/></svg>', "asks example.org"),
    ("host", '<style>@import url("https://fonts.example.org/css");</style>', "asks fonts.example.org"),
    ("host", '<p style="background: url(https://example.org/a.png)">x</p>', "asks example.org"),
    ("host", '<form action="https://example.org/q"></form>', "sends to example.org"),
    ("host", '<a href="#weights" ping="https://example.org/p">x</a>', "sends to example.org"),
    ("host", '<script>fetch("https://api.example.org/v1")</script>', "the host api.example.org"),
    (
        "host",
        "<button onclick=\"fetch('https://api.example.org/v1')\">x</button>",
        "the host api.example.org",
    ),
    (
        "host",
        '<script type="importmap">{"imports": {"a": "https://cdn.example.org/a"}}</script>',
        "cdn.example.org",
    ),
    # pages
    ("page", '<base href="/x/">', "<base> moves every link"),
    ("page", '<meta http-equiv="Refresh" content="0; url=x">', "refresh"),
    ("alt", '<img src="../assets/dot.png">', "has no alt"),
    ("id", '<p id="weights">x</p>', "stands on line 7 already"),
    ("id", '<p id=" ">x</p>', "an empty id"),
    # folded parts
    ("details", "<details><p>x</p></details>", "has 0 summaries"),
    ("details", "<details><summary>a</summary><summary>b</summary></details>", "has 2 summaries"),
    ("details", "<details><p>x</p><summary>a</summary></details>", "move it to the front"),
    ("details", "<details>text<summary>a</summary></details>", "move it to the front"),
    ("details", "<details><summary> </summary>x</details>", "without text"),
    ("details", "<div><summary>a</summary></div>", "outside <details>"),
    ("details", "<details><summary>a</summary>x", "2 <details> but 1 </details>"),
    ("details", "<p><details><summary>a</summary>x</details></p>", "inside a paragraph"),
    # numbers
    (
        "braces",
        "<p>It takes {{ weights_bytes:.0f GiB }}.</p>",
        "'{{ weights_bytes:.0f GiB }}.' was not replaced",
    ),
    ("braces", '<p title="{{ a }}">x</p>', "was not replaced"),
    (
        "number",
        '<data class="n" value="1" data-kind="typed" data-card="n-layer-bytes">1</data>',
        "the kind 'typed'",
    ),
    ("number", '<data class="n" value="1" data-card="n-layer-bytes">1</data>', "the kind None"),
    (
        "number",
        '<data class="n" value="1" data-kind="cited" data-card="n-gone">1</data>',
        "the card 'n-gone'",
    ),
    (
        "number",
        '<data class="n" value="1" data-kind="cited" data-card="weights">1</data>',
        "the card 'weights'",
    ),
    (
        "number",
        '<data class="n" value="1" data-kind="cited" data-card="n-layer-bytes">1</data>',
        "its card says",
    ),
    (
        "number",
        '<data class="n" data-kind="computed" data-card="n-layer-bytes">1</data>',
        "no value attribute",
    ),
    (
        "number",
        '<data class="n" value="1" data-kind="computed" data-card="n-layer-bytes"></data>',
        "shows nothing",
    ),
]
NUMBER = '<data class="n" value="1" data-kind="computed" data-card="n-layer-bytes">{}</data>'
BODY_FAULTS += [
    ("heading", f"<h2>All of it: {NUMBER.format('650 GiB')}</h2>", "has no id"),
    ("heading", f'<h2 id="all-of-it-650-gib">All of it: {NUMBER.format("650 GiB")}</h2>', "moves with it"),
    (
        "heading",
        f'<h3 id="all-of-it-12288">All of it: <em>{NUMBER.format("12,288")}</em></h3>',
        "moves with it",
    ),
    ("heading", f'<h3 id="it-takes-35-s">It takes {NUMBER.format("3.5 s")}</h3>', "moves with it"),
]


@pytest.mark.parametrize(("rule", "fragment", "says"), BODY_FAULTS)
def test_a_planted_fault_in_a_page_is_found(site: Path, rule: str, fragment: str, says: str) -> None:
    problems = add(site, fragment)
    assert any(p.rule == rule and says in p.message for p in problems), problems
    assert {p.page for p in problems} == {"memory/index.html"}


INNOCENT = [
    '<h2 id="gpt-3-weights">GPT-3: ' + NUMBER.format("650 GiB") + "</h2>",
    '<a href="https://example.org/a#b">other site</a>',
    '<a href="#:~:text=layer">text</a><a href="#">top</a><a href="./#weights">x</a><a href="%67pt3.py">x</a>',
    '<a name="old"></a><a href="#old">x</a>',
    '<script type="application/ld+json">{"@context": "https://schema.org"}</script>',
    '<script>const name = "{{"; const scheme = /^https?:\\/\\//;</script>',
    '<link rel="license" href="https://example.org/licence">',
    '<img src="data:image/png;base64,AAAA//https" alt="">',
    "<!-- <details> -->",
    "<pre>https://example.org/</pre>",
    '<form action=""><input name="q"></form>',
    "<details open><!-- why --><summary>a</summary>b</details>",
]


@pytest.mark.parametrize("fragment", INNOCENT)
def test_an_innocent_page_passes(site: Path, fragment: str) -> None:
    assert add(site, fragment) == []


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('<html lang="en">', "<html>", "no language"),
        ("<title>Weights</title>", "<title> </title>", "no <title>"),
    ],
)
def test_language_and_title_are_asked_for(site: Path, old: str, new: str, says: str) -> None:
    path = site / "memory/index.html"
    path.write_text(SOUND.replace(old, new), "utf-8")
    (problem,) = check(site)
    assert problem.rule == "page"
    assert says in problem.message


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("host", "\n@font-face { src: url('https://fonts.example.org/a.woff2') }"),
        ("host", '\n@import "//fonts.example.org/a.css";'),
        ("host", '\n.a { background: image-set("https://example.org/a.png" 1x) }'),
        ("file", "\n.a { background: url(no.png) }"),
        ("file", '\n@import "no.css";'),
    ],
)
def test_a_planted_fault_in_a_style_sheet_is_found(site: Path, rule: str, text: str) -> None:
    (site / "assets/site.css").write_text(CSS + text, "utf-8")
    (problem,) = check(site)
    assert (problem.page, problem.line, problem.rule) == ("assets/site.css", CSS.count("\n") + 2, rule)


@pytest.mark.parametrize(
    "text",
    [
        'fetch("https://api.example.org/v1")',
        "import('http://example.org/a.js')",
        'image.src = "//example.org/a.png"',
        "new WebSocket(`wss://example.org/s`)",
        "fetch(`https://${host}/v1`)",
        'fetch("https://" + host)',
        'fetch("https:\\/\\/example.org\\/v1")',
        "// see https://example.org/",
        'load("https://unpkg.com/mermaid@11/dist/mermaid.min.js")',  # allowed to the builder's bundle alone
    ],
)
def test_a_planted_host_in_a_script_is_found(site: Path, text: str) -> None:
    (site / "assets/site.js").write_text(JS + text, "utf-8")
    (problem,) = check(site)
    assert (problem.page, problem.line, problem.rule) == ("assets/site.js", 2, "host")


def test_an_exemption_ends_where_its_reason_ends(site: Path) -> None:
    bundle = site / "assets/javascripts/bundle.1.min.js"
    bundle.parent.mkdir()
    bundle.write_text('load("https://unpkg.com/mermaid@11/dist/mermaid.min.js")', "utf-8")
    assert check(site) == []
    (problem,) = add(site, '<pre class="mermaid">graph LR</pre>')
    assert (problem.page, problem.rule) == ("memory/index.html", "host")
    assert "draws a diagram in the browser" in problem.message


def test_the_star_count_of_a_repository_is_a_request(site: Path) -> None:
    bundle = site / "assets/javascripts/bundle.1.min.js"
    bundle.parent.mkdir()
    bundle.write_text("let r=`https://api.github.com/repos/${e}/${t}`", "utf-8")
    assert check(site) == []
    (problem,) = add(site, '<a href="https://example.org/r" data-md-component="source">r</a>')
    assert "counts the stars" in problem.message


def test_every_exemption_has_a_reason_and_compiles() -> None:
    for entry in pages.ALLOWED:
        assert len(entry.reason.split()) >= 4, entry
        re.compile(entry.address)
        if entry.unless:
            etree.XPath(entry.unless)


def test_exemptions_can_be_replaced(site: Path) -> None:
    assert {p.rule for p in check(site, allowed=())} == {"host"}
    own = (Allowed("assets/*.js", r"http://www\.w3\.org/", "a reason of four words"),)
    assert check(site, allowed=own) == []


def test_404_links_from_the_root(site: Path) -> None:
    (problem,) = add(site, '<a href="memory/">x</a>', name="404.html")
    assert (problem.page, problem.rule) == ("404.html", "link")
    assert "start it with /" in problem.message


def test_a_published_site_links_from_its_path(site: Path) -> None:
    address = "https://example.org/moat/"
    assert [p.page for p in check(site, site_url=address)] == ["404.html"]
    (site / "404.html").write_text(MISSING.replace('"/memory/', '"/moat/memory/'), "utf-8")
    assert check(site, site_url=address) == []
    add(site, f'<img src="{address}assets/dot.png" alt=""><a href="{address}memory/#weights">x</a>')
    assert check(site, site_url=address.rstrip("/")) == []
    add(site, f'<img src="{address}assets/no.png" alt=""><a href="{address}memory/#no">x</a>')
    assert [p.rule for p in check(site, site_url=address)] == ["file", "link"]


def test_a_problem_names_file_and_line(site: Path) -> None:
    (problem,) = add(site, '<a href="#missing">x</a>')
    line = SOUND[: SOUND.index("</body>")].count("\n") + 1
    assert str(problem).startswith(f"memory/index.html:{line}: link: ")
    assert str(Problem("index.html", 0, "page", "m")) == "index.html: page: m"


def test_a_folder_that_is_not_a_site_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PagesError, match="make build"):
        check(tmp_path / "missing")
    with pytest.raises(PagesError, match="no HTML file"):
        check(tmp_path)
    (tmp_path / "index.html").write_text(HOME, "utf-8")
    with pytest.raises(PagesError, match="site_url"):
        check(tmp_path, site_url="example.org")


def test_empty_and_broken_pages_do_not_stop_the_check(site: Path) -> None:
    (site / "empty.html").write_bytes(b"")
    (site / "broken.html").write_bytes(b"<html lang=en><title>\xff</title><p <a href='")
    assert "empty.html" in {p.page for p in check(site)}


@given(st.text(max_size=60))
def test_no_link_stops_the_check(address: str) -> None:
    page = html.document_fromstring("<html><body><a>x</a></body></html>")
    anchor = page.find(".//a")
    site = object.__new__(pages._Site)
    site.files, site.pages, site.site_url, site.prefix = frozenset({"index.html"}), {}, "", "/"
    holder = object.__new__(pages._Page)
    holder.name, holder.tree = "index.html", page
    for problem in pages._check_link(site, holder, anchor, address):
        assert problem.message


@pytest.mark.parametrize("address", ["https://[x", "//[x", "http://a\u2100b/"])
def test_an_address_that_is_none_is_reported(site: Path, address: str) -> None:
    assert [p.rule for p in add(site, f'<img src="{address}" alt="">')] == ["host"]


@given(
    st.lists(st.sampled_from(["a.png", "b/c.png", "data:image/png;base64,A,B"]), min_size=1, max_size=4),
    st.sampled_from([", ", ",", " , "]),
)
def test_srcset_is_split_into_its_addresses(addresses: list[str], comma: str) -> None:
    text = comma.join(f"{address} {n + 1}x" for n, address in enumerate(addresses))
    assert [m[1] for m in pages._SRCSET.finditer(text)] == addresses


def test_a_page_of_the_real_builder_passes(tmp_path: Path) -> None:
    """The theme's own pages, without ours: whatever it ships is sound or named in ALLOWED."""
    (tmp_path / "docs/a").mkdir(parents=True)
    (tmp_path / "docs/index.md").write_text("# Home\n\n[a](a/b.md#part)\n", "utf-8")
    (tmp_path / "docs/a/b.md").write_text("# B\n\n## Part\n\ntext\n", "utf-8")
    config = 'site_name: T\nsite_url: ""\ntheme: {name: material, font: false, language: en}\n'
    (tmp_path / "mkdocs.yml").write_text(config, "utf-8")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=120)
    assert check(tmp_path / "site") == []
