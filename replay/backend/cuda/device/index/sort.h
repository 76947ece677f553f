/* Arguments of sort.cu's kernels. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_SORT_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_SORT_H

#include "replay/backend/cuda/device/span.h"

/* The elements that a block sorts at a time, of one row or of several short ones. */
enum { SORT_TILE = 2048, SORT_THREADS = 256 };

/* Tensors of the rows: the input, the values, the indices. step: theirs along the dimension. Keys
 * and indices are contiguous in a workspace, row by row. */
struct sort_args {
    struct span rows;
    u64 from, values, places; /* values, places: 0: not requested */
    u64 keys, ids;            /* the keys to sort; 0: of the input */
    u64 to_keys, to_ids;      /* the sorted runs; 0: sort_tiles writes the result */
    i64 n;                    /* of a row */
    i64 tiles;                /* of a row */
    i64 segment;              /* a power of two: the elements of each row or tile in a block */
    i64 keep;                 /* elements of a tile, or of a row, that are kept */
    i64 to_n;                 /* elements of a row after this step */
    i64 width;                /* of the runs that are merged */
    i64 step[3];
    u32 descending;
    struct live_count live; /* elements of each row beyond that number come last; .at 0: there are
                               none */
};

/* The element of each sorted row that is returned. */
enum { PICK_KTH, PICK_MEDIAN, PICK_NANMEDIAN, PICK_MODE };

/* rows: tensors 2: the sorted indices, contiguous; 3, 4: the results. */
struct pick_args {
    struct sort_args sorted;
    u64 values, places; /* places: 0: not requested */
    i64 kth;            /* from 0 */
    u32 what, unused;
};

/* searchsorted: edges and sorter are contiguous; x: tensors: the values, the result. */
struct search_args {
    struct span span;
    u64 edges, sorter, x, to;
    i64 n, per_row; /* edges of a row; values that are searched in it: all of them, if there is one
                       row */
    f64 value;      /* the value if x is no tensor */
    u32 right;
};

#endif
