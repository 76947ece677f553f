/* Devices, contexts, streams and events. */
#include "tests/cuda/fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CUctx_st {
    int retained;
};
struct CUevent_st {
    bool recorded;
    double us;
};

static struct CUctx_st primary;

EXPORT int cuInit(unsigned flags);
EXPORT int cuInit(unsigned flags)
{
    int error = fake_enter(__func__);
    if (error)
        return error;
    if (flags)
        return CU_INVALID_VALUE;
    if (fake_setting("SYMTAPE_FAKE_DEVICES", 1) == 0)
        return CU_NO_DEVICE;
    fake_initialized();
    return CU_OK;
}

EXPORT int cuDriverGetVersion(int *ret);
EXPORT int cuDriverGetVersion(int *ret)
{
    *ret = (int)fake_setting("SYMTAPE_FAKE_DRIVER", 13000);
    return CU_OK;
}

static const struct {
    int error;
    const char *name, *text;
} errors[] = {
    { CU_OK, "CUDA_SUCCESS", "no error" },
    { CU_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument" },
    { CU_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory" },
    { NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error" },
    { CU_DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE",
      "CUDA-capable device(s) is/are busy or unavailable" },
    { CU_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected" },
    { INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal" },
    { CU_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid" },
    { INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context" },
    { CU_NO_BINARY, "CUDA_ERROR_NO_BINARY_FOR_GPU",
      "no kernel image is available for execution on the device" },
    { CU_UNSUPPORTED_PTX, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
      "the provided PTX was compiled with an unsupported toolchain" },
    { CU_ECC_UNCORRECTABLE, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered" },
    { NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found" },
    { CU_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
      "an illegal memory access was encountered" },
    { LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
      "too many resources requested for launch" },
    { CU_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure" },
    { CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
      "operation not permitted when stream is capturing" },
    { CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
      "operation failed due to a previous error during capture" },
    { CU_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error" },
};

EXPORT int cuGetErrorName(int error, const char **ret);
EXPORT int cuGetErrorName(int error, const char **ret)
{
    *ret = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == error)
            *ret = errors[i].name;
    return *ret ? CU_OK : CU_INVALID_VALUE;
}

EXPORT int cuGetErrorString(int error, const char **ret);
EXPORT int cuGetErrorString(int error, const char **ret)
{
    *ret = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == error)
            *ret = errors[i].text;
    return *ret ? CU_OK : CU_INVALID_VALUE;
}

EXPORT int cuDeviceGetCount(int *ret);
EXPORT int cuDeviceGetCount(int *ret)
{
    int error = fake_enter(__func__);
    *ret = (int)fake_setting("SYMTAPE_FAKE_DEVICES", 1);
    return error;
}

EXPORT int cuDeviceGet(int *ret, int ordinal);
EXPORT int cuDeviceGet(int *ret, int ordinal)
{
    int error = fake_enter(__func__);
    if (error)
        return error;
    if (ordinal < 0 || ordinal >= fake_setting("SYMTAPE_FAKE_DEVICES", 1))
        return INVALID_DEVICE;
    *ret = ordinal;
    return CU_OK;
}

EXPORT int cuDeviceGetName(char *ret, int n, int device);
EXPORT int cuDeviceGetName(char *ret, int n, int device)
{
    (void)device;
    int error = fake_enter(__func__);
    if (error)
        return error;
    strncpy(ret, "host pretending to be a device", (size_t)n);
    ret[n - 1] = 0;
    return CU_OK;
}

EXPORT int cuDeviceGetAttribute(int *ret, int attribute, int device);
EXPORT int cuDeviceGetAttribute(int *ret, int attribute, int device)
{
    (void)device;
    int error = fake_enter(__func__);
    if (error)
        return error;
    int capability = (int)fake_setting("SYMTAPE_FAKE_CAPABILITY", 90);
    switch (attribute) {
    case 1: *ret = 1024; break; /* threads of a block */
    case CU_SHARED_PER_BLOCK: *ret = 48 << 10; break;
    case 10: *ret = 32; break; /* warp */
    case CU_MULTIPROCESSORS: *ret = (int)fake_setting("SYMTAPE_FAKE_MULTIPROCESSORS", 3); break;
    case CU_COMPUTE_MODE: *ret = (int)fake_setting("SYMTAPE_FAKE_MODE", 0); break;
    case CU_THREADS_PER_MULTIPROCESSOR: *ret = 2048; break;
    case CU_CAPABILITY_MAJOR: *ret = capability / 10; break;
    case CU_CAPABILITY_MINOR: *ret = capability % 10; break;
    case CU_SHARED_PER_BLOCK_MAX: *ret = 227 << 10; break;
    case 36: *ret = 1000000; break; /* memory clock, kHz */
    case 37: *ret = 256; break;     /* bus width, bits */
    case 38: *ret = 1 << 20; break; /* L2 */
    default: *ret = 0; break;
    }
    return CU_OK;
}

EXPORT int cuDeviceTotalMem_v2(size_t *ret, int device);
EXPORT int cuDeviceTotalMem_v2(size_t *ret, int device)
{
    (void)device;
    int error = fake_enter(__func__);
    *ret = (size_t)fake_setting("SYMTAPE_FAKE_MEMORY", (int64_t)8 << 30);
    return error;
}

EXPORT int cuDevicePrimaryCtxRetain(cu_context *ret, int device);
EXPORT int cuDevicePrimaryCtxRetain(cu_context *ret, int device)
{
    (void)device;
    int error = fake_enter(__func__);
    if (error)
        return error;
    if (fake_setting("SYMTAPE_FAKE_MODE", 0))
        return CU_DEVICE_UNAVAILABLE;
    primary.retained++;
    *ret = &primary;
    return CU_OK;
}

/* The last one ends it: its error, too. */
EXPORT int cuDevicePrimaryCtxRelease_v2(int device);
EXPORT int cuDevicePrimaryCtxRelease_v2(int device)
{
    (void)device;
    int error = fake_enter(__func__);
    if (error)
        return error;
    if (primary.retained == 0)
        return INVALID_CONTEXT;
    if (--primary.retained == 0 && !fake_setting("SYMTAPE_FAKE_HELD", 0)) {
        fake_end_context(false);
        fake_forget_memory();
    }
    return CU_OK;
}

EXPORT int cuDevicePrimaryCtxReset_v2(int device);
EXPORT int cuDevicePrimaryCtxReset_v2(int device)
{
    (void)device;
    int error = fake_enter(__func__);
    if (error)
        return error;
    fake_end_context(true);
    fake_forget_memory();
    return CU_OK;
}

EXPORT int cuCtxSetCurrent(cu_context context);
EXPORT int cuCtxSetCurrent(cu_context context)
{
    int error = fake_enter(__func__);
    if (error)
        return error;
    if (context && primary.retained == 0)
        return INVALID_CONTEXT;
    fake_use(context != NULL);
    return CU_OK;
}

EXPORT int cuStreamCreate(cu_stream *ret, unsigned flags);
EXPORT int cuStreamCreate(cu_stream *ret, unsigned flags)
{
    (void)flags;
    int error = fake_enter_context(__func__);
    if (error)
        return error;
    *ret = calloc(1, sizeof **ret);
    if (*ret)
        fake_made(FAKE_STREAM);
    return *ret ? CU_OK : CU_OUT_OF_MEMORY;
}

EXPORT int cuStreamDestroy_v2(cu_stream stream);
EXPORT int cuStreamDestroy_v2(cu_stream stream)
{
    int error = fake_enter_context(__func__);
    free(stream);
    fake_gone(FAKE_STREAM);
    return error;
}

/* The state of a stream if a device was lost in a collective (fake_nccl.c): that device's stream
 * fails, and the others are not ready until their communicators are aborted. */
static int stream_state(cu_stream stream)
{
    const char *lost = getenv("SYMTAPE_FAKE_LOST_STREAM");
    char text[32];
    if (!lost)
        return CU_OK;
    snprintf(text, sizeof text, "%p", (void *)stream);
    return strcmp(lost, text) == 0          ? CU_ILLEGAL_ADDRESS
           : getenv("SYMTAPE_FAKE_ABORTED") ? CU_OK
                                            : CU_NOT_READY;
}

EXPORT int cuStreamQuery(cu_stream stream);
EXPORT int cuStreamQuery(cu_stream stream)
{
    int error = fake_enter_context(__func__);
    return error ? error : stream_state(stream);
}

EXPORT int cuStreamSynchronize(cu_stream stream);
EXPORT int cuStreamSynchronize(cu_stream stream)
{
    int error = fake_enter_context(__func__);
    if (!error)
        error = stream_state(stream);
    if (error == CU_NOT_READY) {
        fprintf(stderr, "fake driver: the stream waits for a lost device for ever\n");
        abort();
    }
    return error ? error : fake_wait(stream);
}

EXPORT int cuEventCreate(cu_event *ret, unsigned flags);
EXPORT int cuEventCreate(cu_event *ret, unsigned flags)
{
    (void)flags;
    int error = fake_enter_context(__func__);
    if (error)
        return error;
    *ret = calloc(1, sizeof **ret);
    if (*ret)
        fake_made(FAKE_EVENT);
    return *ret ? CU_OK : CU_OUT_OF_MEMORY;
}

EXPORT int cuEventDestroy_v2(cu_event event);
EXPORT int cuEventDestroy_v2(cu_event event)
{
    int error = fake_enter_context(__func__);
    free(event);
    fake_gone(FAKE_EVENT);
    return error;
}

static int record(const void *data)
{
    cu_event event = *(const cu_event *)data;
    event->recorded = true;
    event->us = fake_now();
    return CU_OK;
}

EXPORT int cuEventRecord(cu_event event, cu_stream stream);
EXPORT int cuEventRecord(cu_event event, cu_stream stream)
{
    int error = fake_enter_context(__func__);
    return error ? error : fake_submit(stream, record, &event, sizeof event);
}

EXPORT int cuEventElapsedTime(float *ms, cu_event start, cu_event end);
EXPORT int cuEventElapsedTime(float *ms, cu_event start, cu_event end)
{
    int error = fake_enter_context(__func__);
    if (error)
        return error;
    if (!start->recorded || !end->recorded)
        return CU_INVALID_VALUE;
    *ms = (float)((end->us - start->us) / 1000);
    return CU_OK;
}
