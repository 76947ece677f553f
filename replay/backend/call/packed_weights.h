/* Weights of four bits as _convert_weight_to_int4pack packs them for tensor cores
 * (matrix_to_m16n8k16_Bint4_layout in aten/src/ATen/native/cuda/int4mm.cu):
 * [n / 8][k / (16 * tiles)][32][tiles / 2] words. A word holds eight values of one row n; two tiles
 * of 16 values along k share it. */
#ifndef SYMTAPE_REPLAY_BACKEND_CALL_PACKED_WEIGHTS_H
#define SYMTAPE_REPLAY_BACKEND_CALL_PACKED_WEIGHTS_H

#include "replay/backend/call/kernel.h"

struct int4_weight {
    int64_t n, k;
    int64_t tiles; /* inner_k_tiles: 2, 4 or 8 */
    int64_t group; /* values along k that share a scale and a zero point; 0: not known */
};

/* Describes a packed tensor. False: it has other sizes, and the kernel has failed. */
bool int4_weight_of(struct kernel *k, struct kernel_tensor packed, struct int4_weight *ret);
/* Describes mat2 of _weight_int4pack_mm, and checks that the other arguments fit it. */
bool int4_weight_of_call(struct kernel *k, struct int4_weight *ret);

struct int4_place {
    int64_t word;
    unsigned shift; /* of the value's lowest bit */
};

static inline struct int4_place int4_place(const struct int4_weight *w, int64_t n, int64_t k)
{
    const int64_t tile = k / 16, within = k % 16, lane = n % 8 * 4 + within % 8 / 2;
    const int64_t block = n / 8 * (w->k / (16 * w->tiles)) + tile / w->tiles;
    return (struct int4_place){
        .word = (block * 32 + lane) * (w->tiles / 2) + tile % w->tiles / 2,
        .shift = (unsigned)(4 * (tile % 2 * 2 + within / 8 + within % 2 * 4)),
    };
}

#endif
