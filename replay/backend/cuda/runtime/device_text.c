#include "replay/backend/cuda/runtime/device_text.h"

#include <stddef.h>
#include <string.h>

const struct device_text *device_text_find(const char *name)
{
    for (const struct device_text *text = device_texts; text->name; text++)
        if (strcmp(strrchr(text->name, '/') + 1, name) == 0)
            return text;
    return NULL;
}
