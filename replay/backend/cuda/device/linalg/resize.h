/* The arguments of resize.cu. Strides are in elements. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_LINALG_RESIZE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_LINALG_RESIZE_H

#include "replay/backend/cuda/device/prologue.h"

enum { RESIZE_PARTS = 8, RESIZE_COLUMNS = RESIZE_PARTS * 32 };

/* Copies matrices [from_rows, from_columns] to matrices [rows, columns], whose columns are
 * contiguous: what the former lack is zero, what the latter lack is left out. */
struct resize_args {
    u64 to, from;
    i64 batches, rows, columns, from_rows, from_columns;
    i64 to_batch, to_row, from_batch, from_row, from_column;
    i64 parts; /* of a row, each of RESIZE_COLUMNS columns */
};

#endif
