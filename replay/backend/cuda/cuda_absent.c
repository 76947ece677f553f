/* Replaces the CUDA backend in a program that was built without it. */
#include "replay/backend/call/backend.h"
#include "replay/backend/cuda/runtime/compile.h"

static bool absent_probe(struct buf *found)
{
    buf_puts(found, "this program was built without it (-Dcuda=disabled)\n");
    return false;
}

static struct backend *absent_open(struct err *err)
{
    err_set(err, ERR_ENV, "backend cuda: symtape was built without it (-Dcuda=disabled)");
    return NULL;
}

const struct backend_kind backend_cuda = {
    .name = "cuda",
    .description = "an NVIDIA GPU",
    .probe = absent_probe,
    .open = absent_open,
};

bool compile_serve(int in, const char *nvrtc, struct err *err)
{
    (void)in;
    (void)nvrtc;
    return err_set(err, ERR_ENV, "--kernels: this symtape was built with -Dcuda=disabled");
}
