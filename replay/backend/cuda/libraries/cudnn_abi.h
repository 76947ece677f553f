/* The part of cuDNN's backend API that is used, declared here so that the build needs no headers of
 * it; a test compares it with the headers if there are some. The numbers are those of cudnn_graph.h
 * and cudnn_ops.h of version 9. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUDNN_ABI_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUDNN_ABI_H

#include <stddef.h>
#include <stdint.h>

/* cudnnStatus_t: its thousands are the kind */
enum { CUDNN_OK = 0, CUDNN_NOT_SUPPORTED = 3000, CUDNN_INTERNAL = 4000, CUDNN_EXECUTION = 5000 };

/* cudnnDataType_t */
enum {
    CUDNN_F32 = 0,
    CUDNN_F64 = 1,
    CUDNN_F16 = 2,
    CUDNN_I32 = 4,
    CUDNN_BF16 = 9,
    CUDNN_BOOL = 11
};

/* cudnnBackendDescriptorType_t */
enum {
    CUDNN_POINT_OF = 0,
    CUDNN_CONVOLUTION_OF = 1,
    CUDNN_ENGINE = 2,
    CUDNN_ENGINE_CONFIG = 3,
    CUDNN_HEURISTIC = 4,
    CUDNN_PLAN = 5,
    CUDNN_KNOB_CHOICE = 7,
    CUDNN_FORWARD = 10,
    CUDNN_BACKWARD_FILTER = 11,
    CUDNN_BACKWARD_DATA = 12,
    CUDNN_POINT = 13,
    CUDNN_GRAPH = 15,
    CUDNN_PACK = 16,
    CUDNN_TENSOR = 17,
    CUDNN_PRODUCT_OF = 18,
    CUDNN_PRODUCT = 19,
    CUDNN_REDUCTION_OF = 21,
    CUDNN_REDUCTION = 22,
    CUDNN_RESHAPE = 31
};

/* cudnnBackendAttributeType_t */
enum {
    CUDNN_HANDLES = 0,
    CUDNN_DATA_TYPES = 1,
    CUDNN_BOOLS = 2,
    CUDNN_INT64S = 3,
    CUDNN_FLOATS = 4,
    CUDNN_DOUBLES = 5,
    CUDNN_POINTERS = 6,
    CUDNN_CONVOLUTION_MODES = 7,
    CUDNN_HEURISTIC_MODES = 8,
    CUDNN_KNOB_TYPES = 9,
    CUDNN_NOTES = 11,
    CUDNN_POINT_MODES = 14,
    CUDNN_DESCRIPTORS = 15,
    CUDNN_REDUCTION_MODES = 18
};

/* cudnnBackendAttributeName_t */
enum {
    POINT_MODE = 0,
    POINT_COMPUTE = 1,
    POINT_AXIS = 9,
    CONVOLUTION_COMPUTE = 100,
    CONVOLUTION_MODE = 101,
    CONVOLUTION_DILATIONS = 102,
    CONVOLUTION_STRIDES = 103,
    CONVOLUTION_PADDING_BEHIND = 104,
    CONVOLUTION_PADDING_BEFORE = 105,
    CONVOLUTION_DIMS = 106,
    HEURISTIC_MODE = 200,
    HEURISTIC_GRAPH = 201,
    HEURISTIC_RESULTS = 202,
    HEURISTIC_DEVICE = 204,
    CONFIG_ENGINE = 300,
    CONFIG_KNOBS = 302,
    PLAN_HANDLE = 400,
    PLAN_CONFIG = 401,
    PLAN_WORKSPACE = 402,
    PLAN_DEVICE = 407,
    KNOB_TYPE = 600,
    KNOB_VALUE = 601,
    FORWARD_ALPHA = 700,         /* then beta, the convolution, w, x, y */
    BACKWARD_DATA_ALPHA = 706,   /* then beta, the convolution, w, dx, dy */
    BACKWARD_FILTER_ALPHA = 712, /* then beta, the convolution, dw, x, dy */
    POINT_DESCRIPTOR = 750,
    POINT_X = 751,
    POINT_B = 752,
    POINT_Y = 753,
    POINT_T = 758,
    GRAPH_HANDLE = 800,
    GRAPH_OPERATIONS = 801,
    GRAPH_ENGINES = 802, /* their number */
    TENSOR_ALIGNMENT = 900,
    TENSOR_TYPE = 901,
    TENSOR_SIZES = 902,
    TENSOR_STRIDES = 903,
    TENSOR_ID = 906,
    TENSOR_IS_VIRTUAL = 907,
    TENSOR_IS_BY_VALUE = 908,
    PACK_IDS = 1000,
    PACK_POINTERS = 1001,
    PACK_ROOM = 1003,
    ENGINE_GRAPH = 1300,
    ENGINE_INDEX = 1301,
    ENGINE_NOTES = 1303,
    ENGINE_DEVICE = 1307,
    PRODUCT_COMPUTE = 1500,
    PRODUCT_A = 1520, /* then b, c, the descriptor */
    REDUCTION_MODE = 1600,
    REDUCTION_COMPUTE = 1601,
    REDUCTION_X = 1610, /* then y, the descriptor */
    RESHAPE_X = 2200    /* then y */
};

/* cudnnPointwiseMode_t */
enum {
    POINT_ADD = 0,
    POINT_MUL = 1,
    POINT_DIV = 6,
    POINT_SUB = 9,
    POINT_EXP = 13,
    POINT_LOG = 15,
    POINT_GE = 303,
    POINT_INDEX = 501,
    POINT_SELECT = 601
};
/* cudnnReduceTensorOp_t */
enum { REDUCTION_SUM = 0, REDUCTION_MAX = 3 };

enum { CUDNN_CORRELATE = 1 }; /* cudnnConvolutionMode_t */
/* cudnnBackendHeurMode_t */
enum { HEURISTIC_SLOW = 1, HEURISTIC_FALLBACK = 2, HEURISTIC_BEST = 3 };
/* cudnnBackendNumericalNote_t */
enum {
    NOTE_TENSOR_CORE = 0,
    NOTE_ROUNDS_INPUTS = 1,
    NOTE_ROUNDS_SUMS = 2,
    NOTE_NOT_REPEATABLE = 4,
    NOTE_WINOGRAD_4 = 6,
    NOTE_WINOGRAD_6 = 7,
    NOTE_WINOGRAD_13 = 8,
    NOTES = 10
};

struct cudnn_table {
#define SYMBOL(needed, member, symbol, parameters) int(*member) parameters;
#include "replay/backend/cuda/libraries/cudnn.def"
#undef SYMBOL
};

#endif
