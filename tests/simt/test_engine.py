"""What a kernel computes: indices, memory, device functions, atomics, intrinsics, types of arguments."""

import array
import math
from pathlib import Path

import numpy as np
import pytest

from gpumoat import simt

FILE = str(Path(__file__).with_name("simt_kernels.py"))


def kernel(name):
    return f"{FILE}:{name}"


@pytest.mark.parametrize("launch", [simt.run, simt.trace])
def test_indices(launch):
    grid, block = (2, 3, 2), (3, 2, 4)
    out = np.zeros((8, 6, 6, 6), np.int32)
    launch(kernel("indices"), grid, block)(out)
    z, y, x = np.meshgrid(range(8), range(6), range(6), indexing="ij")
    expected = np.stack(
        [
            x % 3 + 10 * (y % 2) + 100 * (z % 4),
            x // 3 + 10 * (y // 2) + 100 * (z // 4),
            np.full_like(x, 423),
            np.full_like(x, 232),
            np.full_like(x, 6 + 60 + 800),
            (x % 3 + 3 * (y % 2) + 6 * (z % 4)) % 32 + 3200,
        ],
        -1,
    )
    assert np.array_equal(out, expected)


def test_dynamic_shared_arrays_lie_over_each_other():
    a = np.array([1.5, -2.0, 3e10, 0.0], np.float32)
    out = np.zeros(4, np.uint8)
    report = simt.trace(kernel("dynamic"), 1, 4, shared_bytes=16)(a, out)
    assert out.tolist() == list(a.tobytes()[3::4])
    whole, bits = (item for item in report.record.arrays if item.space == "shared")
    assert whole.allocation == bits.allocation
    assert (whole.shape, bits.shape) == ((4,), (16,))
    assert not report.uninitialized_reads
    short = simt.trace(kernel("dynamic"), 1, 4, shared_bytes=8)(a, out)
    assert {fault.array for fault in short.out_of_bounds} == {"whole", "bits"}


def test_shared_memory_is_fresh_for_each_block():
    out = np.zeros(8, np.int32)
    report = simt.trace(kernel("leftovers"), 2, 4)(out)
    assert out.tolist() == [7] * 4 + [0] * 4
    assert [(fault.block, fault.thread, fault.index) for fault in report.uninitialized_reads] == [
        (1, thread, thread) for thread in range(4)
    ]
    assert report.record.uninitialized_reads_count == 4


def test_local_and_constant_memory_in_float32():
    a = np.arange(10, dtype=np.float32)
    out = np.zeros(8, np.float32)
    report = simt.trace(kernel("local_and_constant"), 2, 4)(a, out)
    weights, scale = np.array([0.25, 0.5, 0.25], np.float32), np.float32(0.1)
    expected = []
    for t in range(8):
        total = np.float32(0)
        for k in range(3):
            total += a[t + k] * weights[k] * weights[k] * scale
        expected.append(total)
    assert out.tolist() == [float(value) for value in expected]
    spaces = {item.name: item.space for item in report.record.arrays}
    assert spaces["window"] == "local"
    assert "constant" in spaces.values()


def test_device_functions_with_barriers_inside():
    a = np.arange(512, dtype=np.float32)
    out = np.zeros(2, np.float32)
    report = simt.trace(kernel("sums"), 2, 256)(a, out)
    assert out.tolist() == [a[:256].sum(), a[256:].sum()]
    assert not report.findings()


