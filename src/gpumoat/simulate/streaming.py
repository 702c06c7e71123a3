"""Differences stored past the caches: what a loop for one pixel cannot say, and memory's full speed needs.

A processor that stores to a cache line in the ordinary way first reads the line, since it cannot know that all of it
will be overwritten. For results twice as wide as the picture that is two bytes read in vain for each pixel, on top of
the three that must move. A *non-temporal* store of a whole line tells it. numba has no word for that, so this module
gives LLVM the few instructions: a line of results at a time, 32 pixels.

Promises: the same results as ``int16(pixels[i]) - int16(pixels[i + 1])``; any processor that LLVM knows, which stores
in the ordinary way where it knows no other. Needs numba. The stores are complete when the parallel loop that made them
is, because its end is a synchronization between threads.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

LINE_BYTES = 64
"""A cache line of common processors; where lines are longer, two stores fill one."""

LINE_RESULTS = LINE_BYTES // 2


@functools.cache
def subtract_line() -> Callable[[Any, Any, Any], None]:
    """Return a function for compiled code: (pixels, differences, i) stores the 32 differences from i on.

    ``differences[i]`` must lie at the beginning of a line of 64 bytes.
    """
    from llvmlite import ir  # type: ignore[import-untyped,unused-ignore]
    from numba import types
    from numba.extending import intrinsic

    @intrinsic  # type: ignore[untyped-decorator,unused-ignore]
    def line(typing: Any, pixels: Any, differences: Any, first: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            source, target = (
                context.make_array(kind)(context, builder, value).data
                for kind, value in zip(signature.args[:2], arguments[:2], strict=True)
            )
            narrow = ir.VectorType(ir.IntType(8), LINE_RESULTS)
            wide = ir.VectorType(ir.IntType(16), LINE_RESULTS)

            def load(offset: int) -> Any:
                at = builder.add(arguments[2], ir.Constant(arguments[2].type, offset))
                place = builder.bitcast(builder.gep(source, [at]), narrow.as_pointer())
                return builder.zext(builder.load(place, align=1), wide)

            found = builder.sub(load(0), load(1))
            place = builder.bitcast(builder.gep(target, [arguments[2]]), wide.as_pointer())
            store = builder.store(found, place, align=LINE_BYTES)
            store.set_metadata("nontemporal", builder.module.add_metadata([ir.IntType(32)(1)]))
            return context.get_dummy_value()

        return types.void(pixels, differences, types.intp), generate

    return line  # type: ignore[no-any-return,unused-ignore]
