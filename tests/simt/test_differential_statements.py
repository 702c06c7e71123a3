"""Statements computed as compiled: variables that change their type, loops, wrapping counters, hashes."""

import importlib.util
import sys
from pathlib import Path

import pytest

spec = importlib.util.spec_from_file_location("differential", Path(__file__).with_name("test_differential.py"))
assert spec
assert spec.loader
differential = importlib.util.module_from_spec(spec)
sys.modules["differential"] = differential
spec.loader.exec_module(differential)

CASES = {
    "an int that goes on as a float": """
        total = 0
        for i in range(5):
            total += a_float32[t] * i
        o0[t] = total
    """,
    "a float32 sum of float32 products": """
        total = float32(0)
        for i in range(24):
            total += a_float32[i] * a_float32[(i + t) % 24]
        o1[t] = total
        o0[t] = total
    """,
    "an FNV hash in int64": """
        h = 1469598103934665603
        for i in range(8):
            h = (h ^ a_uint8[i]) * 1099511628211
        o2[t] = h
    """,
    "an FNV hash in uint32": """
        h = uint32(2166136261)
        for i in range(8):
            h = uint32((h ^ a_uint8[(i + t) % 24]) * uint32(16777619))
        o3[t] = h
        o2[t] = h
    """,
    "xorshift": """
        x = uint64(a_uint64[t]) | uint64(1)
        for i in range(5):
            x ^= x << uint64(13)
            x ^= x >> uint64(7)
            x ^= x << uint64(17)
        o4[t] = x
    """,
    "Fibonacci past 64 bits": """
        a, b = 1, 1
        for i in range(100):
            a, b = b, a + b
        o2[t] = b
    """,
    "a product that wraps in a while loop": """
        p = 1
        n = 0
        while n < 70:
            p *= 3
            n += 1
        o2[t] = p
    """,
    "a sum of large numbers": """
        s = 0
        for i in range(24):
            s += a_int64[i]
        o2[t] = s
    """,
    "types that meet after an if": """
        if t % 2 == 0:
            x = a_int32[t]
        else:
            x = a_float32[t]
        o0[t] = x / 3
        if t > 5:
            y = a_uint8[t]
        else:
            y = a_int16[t]
        o2[t] = y * 1000
    """,
    "break, continue and else": """
        n = 0
        for i in range(20):
            if i == t:
                break
            if i % 3 == 0:
                continue
            n += i
        else:
            n = 1000
        k = 0
        while k < t:
            k += 4
            if k == 16:
                break
        else:
            k = -k
        o2[t] = n * 100 + k
    """,
    "counting down and shifts by a variable": """
        n = 0
        for i in range(20, -3, -4):
            n = n * 2 + i
        h = 512
        while h > 0:
            n += h
            h //= 2
        o2[t] = n + (1 << (t % 64)) + (-5 >> (t & 3))
    """,
    "and, or, not and conditions of numbers": """
        n = 0
        if a_int8[t] and not a_float32[t] < 0:
            n += 1
        if a_uint8[t] or a_bool[t]:
            n += 2
        o2[t] = n + (0 < a_int16[t] <= a_int32[t]) * 4
    """,
    "floor division and modulo of floats": """
        o0[t] = a_float64[t] // 7.0
        o5[t] = a_float64[t] % 7.0
        o1[t] = a_float32[t] // float32(0.3)
    """,
    "cuts to integers": """
        x = a_float64[t] if abs(a_float64[t]) < 1e6 else 12.75
        o2[t] = int(x) + int64(-2.5) + int32(7.9)
        o3[t] = uint32(int64(x))
        o6[t] = int8(int64(x))
    """,
    "functions of math": """
        x = abs(a_float64[t])
        o0[t] = math.sqrt(x) + math.floor(x if x < 1e9 else 0.5) + math.ceil(x if x < 1e9 else 0.5)
        o5[t] = math.copysign(2.0, a_float64[t]) + math.fabs(a_int8[t]) + math.pi
        o1[t] = math.sqrt(abs(a_float32[t])) * float32(2)
    """,
    "negation in the width of the operand": """
        o0[t] = (-a_uint8[t]) ** 2 + (-a_int8[t]) + abs(a_int16[t])
        o2[t] = (~a_uint16[t]) * 3 - (-a_uint32[t])
    """,
    "branches that literals decide": """
        x = a_float32[t] if 2 < 1 else uint32(5)
        o0[t] = -x
        if 3 == 3:
            y = a_int8[t]
        else:
            y = 0.5
        o2[t] = y // 2
    """,
    "bool arithmetic": """
        b = a_bool[t]
        o2[t] = b + b + (not b) * 10 + (b & (t > 3)) * 100 + int32(b ^ True)
    """,
}
RESULTS = {
    "o0": "float64", "o1": "float32", "o2": "int64", "o3": "uint32", "o4": "uint64", "o5": "float64", "o6": "int8",
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_statements_are_computed_as_compiled(name):
    lines = [line[8:] for line in CASES[name].strip("\n").splitlines()]
    differential.assert_same([line for line in lines if line.strip()], RESULTS)


def test_a_planted_fault_is_seen(monkeypatch):
    from gpumoat.simt import translate

    monkeypatch.setitem(translate.RUNTIME, "W64", lambda value: value & 0x7FFFFFFFFFFFFFFF)
    with pytest.raises(AssertionError, match="numba"):
        differential.assert_same(["o2[t] = a_int64[t] * a_int64[t] * (1 << 40) * 999"], {"o2": "int64"})
