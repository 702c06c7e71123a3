"""Pictures of a traced kernel: each access has its mark, kinds differ without colour, and too much is refused."""

import re
from xml.etree import ElementTree

import pytest

from gpumoat.simt.record import LOAD, STORE, Array, Record, Site
from gpumoat.simt.report import Report
from gpumoat.site import trace_picture
from gpumoat.site.drawing import COLOURS, WIDTHS, to_svg
from gpumoat.site.errors import SiteError
from gpumoat.site.trace_page import html_file, panels, svg_file

TITLES = {"x": "Element", "y": "Thread"}
EXAMPLE = """\
from gpumoat import fact
layers = fact("net.layers")
strips = [
    {"first": 4 * thread, "last": 4 * thread + 3, "worker": thread, "kind": kind}
    for thread in range(3) for kind in ("load", "store")
]
cells = [{"row": 0, "column": column, "worker": 7 * column} for column in range(4)]
words = [{"bank": 0, "turn": turn, "lane": turn} for turn in range(1, 5)]
"""
PAGE = """\
/// figure | strips
    chart: touches
    x: first:d | Element of b
    high: last:d | to
    y: worker:d | Thread
    color: worker:d | Thread
    kind: kind | Access
    title: Strips
    alt: A staircase.
Caption.
///

/// figure | cells
    chart: cells
    x: column:d | Column
    y: row:d | Row
    color: worker:d | Thread
    title: Cells
    alt: A row.
Caption.
///

/// figure | words
    chart: banks
    x: bank:d | Bank
    y: turn:d | Turn
    title: Banks
    alt: A column.
Caption.
///
"""


def drawn(chart, records, size="wide"):
    return to_svg(trace_picture.grid(chart, records, TITLES, WIDTHS[size]))


def marks(svg, kind="rect"):
    """The drawn shapes of one layer's kind in an SVG."""
    root = ElementTree.fromstring(svg)
    return [
        node
        for group in root.iter()
        if f"mark-{kind}" in group.get("class", "") and "role-mark" in group.get("class", "")
        for node in group
        if node.tag.endswith("path")
    ]


def filled(paths, yes=True):
    return [path for path in paths if (path.get("fill") in COLOURS) == yes and path.get("stroke") in COLOURS]


class TestMarks:
    def test_every_record_has_one(self):
        records = [{"x": 4 * at, "high": 4 * at + 3, "y": at, "color": at, "kind": "store"} for at in range(9)]
        assert len(filled(marks(drawn("touches", records)))) == 9

    def test_kinds_differ_without_colour(self):
        record = {"x": 3, "y": 5}
        other = {"x": 9, "y": 9, "kind": "load"}
        load = drawn("touches", [{**record, "kind": "load"}, other])
        store = drawn("touches", [{**record, "kind": "store"}, other])
        atomic = drawn("touches", [{**record, "kind": "atomic"}, other])
        assert (len(filled(marks(load))), len(filled(marks(store)))) == (0, 1)
        assert len(filled(marks(load), False)) == 2
        assert len(marks(atomic, "symbol")) == 1

    def test_axes_have_labels(self):
        """Ticks of a reversed axis were lost where its domain ran downwards."""
        texts = re.findall(r"<text[^>]*>([^<]*)</text>", drawn("touches", [{"x": at, "y": at} for at in range(32)]))
        assert {"0", "10", "20", "30", "Thread", "Element"} <= set(texts)
        assert "5" in texts

    def test_a_request_shows_whole_sectors(self):
        lanes = [{"x": 32 * lane, "high": 32 * lane + 3, "y": lane} for lane in range(3)]
        paths = marks(drawn("request", lanes))
        assert len([path for path in paths if path.get("stroke") not in COLOURS]) == 3
        assert len(filled(paths)) == 3
        assert re.findall(r">(\d)</text>", drawn("request", lanes))[:4] == ["0", "1", "2", "3"]

    def test_banks_are_always_all_there(self):
        paths = marks(drawn("banks", [{"x": 5, "y": 1}]))
        assert len([path for path in paths if path.get("stroke") not in COLOURS]) == 32

    def test_cells_with_room_name_who_touches_them(self):
        records = [{"x": at, "y": 0, "label": f"t{at}"} for at in range(8)]
        assert drawn("cells", records).count(">t") == 8
        crowded = [{"x": at, "y": 0, "label": f"t{at}"} for at in range(64)]
        assert drawn("cells", crowded).count(">t") == 0

    def test_the_same_bytes_twice(self):
        assert drawn("cells", [{"x": 1, "y": 2}]) == drawn("cells", [{"x": 1, "y": 2}])

    @pytest.mark.parametrize(
        ("records", "says"),
        [
            ([{"x": 0, "y": 0}] * (trace_picture.MARKS + 1), "holds 4,000 marks, not 4,001: show a part of the array"),
            ([{"x": 0.5, "y": 0}], "x must be a whole number in a picture of a trace, not 0.5"),
            ([{"x": "a", "y": 0}], "x must be a whole number"),
            ([{"x": 3, "high": 2, "y": 0}], "a mark ends at 2, before it begins at 3"),
            ([{"x": 0, "y": 0, "kind": "read"}], "kind must be one of load, store, atomic, not 'read'"),
        ],
    )
    def test_what_cannot_be_drawn(self, records, says):
        with pytest.raises(ValueError, match=says):
            drawn("touches", records)

    def test_the_key_names_the_kinds_in_their_order(self):
        html = trace_picture.keys_html(["store", "load"])
        assert re.findall(r'class="gm-key-(\w+)"', html) == ["load", "store"]
        with pytest.raises(ValueError, match="kind must be one of"):
            trace_picture.keys_html(["read"])