def test_device_functions_with_tuples_defaults_rows_and_local_arrays():
    out, rest = np.zeros((6, 4), np.int64), np.zeros(6, np.int64)
    simt.run(kernel("devices"), 2, 3)(out, rest)
    assert out.tolist() == [[t + k for k in range(4)] for t in range(6)]
    assert rest.tolist() == [t // 3 * 10 + t % 3 + t // 5 * 100 + 1001 for t in range(6)]


@pytest.mark.parametrize("launch", [simt.run, simt.trace])
def test_atomics(launch):
    i, f, u = np.zeros(9, np.int32), np.zeros((2, 2), np.float64), np.zeros(3, np.uint32)
    i[4] = -1
    f[1, 0] = math.nan
    old = np.zeros(8, np.int32)
    report = launch(kernel("atomics"), 2, 4)(i, f, u, old)
    assert i.tolist() == [8, -16, 7, -7, ~255, 255, 3 ^ 6 ^ 12 ^ 24 ^ 48 ^ 96 ^ 192 ^ 384, 9, 11]
    assert sorted(old.tolist()) == list(range(8))
    assert f.tolist() == [[0, 4.0], [7.0, 0]]
    # inc counts 0 to 5 and begins again; dec counts down from 5; 8 * 2**31 wraps to 0.
    assert u.tolist() == [8 % 6, (6 - 8 % 6) % 6, 0]
    if launch is simt.run:
        assert report is None
        return
    assert not report.data_races()
    assert {report.record.kind[place] for place in range(len(report.record))} == {1, 2}


def test_bits():
    a = np.array([0, 1, -1, 0b1011000], np.int32)
    out = np.zeros((4, 5), np.int64)
    simt.run(kernel("bits"), 1, 4)(a, out)
    assert out[:, 0].tolist() == [0, 1, 32, 3]
    assert out[:, 1].tolist() == [0, -(2**31), -1, 0b0001101 << 25]
    assert out[:, 2].tolist() == [32, 31, 0, 25]
    assert out[:, 3].tolist() == [0, 1, 1, 4]
    assert out[:, 4].tolist() == [6, 6, 5, 5]


def test_float16():
    a = np.array([1.5, -0.25, 100.1, 3000], np.float16)
    out = np.zeros((4, 9), np.float16)
    simt.run(kernel("halves"), 1, 4)(a, out)
    with np.errstate(over="ignore"):
        one = np.float16
        expected = np.stack(
            [
                a + one(0.1), a * a, np.floor(a), np.ceil(a), a / one(3),
                (a.astype(np.float64) ** 2 + a).astype(one), np.maximum(a, one(1)), (a > 1).astype(one), a + a * a,
            ],
            -1,
        )  # fmt: skip
    assert np.array_equal(out, expected)


def test_mathematics_beside_numpy_and_where_python_would_raise():
    a = np.array([0.5, -2.0, 1000.0, 0.0])
    out = np.zeros((4, 6))
    simt.run(kernel("mathematics"), 1, 4)(a, out)
    with np.errstate(all="ignore"):
        expected = np.stack(
            [a * a + a, np.cbrt(a), np.exp(a), np.minimum(a, 1) + np.maximum(a, 2), a / 0.0, np.full(4, np.nan)], -1
        )
    assert np.allclose(out, expected, rtol=1e-15, equal_nan=True)


def test_rows_shapes_and_tuples():
    a = np.arange(6, dtype=np.int32).reshape(3, 2)
    out = np.zeros(3, np.int64)
    simt.trace(kernel("rows"), 1, 3)(a, out)
    fixed = 300 + 6000 + 200_000 + 2_000_000 + 20_000_000
    assert out.tolist() == [int(a[t].sum()) + fixed for t in range(3)]
    out = np.zeros(3)
    simt.run(kernel("swapped"), 1, 3)(out)
    assert out.tolist() == [25 + t + 2.5 + (t + 1) * 100 for t in range(3)]


def test_scalars_keep_the_types_that_numba_gives_them():
    a, out = np.array([0.1], np.float32), np.zeros(3)
    simt.run(kernel("typed_scalar"), 1, 1)(a, np.float32(0.2), 1 << 40, out)
    single = np.float32
    assert out[0] == single(0.2) + single(0.1)
    assert out[1] == float(single(0.2) + single(0.3))
    wrapped = ((1 << 40) * 1000000007**3 + (1 << 63)) % (1 << 64) - (1 << 63)
    assert out[2] == float(wrapped)
    simt.run(kernel("typed_scalar"), 1, 1)(a, 0.2, 3, out)
    assert out[0] == 0.2 + float(single(0.1))


def test_hashes():
    out = np.zeros(8, np.uint64)
    simt.run(kernel("hashed"), 1, 8)(out)
    expected = []
    for t in range(8):
        h = t * 2654435761 % 2**32
        expected.append((h ^ h >> 16) + 32)
    assert out.tolist() == expected


def test_arrays_of_every_kind():
    n = 6
    values = [1, 5, 9, 2, 8, 4]
    expected = [values[t] + values[(t - 2) % n] for t in range(n)]
    for made in (
        array.array("i", values),
        simt.array(n, "int32", values),
        memoryview(array.array("i", values)),
        np.array(values, np.int32),
    ):
        out = simt.array((n,), "int64")
        simt.trace(kernel("outside"), 1, n)(made, out)
        assert len(out) == n
        assert out.tolist()[1:-1] == [values[t + 1] + values[t - 1] for t in range(1, n - 1)]
    assert expected


def test_our_own_arrays():
    made = simt.array((2, 3), "float16", [0.1, 1, 2, 3, 4, 1e6])
    assert made[0, 0] == float(np.float16(0.1))
    assert made.tolist() == np.array([[0.1, 1, 2], [3, 4, np.inf]], np.float16).tolist()
    assert made.size == 6
    with pytest.raises(IndexError):
        made[2, 0]
    for shape, dtype, values, text in (
        (2, "int8", [1], "2 values are needed"),
        (1, "int8", [200], "200 does not fit into int8"),
        (1, "complex64", None, "dtype"),
        (-1, "int8", None, "shape"),
    ):
        with pytest.raises(simt.SimtError, match=text):
            simt.array(shape, dtype, values)


def test_views_share_their_allocation():
    a = np.zeros(16, np.int32)
    report = simt.trace(kernel("outside"), 1, 4)(a[:8], a[8:].view(np.int64))
    first, second = report.record.arrays
    assert first.allocation == second.allocation
    assert (first.offset_bytes, second.offset_bytes) == (0, 32)
    apart = simt.trace(kernel("outside"), 1, 4)(a, np.zeros(16, np.int64)).record.arrays
    assert apart[0].allocation != apart[1].allocation


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.zeros((4, 4))[:, ::2], "a: only C-contiguous arrays"),
        (np.zeros(4, complex), "a: elements of type complex128"),
        (np.zeros(4, ">i4"), "a: elements of type"),
        ([1, 2], "a: an array, an int or a float is needed, not list"),
        ("text", "a: an array"),
        (1 << 70, "a: .* does not fit into 64 bits"),
        (np.complex64(1), "a: a scalar of type complex64"),
    ],
)
def test_arguments_that_cannot_be_used(value, text):
    with pytest.raises(simt.SimtError, match=text):
        simt.run(kernel("outside"), 1, 4)(value, np.zeros(4))


