"""Seven loads on one card, and what each measure of utilisation says of them.

Needs a Hopper card or a later one, the driver's management library, PyTorch and numba-cuda. Prints the file's text.

The management library is asked for two kinds of figure. The old one is what ``nvidia-smi`` shows as GPU-Util, a sample
every tenth of a second. The new ones are the card's own counters over the middle of each load: the share of
multiprocessors that held a warp, of places for warps that were taken, of time in which tensor cores worked.

Promises: nothing of the card's settings is changed; a rate is launches counted over the host's clock with the card
synchronised at both ends. Left out: what the counters do not see, and loads shorter than a launch.
"""

from __future__ import annotations

import ctypes
import statistics
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

from gpumoat.bench.card import numba_cuda, run_file

LOAD_S, SETTLE_S = 4.0, 1.2
RATES = {"flop": "FLOP/s", "bytes": "bytes/s"}
SM_CLOCK = 1  # NVML_CLOCK_SM
COUNTERS = {"sm_share": 2, "occupancy_share": 3, "tensor_share": 5, "memory_share": 10, "fp32_share": 12}


class _Utilization(ctypes.Structure):
    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class _Metric(ctypes.Structure):
    _fields_ = (
        ("id", ctypes.c_uint),
        ("status", ctypes.c_int),
        ("value", ctypes.c_double),
        ("names", ctypes.c_void_p * 3),
    )


class _Metrics(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint),
        ("count", ctypes.c_uint),
        ("first", ctypes.c_void_p),
        ("second", ctypes.c_void_p),
        ("metrics", _Metric * 512),
    )


class Watch:
    """The driver's management library on the first card."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libnvidia-ml.so.1")
        self.device = ctypes.c_void_p()
        self._call("nvmlInit_v2")
        self._call("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(0), ctypes.byref(self.device))
        self.samples = [ctypes.c_void_p(), ctypes.c_void_p()]
        for sample in self.samples:
            self._call("nvmlGpmSampleAlloc", ctypes.byref(sample))

    def _call(self, name: str, *arguments: Any) -> None:
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            raise OSError(f"{name} answers {status}")

    def busy_share(self) -> float:
        """Return what nvidia-smi shows as GPU-Util, as a share."""
        found = _Utilization()
        self._call("nvmlDeviceGetUtilizationRates", self.device, ctypes.byref(found))
        return float(found.gpu) / 100

    def power_w(self) -> float:
        """Return the power that the card draws."""
        found = ctypes.c_uint()
        self._call("nvmlDeviceGetPowerUsage", self.device, ctypes.byref(found))
        return found.value / 1000

    def clock_hz(self) -> float:
        """Return the clock of the multiprocessors."""
        found = ctypes.c_uint()
        self._call("nvmlDeviceGetClockInfo", self.device, ctypes.c_uint(SM_CLOCK), ctypes.byref(found))
        return found.value * 1e6

    def begin(self) -> None:
        """Begin a stretch of the card's counters."""
        self._call("nvmlGpmSampleGet", self.device, self.samples[0])

    def end(self) -> dict[str, float]:
        """End the stretch and return the counters' averages over it, as shares."""
        self._call("nvmlGpmSampleGet", self.device, self.samples[1])
        asked = _Metrics(version=1, count=len(COUNTERS), first=self.samples[0], second=self.samples[1])
        for place, number in enumerate(COUNTERS.values()):
            asked.metrics[place].id = number
        self._call("nvmlGpmMetricsGet", ctypes.byref(asked))
        return {name: asked.metrics[place].value / 100 for place, name in enumerate(COUNTERS)}


def watched(watch: Watch, work: Callable[[], None], rest_s: float = 0.0) -> dict[str, Any]:
    """Repeat some work for a few seconds and return what each measure said, and how often it was done.

    Args:
        watch: The management library.
        work: Launches work and waits until it is done.
        rest_s: How long the card is left alone after each time.
    """
    busy: list[float] = []
    power: list[float] = []
    clock: list[float] = []
    counters: dict[str, float] = {}
    refused: list[str] = []

    def look() -> None:
        time.sleep(SETTLE_S)
        try:
            watch.begin()
        except OSError as error:
            refused.append(str(error))
        until = time.perf_counter() + LOAD_S - SETTLE_S - 0.4
        while time.perf_counter() < until:
            busy.append(watch.busy_share())
            power.append(watch.power_w())
            clock.append(watch.clock_hz())
            time.sleep(0.1)
        try:
            counters.update(watch.end())
        except OSError as error:
            refused.append(str(error))

    onlooker = threading.Thread(target=look)
    work()
    onlooker.start()
    began, count = time.perf_counter(), 0
    while time.perf_counter() - began < LOAD_S:
        work()
        count += 1
        if rest_s:
            time.sleep(rest_s)
    per_s = count / (time.perf_counter() - began)
    onlooker.join()
    time.sleep(0.5)
    return {
        "busy_share": statistics.median(busy),
        "busy_samples": busy,
        "power_w": statistics.median(power),
        "clock_hz": statistics.median(clock),
        "per_s": per_s,
        "refused": refused,
        **counters,
    }


