/* The dispatcher's error for an operator without a kernel for a device
 * (c10::impl::OperatorEntry::reportError). */
#include "replay/ops/dispatch/context.h"

#include <string.h>

static const char *const cuda_only[] = {
#define CUDA_ONLY(name) name,
#include "replay/ops/dispatch/cuda_only.def"
};

static bool has_cpu_kernel(struct str name)
{
    struct str plain = str_from(name, str_find(name, STR("::")) + 2);
    for (size_t i = 0; i < sizeof cuda_only / sizeof *cuda_only; i++)
        if (str_is(plain, cuda_only[i]))
            return false;
    return true;
}

static bool on_a_cpu(const struct value *value)
{
    if (value->kind == VALUE_TENSOR)
        return value->u.tensor.meta->device.type == DEVICE_CPU;
    for (uint32_t i = 0; value->kind == VALUE_LIST && i < value->n; i++)
        if (on_a_cpu(&value->u.items[i]))
            return true;
    return false;
}

bool check_backend(struct call *c)
{
    struct str name = str_first(c->op->schema.text, str_find_char(c->op->schema.text, '('));
    bool cpu = false;
    if (!eager(c) || has_cpu_kernel(name))
        return true;
    for (uint32_t i = 0; i < c->n_args && !cpu; i++)
        cpu = on_a_cpu(&c->args[i]);
    return !cpu ||
           refuse(c, "NotImplementedError",
                  "Could not run '%.*s' with arguments from the 'CPU' backend. This could be "
                  "because the operator doesn't exist for this backend, or was omitted during the "
                  "selective/custom build process (if using custom build). If you are a Facebook "
                  "employee using PyTorch on mobile, please visit "
                  "https://fburl.com/ptmfixes for possible resolutions. '%.*s' is only available "
                  "for these backends: [CUDA, Meta, BackendSelect, Python, "
                  "FuncTorchDynamicLayerBackMode, Functionalize, Named, Conjugate, Negative, "
                  "ZeroTensor, ADInplaceOrView, AutogradOther, AutogradCPU, AutogradCUDA, "
                  "AutogradHIP, AutogradXLA, AutogradMPS, AutogradIPU, AutogradXPU, AutogradHPU, "
                  "AutogradVE, AutogradLazy, AutogradMTIA, AutogradMAIA, AutogradPrivateUse1, "
                  "AutogradPrivateUse2, AutogradPrivateUse3, AutogradMeta, AutogradNestedTensor, "
                  "Tracer, AutocastCPU, AutocastMTIA, AutocastMAIA, AutocastXPU, AutocastMPS, "
                  "AutocastCUDA, FuncTorchBatched, BatchedNestedTensor, FuncTorchVmapMode, "
                  "Batched, VmapMode, FuncTorchGradWrapper, PythonTLSSnapshot, "
                  "FuncTorchDynamicLayerFrontMode, PreDispatch, PythonDispatcher].",
                  STR_ARG(name), STR_ARG(name));
}