def test_a_read_only_array_is_refused_where_it_is_written():
    a = np.zeros(4)
    a.flags.writeable = False
    simt.trace(kernel("outside"), 1, 1)(a, np.zeros(4))
    with pytest.raises(simt.SimtError, match="b: the array is read-only"):
        simt.trace(kernel("outside"), 1, 1)(np.zeros(4), a)


def test_a_variable_without_a_value_is_one_clear_error():
    with pytest.raises(simt.SimtError, match=r"simt_kernels.py:\d+: unset reads the variable x before"):
        simt.run(kernel("unset"), 1, 1)(np.zeros(1), 3)
    simt.run(kernel("unset"), 1, 1)(np.zeros(1), 8)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"grid": 0}, "grid"),
        ({"grid": (1, 1, 1, 1)}, "grid"),
        ({"grid": 1.5}, "grid"),
        ({"block": 2048}, "block: 2048 threads"),
        ({"shared_bytes": -1}, "shared_bytes"),
        ({"order": "sideways"}, "order"),
        ({"kernel": "simt_kernels.py"}, "neither"),
        ({"kernel": "nowhere.py:k"}, "no such file"),
        ({"kernel": "no_such_module_here:k"}, "not found"),
        ({"kernel": f"{FILE}:nothing"}, "has no function nothing"),
        ({"kernel": 3}, "not int"),
    ],
)
def test_launches_that_cannot_be_made(change, text):
    given = {"kernel": kernel("race"), "grid": 1, "block": 1, **change}
    with pytest.raises(simt.SimtError, match=text):
        simt.trace(**given)(np.zeros(1))


