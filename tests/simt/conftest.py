"""Records made by hand: what a kernel would do, written down access by access."""

from __future__ import annotations

from math import prod

import pytest

from gpumoat.simt.record import ATOMIC, LOAD, STORE, Array, Record, Site
from gpumoat.simt.report import Report

ITEMSIZES = {"uint8": 1, "int16": 2, "float32": 4, "int32": 4, "float64": 8, "complex128": 16}


class Launch:
    """A launch to which arrays and accesses are added; a site is told from others by its line alone."""

    def __init__(self, grid=1, block=32, blocks=None):
        self.record = Record("kernel", (grid, 1, 1), (block, 1, 1), blocks)

    def array(self, name, shape, dtype="int32", space="global", allocation=None, offset=0):
        number = len(self.record.arrays)
        shape = shape if isinstance(shape, tuple) else (shape,)
        held = number if allocation is None else allocation
        made = Array(number, name, space, shape, dtype, ITEMSIZES[dtype], held, offset, 0 if space == "global" else 3)
        assert made.size == prod(shape)
        self.record.arrays.append(made)
        return self

    def _add(self, kind, name, index, thread, block, line, epoch, warp_epoch):
        record = self.record
        (number,) = [array.number for array in record.arrays if array.name == name]
        lines = [site.line for site in record.sites]
        if line not in lines:
            record.sites.append(Site("kernels.py", line, 4, "kernel", f"{name}[i]"))
            lines.append(line)
        row = (number, kind, index, block, thread, lines.index(line), epoch, warp_epoch)
        columns = (record.array, record.kind, record.index, record.in_block, record.thread, record.site)
        for column, value in zip((*columns, record.epoch, record.warp_epoch), row, strict=True):
            column.append(value)
        return self

    def load(self, name, index, thread=0, block=0, line=10, epoch=0, warp_epoch=0):
        return self._add(LOAD, name, index, thread, block, line, epoch, warp_epoch)

    def store(self, name, index, thread=0, block=0, line=20, epoch=0, warp_epoch=0):
        return self._add(STORE, name, index, thread, block, line, epoch, warp_epoch)

    def atomic(self, name, index, thread=0, block=0, line=30, epoch=0, warp_epoch=0):
        return self._add(ATOMIC, name, index, thread, block, line, epoch, warp_epoch)

    @property
    def report(self):
        return Report(self.record)


@pytest.fixture(scope="session")
def launch():
    """The class of launches made by hand."""
    return Launch
