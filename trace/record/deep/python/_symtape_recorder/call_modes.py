"""The global state at a call, as a key that can be compared, and as JSON: what GLOBAL_STATE guards
(struct GlobalStateGuard in torch/csrc/dynamo/guards.cpp), inference mode, and the modes of
torch.overrides."""

# What GLOBAL_STATE guards beside the modes, by the name that its reasons have.
SETTINGS = (
    ("autocast_cache_enabled", lambda torch: torch.is_autocast_cache_enabled()),
    ("torch_function", lambda torch: torch._C._is_torch_function_enabled()),
    ("deterministic_algorithms_warn_only",
     lambda torch: torch._C._get_deterministic_algorithms_warn_only()),
    ("allow_tf32", lambda torch: torch._C._get_fp32_precision_getter("cuda", "matmul") == "tf32"),
    ("allow_fp16_reduce", lambda torch: torch._C._get_cublas_allow_fp16_reduced_precision_reduction()),
    ("allow_bf16_reduce", lambda torch: torch._C._get_cublas_allow_bf16_reduced_precision_reduction()),
    ("num_threads", lambda torch: torch.get_num_threads()),
)


class Modes:
    """What changes in one process. Settings are told where they are not as at the first call."""

    def __init__(self, torch):
        self.torch, self.settings = torch, []
        for name, read in SETTINGS:
            try:
                self.settings.append((name, read, read(torch)))
            except Exception:  # this PyTorch does not have it
                pass

    def now(self):
        torch, c = self.torch, self.torch._C
        return (c.is_grad_enabled(), c.is_inference_mode_enabled(),
                self.autocast() if c._is_any_autocast_enabled() else None,
                torch.get_default_dtype(), c._get_deterministic_algorithms(),
                function_modes(c) if c._len_torch_function_stack() else None,
                self.changed_settings())

    def autocast(self):
        torch = self.torch
        for device in ("cpu", "cuda", "xpu", "mps", "hpu"):
            try:
                if torch.is_autocast_enabled(device):
                    return device, str(torch.get_autocast_dtype(device))
            except RuntimeError:
                pass
        return None

    def changed_settings(self):
        torch, found = self.torch, ()
        for name, read, first in self.settings:
            value = read(torch)
            if value != first:
                found += (name, str(value)),
        return found


def function_modes(c):
    """The modes of torch.overrides, outermost first."""
    found = []
    for i in range(c._len_torch_function_stack()):
        mode = c._get_function_stack_at(i)
        name = type(mode).__name__
        found.append(f"{name}({mode.device})" if name == "DeviceContext" else name)
    return ", ".join(found)


def describe(mode):
    """A key as the member "mode" of a row."""
    grad, inference, autocast, dtype, deterministic, modes, settings = mode
    row = {"grad": grad, "inference": inference,
           "autocast": {"device": autocast[0], "dtype": autocast[1]} if autocast else None,
           "default_dtype": str(dtype), "deterministic": deterministic}
    if modes is not None:
        row["function_modes"] = modes
    if settings:
        row["settings"] = dict(settings)
    return row