def test_blocks_and_the_number_of_arguments_are_checked():
    with pytest.raises(simt.SimtError, match="takes 1 arguments"):
        simt.run(kernel("race"), 1, 1)()
    with pytest.raises(simt.SimtError, match="blocks: from 0 to 3"):
        simt.trace(kernel("race"), 4, 1, blocks=[4])(np.zeros(1))
    report = simt.trace(kernel("race"), 4, 2, blocks=[1, 3])(np.zeros(1))
    assert report.record.blocks == (1, 3)
    assert set(report.record.in_block) == {1, 3}


def test_accesses_behind_a_condition_happen_only_then():
    a = np.arange(16, dtype=np.int32).reshape(4, 4)
    out = np.zeros(16, np.int64)
    report = simt.trace(kernel("guarded"), 1, 16)(a, out)
    expected = [int(a[t // 4 + 1, t % 4 + 1]) if t // 4 < 3 and t % 4 < 3 else -1 for t in range(16)]
    assert out.tolist() == [value + 1000 * (t > 0) for t, value in enumerate(expected)]
    assert not report.out_of_bounds


def test_where_python_would_raise_the_card_goes_on():
    a, out = np.array([3.0, 2.5, 0.0], np.float32), np.zeros(6)
    simt.run(kernel("extremes"), 1, 1)(a, out)
    assert out.tolist()[:3] == [math.inf, 2, 2.0**63]
    assert math.isnan(out[3])
    assert out[4] == math.inf
    assert out[5] == 0


def test_float16_in_shared_and_local_memory():
    a = np.array([0.1, 1, 2, 3], np.float16)
    out = np.zeros(4, np.float32)
    simt.trace(kernel("shared_halves"), 1, 4)(a, out)
    assert out.tolist() == [float(np.float16(value * np.float16(3)) + np.float16(0.1)) for value in a[::-1]]


def test_the_speed_benchmark_runs_the_same_kernels():
    from gpumoat.bench import simt_speed

    pixels, differences = simt_speed.arrays("difference")
    simt.run(f"{simt_speed.KERNELS}:difference", *simt_speed.LAUNCHES["difference"])(pixels, differences)
    assert np.array_equal(differences, pixels[:-1].astype(np.int16) - pixels[1:])
    a, sums = simt_speed.arrays("reduction")
    simt.run(f"{simt_speed.KERNELS}:reduction", *simt_speed.LAUNCHES["reduction"])(a, sums)
    assert np.allclose(sums, a.reshape(4, 256).sum(1))
    left, right, product = simt_speed.arrays("product")
    simt.run(f"{simt_speed.KERNELS}:product", *simt_speed.LAUNCHES["product"])(left, right, product)
    assert np.allclose(product, left @ right, rtol=1e-5)


def test_a_launch_too_large_to_record_is_stopped_early(monkeypatch):
    from gpumoat.simt import launch

    monkeypatch.setattr(launch, "ACCESSES_MOST", 10)
    with pytest.raises(simt.SimtError, match="race: 100 blocks would record about 200 accesses"):
        simt.trace(kernel("race"), 100, 2)(np.zeros(1))
    with pytest.raises(simt.SimtError, match="more than 10 accesses recorded"):
        simt.trace(kernel("race"), 6, 2)(np.zeros(1))
    simt.trace(kernel("race"), 100, 2, blocks=[1, 2])(np.zeros(1))


FACTOR = 3
TABLE = np.array([1.5, 2.5], np.float32)


def scaled(out):
    out[0] = FACTOR * TABLE[0] + TABLE[1]


def test_a_changed_constant_is_seen_and_an_array_is_one(monkeypatch):
    out = np.zeros(1)
    report = simt.trace(scaled, 1, 1)(out)
    assert out[0] == 3 * 1.5 + 2.5
    assert [item.space for item in report.record.arrays] == ["global", "constant"]
    monkeypatch.setitem(globals(), "FACTOR", 5)
    simt.trace(scaled, 1, 1)(out)
    assert out[0] == 5 * 1.5 + 2.5
