"""Seven broken kernels, each run in three orders: which results are right, and what a rule finds in any of them."""

import random

from gpumoat import assume, fact, simt

warp = fact("cuda.warp_threads")
threads = 2 * warp
count = assume(4, "rounds: small numbers, so that a run is short") * threads
values = tuple(range(count))
noise = tuple(random.Random(1).choices(range(assume(256, "the values that a byte can have")), k=count + 1))
pairs = tuple(zip(noise, noise[1:]))
