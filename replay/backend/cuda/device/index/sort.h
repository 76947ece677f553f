/* Arguments of sort.cu's kernels. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_SORT_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_SORT_H

#include "replay/backend/cuda/device/span.h"

/* What a block sorts at a time, of one row or of several short ones. */
enum { SORT_TILE = 2048, SORT_THREADS = 256 };

/* Tensors of the rows: the input, the values, the places. step: theirs along the dimension.
 * Keys and places lie in order in room, a row behind the other. */
struct sort_args {
    struct span rows;
    u64 from, values, places; /* values, places: 0: not wanted */
    u64 keys, ids;            /* what is sorted; 0: the input itself */
    u64 to_keys, to_ids;      /* where runs go; 0: sort_tiles gives the result */
    i64 n;                    /* of a row */
    i64 tiles;                /* of a row */
    i64 segment;              /* a power of two: what each row or tile has in the block */
    i64 keep;                 /* elements of a tile, or of a row, that go on */
    i64 to_n;                 /* of a row, behind */
    i64 width;                /* of runs that are merged */
    i64 step[3];
    u32 descending;
};

/* Which element of each sorted row is meant; the others are greater or less by order alone. */
enum { PICK_KTH, PICK_MEDIAN, PICK_NANMEDIAN, PICK_MODE };

/* rows: tensors 2: the sorted places, in order; 3, 4: the results. */
struct pick_args {
    struct sort_args sorted;
    u64 values, places; /* places: 0: not wanted */
    i64 kth;            /* from 0 */
    u32 what, unused;
};

/* searchsorted: edges and sorter lie in order; x: tensors: the values, the result. */
struct search_args {
    struct span span;
    u64 edges, sorter, x, to;
    i64 n, per_row; /* edges of a row; values that are looked up in it: all of them, with one row */
    f64 value;      /* where x is no tensor */
    u32 right;
};

#endif