class TestOnAPage:
    def test_records_of_an_example_become_figures(self, checkout):
        checkout.example(EXAMPLE)
        prose = checkout.render(PAGE).prose
        svgs = prose.xpath('.//figure[@class="gm-figure"]//*[local-name()="svg"]')
        assert len(svgs) == 6
        assert prose.xpath('.//ul[@class="gm-keys"]/li/text()') == ["load", "store"]
        assert len(prose.xpath('.//details[@class="gm-figure-data"]')) == 3
        texts = {text.strip() for text in svgs[2].xpath('.//*[local-name()="text"]/text()')}
        assert {"0", "7", "14", "21"} <= texts

    def test_a_kind_that_is_none_is_an_error_at_its_line(self, checkout):
        checkout.example(EXAMPLE.replace('"store"', '"write"'))
        with pytest.raises(SiteError, match="kind must be one of load, store, atomic, not 'write'"):
            checkout.render(PAGE)


def launch():
    """A strip kernel with a shared array, by hand: two threads' loads and stores."""
    record = Record("k<1>", (1, 1, 1), (32, 1, 1))
    record.arrays = [
        Array(0, "a", "global", (64,), "int32", 4, 0),
        Array(1, "m", "global", (8, 8), "int32", 4, 1),
        Array(2, "s", "shared", (64,), "float32", 4, 2),
    ]
    record.sites = [Site("k.py", line, 0, "k", "a[i]") for line in (5, 6, 7)]
    for thread in range(32):
        for array, kind, index, site in ((0, LOAD, 2 * thread, 0), (1, STORE, thread, 1), (2, STORE, 2 * thread, 2)):
            row = (array, kind, index, 0, thread, site, 0, 0)
            columns = (record.array, record.kind, record.index, record.in_block, record.thread, record.site)
            for column, value in zip((*columns, record.epoch, record.warp_epoch), row, strict=True):
                column.append(value)
    return Report(record)


class TestFile:
    def test_panels_of_each_array(self):
        found = panels(launch())
        assert [(panel.title, panel.chart) for panel in found] == [
            ("a: who touches what", "touches"), ("a: one load request, line 5", "request"),
            ("m: who touches what", "cells"), ("m: one store request, line 6", "request"),
            ("s: who touches what", "touches"), ("s: the banks of one store request, line 7", "banks"),
        ]  # fmt: skip
        assert "1 requests of 8.00 sectors (at best 4.00), 50.0% of their bytes asked for" in found[1].text
        assert len(found[1].records) == 32
        assert max(mark["y"] for mark in found[5].records) == 2

    def test_an_svg_that_stands_alone(self, monkeypatch):
        monkeypatch.setattr("gpumoat.site.trace_page.panels", lambda report: panels(report)[1:3])
        text = svg_file(launch())
        root = ElementTree.fromstring(text)
        assert root.get("width") == "720"
        assert "var(" not in text
        assert not any(colour in text for colour in COLOURS)
        ids = re.findall(r'\bid="([^"]+)"', text)
        assert len(ids) == len(set(ids))
        assert "k&lt;1&gt;: grid of 1 blocks" in text

    def test_a_page_that_stands_alone(self, monkeypatch):
        monkeypatch.setattr("gpumoat.site.trace_page.panels", lambda report: panels(report)[:2])
        text = html_file(launch())
        assert "prefers-color-scheme: dark" in text
        assert "k&lt;1&gt;: grid of 1 blocks" in text
        assert "<script" not in text
        assert "http" not in re.sub(r'xmlns(:\w+)?="[^"]+"', "", text)
        for variable in set(re.findall(r"var\((--gm-\w+)", text)):
            assert text.count(f"{variable}:") == 2, "one value for each scheme"

    def test_marks_that_are_too_many_are_cut_and_it_says_so(self, monkeypatch):
        monkeypatch.setattr("gpumoat.site.trace_page.MARKS", 10)
        assert "Only the first 10 marks are shown." in panels(launch())[0].text
