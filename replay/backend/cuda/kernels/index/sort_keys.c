#include "replay/backend/cuda/kernels/index/sort_keys.h"

#include "replay/backend/cuda/device/index/offsets.h"
#include "replay/backend/cuda/device/index/radix.h"

static void offsets_by_one(struct kernel *k, const char *defines, struct offsets_args args)
{
    uint32_t threads = args.n <= OFFSETS_TILE ? OFFSETS_THREADS : 1024;
    cuda_launch(k, cuda_function(k, "offsets", "offsets_one", defines),
                (struct cuda_grid){ 1, 1, 1, threads, 0 }, &args, sizeof args);
}

void cuda_offsets(struct kernel *k, uint64_t numbers, int64_t n, bool wide, uint64_t total)
{
    const char *defines = wide ? "#define N i64\n" : "#define N u32\n";
    struct offsets_args args = { .numbers = numbers, .n = n, .total = total };
    int64_t tiles = (n + OFFSETS_TILE - 1) / OFFSETS_TILE;
    if (n <= OFFSETS_ONE) {
        offsets_by_one(k, defines, args);
        return;
    }
    struct cuda_grid grid = { (uint32_t)tiles, 1, 1, OFFSETS_THREADS, 0 };
    args.sums = cuda_workspace(k, (size_t)tiles * sizeof(int64_t));
    cuda_launch(k, cuda_function(k, "offsets", "offsets_sum", defines), grid, &args, sizeof args);
    offsets_by_one(k, defines,
                   (struct offsets_args){ .numbers = args.sums, .n = tiles, .total = total });
    cuda_launch(k, cuda_function(k, "offsets", "offsets_write", defines), grid, &args, sizeof args);
}

bool cuda_sort_keys(struct kernel *k, uint64_t *keys, uint64_t *order, int64_t n, unsigned bits,
                    bool wide)
{
    const char *defines = wide ? "#define K u64\n" : "#define K u32\n";
    int64_t blocks = (n + RADIX_TILE - 1) / RADIX_TILE;
    struct cuda_function *count = cuda_function(k, "radix", "radix_count", defines);
    struct cuda_function *place = cuda_function(k, "radix", "radix_place", defines);
    uint64_t counts = cuda_workspace(k, (size_t)blocks * RADIX_DIGITS * sizeof(uint32_t));
    uint64_t other_keys = cuda_workspace(k, (size_t)n * (wide ? 8 : 4));
    uint64_t other_order = cuda_workspace(k, (size_t)n * sizeof(uint32_t));
    struct cuda_grid grid = { (uint32_t)blocks, 1, 1, RADIX_THREADS, 0 };
    for (unsigned shift = 0; shift < bits && !k->failed; shift += 8) {
        struct radix_args args = { .keys = *keys,
                                   .order = *order,
                                   .to_keys = other_keys,
                                   .to_order = other_order,
                                   .counts = counts,
                                   .n = n,
                                   .shift = shift };
        cuda_launch(k, count, grid, &args, sizeof args);
        cuda_offsets(k, counts, blocks * RADIX_DIGITS, false, 0);
        cuda_launch(k, place, grid, &args, sizeof args);
        other_keys = *keys;
        other_order = *order;
        *keys = args.to_keys;
        *order = args.to_order;
    }
    return !k->failed;
}
