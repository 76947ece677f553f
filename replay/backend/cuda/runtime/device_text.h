/* The texts of kernels (device/NAME.cu, device/NAME.h, prologue.h), which are embedded in the
 * program when it is built. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_DEVICE_TEXT_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_DEVICE_TEXT_H

struct device_text {
    const char *name; /* as texts include it: "replay/backend/cuda/device/copy.h" */
    const char *text;
};
extern const struct device_text device_texts[]; /* ends with a NULL name */

/* Finds a text by the last part of its name: "copy.cu". NULL: there is none. */
const struct device_text *device_text_find(const char *name);

#endif