def main() -> str:
    """Run all loads and return the file's text."""
    import numpy
    import torch

    cuda = numba_cuda()
    from gpumoat.kernels import image

    @cuda.jit  # type: ignore[untyped-decorator]
    def chain(out: Any, steps: int) -> None:
        """Each thread multiplies and adds, one step after the other."""
        value = numpy.float32(cuda.threadIdx.x)
        for _ in range(steps):
            value = value * numpy.float32(0.999) + numpy.float32(0.001)
        out[cuda.grid(1)] = value

    watch = Watch()
    out = cuda.device_array(132 * 2048, numpy.float32)
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    chain[1, 1](out, 1000)
    cuda.synchronize()
    began = time.perf_counter()
    chain[1, 1](out, 10_000_000)
    cuda.synchronize()
    steps = int(10_000_000 * 0.05 / (time.perf_counter() - began))

    def chains(blocks: int, threads: int) -> Callable[[], None]:
        def work() -> None:
            chain[blocks, threads](out, steps)
            cuda.synchronize()

        return work

    side = 8192
    left = torch.randn(side, side, device="cuda", dtype=torch.bfloat16)
    right = torch.randn(side, side, device="cuda", dtype=torch.bfloat16)
    result = torch.empty_like(left)

    def product() -> None:
        for _ in range(10):
            torch.matmul(left, right, out=result)
        torch.cuda.synchronize()

    pixels_count = 600_000_000
    pixels = torch.randint(0, 256, (pixels_count + 8,), dtype=torch.uint8, device="cuda")[: pixels_count + 1]
    differences = torch.empty(pixels_count, dtype=torch.int16, device="cuda")
    shown = cuda.as_cuda_array(pixels), cuda.as_cuda_array(differences)
    length = -(-pixels_count // 16_384)

    def strips() -> None:
        image.strip[128, 128](*shown, length, length)
        cuda.synchronize()

    words = shown[0][:pixels_count].view(numpy.uint64)
    results = shown[1].view(numpy.uint64)

    def fast() -> None:
        for _ in range(20):
            image.eight_pixels[-(-words.size // 128), 128](*shown, words, results)
        cuda.synchronize()

    def idle() -> None:
        time.sleep(0.05)

    product()
    began = time.perf_counter()
    product()
    product_s = time.perf_counter() - began
    loads: dict[str, tuple[Callable[[], None], float, str, float]] = {
        "idle": (idle, 0.0, "", 0.0),
        "one_thread": (chains(1, 1), 0.0, "flop", 2.0 * steps),
        "one_warp_each": (chains(sms, 32), 0.0, "flop", 2.0 * steps * sms * 32),
        "strips": (strips, 0.0, "bytes", 3.0 * pixels_count),
        "fast_image": (fast, 0.0, "bytes", 20 * 3.0 * pixels_count),
        "half_the_time": (product, product_s, "flop", 10 * 2.0 * side**3),
        "product": (product, 0.0, "flop", 10 * 2.0 * side**3),
    }
    found: dict[str, Any] = {}
    for name, (work, rest_s, _, _) in loads.items():
        found[name] = watched(watch, work, rest_s)
        print(name, {key: value for key, value in found[name].items() if key != "busy_samples"}, flush=True)
    said: dict[str, tuple[float | int, str, str]] = {"sm_count": (sms, "", "multiprocessors of the card")}
    texts = {
        "busy_share": "share of time that nvidia-smi shows as GPU-Util, median of samples a tenth of a second apart",
        "sm_share": "share of multiprocessors that held a warp, by the card's counters",
        "occupancy_share": "share of places for warps that were taken, by the card's counters",
        "tensor_share": "share of time in which tensor cores worked, by the card's counters",
        "memory_share": "share of the memory's bandwidth in use, by the card's counters",
    }
    for name, (_, _, unit, each) in loads.items():
        for key, text in texts.items():
            if key in found[name]:
                said[f"{name}_{key}"] = (found[name][key], "", f"{name}: {text}")
        said[f"{name}_power_w"] = (found[name]["power_w"], "W", f"{name}: power that the card draws, median")
        said[f"{name}_clock_hz"] = (found[name]["clock_hz"], "Hz", f"{name}: clock of the multiprocessors, median")
        if unit:
            rate = found[name]["per_s"] * each
            said[f"{name}_{unit}_per_s"] = (rate, RATES[unit], f"{name}: work done, from launches counted")
    return run_file(
        "h200-utilisation",
        "One card under seven loads, by each measure of utilisation",
        "src/gpumoat/bench/busy.py",
        said,
        {"steps": steps, "loads": found, "resident": resident(cuda, image, shown, words, results)},
    )


def resident(cuda: Any, image: Any, shown: Any, words: Any, results: Any) -> list[list[Any]]:
    """Return [kernel, registers, threads a block, shared bytes, resident blocks] as the driver counts them."""
    rows: list[list[Any]] = []
    try:
        context = cuda.current_context()
        for name, arguments in (("one_pixel", shown), ("four_words_shuffled", None), ("eight_pixels", None)):
            kernel = getattr(image, name)
            if arguments is None:
                word = shown[0][: words.size * 8].view("uint32") if name.startswith("four") else words
                arguments = (*shown, word, results)
            kernel[1, 32](*arguments)
            (overload,) = kernel.overloads.values()
            function = overload._codelibrary.get_cufunc()
            registers = overload.regs_per_thread
            for threads in (32, 64, 96, 128, 192, 256, 320, 512, 768, 1024):
                for shared in (0, 5000, 20_000, 40_000):
                    blocks = context.get_active_blocks_per_multiprocessor(function, threads, shared)
                    rows.append([name, int(registers), threads, shared, int(blocks)])
    except Exception as error:  # the rest of the run is worth having without it
        rows.append([f"{type(error).__name__}: {error}", 0, 0, 0, 0])
    return rows


if __name__ == "__main__":
    subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv"], check=True)
    import os
    from pathlib import Path

    Path(os.environ.get("OUT", "."), "h200-utilisation.json").write_text(main(), encoding="utf-8")
