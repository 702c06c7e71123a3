/* Prints what NVIDIA's cuda_occupancy.h says of the kernels that it reads, for tests/test_occupancy.py.

   The header comes with CUDA and is not ours, so only its answers are kept: reference.csv. To make them again:
   cc -w -I$CUDA/include -o reference reference.c && ./reference < questions
   A question: major minor warps shared_bytes block_shared_bytes threads registers shared. */
#include <stdio.h>
#include <limits.h>
#include "cuda_occupancy.h"

int main(void) {
    int major, minor, warps, most, block_most, threads, registers;
    long shared;
    while (scanf("%d %d %d %d %d %d %d %ld", &major, &minor, &warps, &most, &block_most, &threads, &registers, &shared) == 8) {
        cudaOccDeviceProp card = {major, minor, 1024, warps * 32, 65536, 65536, 32, 49152, most, 1, block_most,
                                  major >= 8 ? 1024 : 0};
        cudaOccFuncAttributes kernel = {1024, registers, 0, PARTITIONED_GC_OFF, FUNC_SHMEM_LIMIT_OPTIN, shared, 1, 0};
        cudaOccDeviceState state = {CACHE_PREFER_SHARED, SHAREDMEM_CARVEOUT_MAX_SHARED};
        cudaOccResult found;
        if (cudaOccMaxActiveBlocksPerMultiprocessor(&found, &card, &kernel, &state, threads, shared) != CUDA_OCC_SUCCESS)
            return 1;
        printf("sm_%d%d,%d,%d,%ld,%d\n", major, minor, threads, registers, shared, found.activeBlocksPerMultiprocessor);
    }
    return 0;
}
