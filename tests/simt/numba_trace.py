"""Run kernels in numba's own simulator and write what they did; run by test_numba_simulator in a process of its own.

Reads launches as JSON from the standard input: [name, grid, block, [[shape, type, values] or number, ...]].
Writes for each the accesses of global memory, [array, kind, index, block, thread], and the arrays afterwards.
"""

import importlib
import json
import math
import sys
import threading

import numpy as np


class Recorded:
    """An array that notes who touches which element."""

    def __init__(self, data, number, rows, grid):
        self.data, self.number, self.rows, self.grid = data, number, rows, grid
        self.shape, self.size, self.ndim, self.dtype = data.shape, data.size, data.ndim, data.dtype

    def __len__(self):
        return len(self.data)

    def note(self, kind, index):
        thread = threading.current_thread()
        at = thread.blockIdx
        block = at.x + self.grid[0] * (at.y + self.grid[1] * at.z)
        place = int(np.ravel_multi_index(index if isinstance(index, tuple) else (index,), self.shape))
        self.rows.append((self.number, kind, place, block, thread.thread_id))

    def __getitem__(self, index):
        self.note(0, index)
        return self.data[index]

    def __setitem__(self, index, value):
        self.note(1, index)
        self.data[index] = value


def run(name, grid, block, arguments):
    module, function = name.split(":")
    kernel = getattr(importlib.import_module(module), function)
    rows, arrays, given = [], [], []
    extents = [*grid, 1, 1][:3]
    for argument in arguments:
        if isinstance(argument, list):
            shape, kind, values = argument
            arrays.append(np.array(values, kind).reshape(shape))
            given.append(Recorded(arrays[-1], len(arrays) - 1, rows, extents))
        elif isinstance(argument, float):
            given.append(np.float32(argument))
        else:
            given.append(argument)
    kernel[tuple(grid), tuple(block)](*given)
    assert math.prod(grid)
    return {"rows": sorted(rows), "arrays": [item.ravel().tolist() for item in arrays]}


if __name__ == "__main__":
    json.dump([run(*launch) for launch in json.load(sys.stdin)], sys.stdout)
