#include "minify/edit/edit.h"

#include <inttypes.h>

static const char *const names[] = {
#define EDIT(id, name, reshapes) name,
    EDITS(EDIT)
#undef EDIT
};

void edit_print(const struct edit *edit, struct buf *out)
{
    buf_printf(out, "%s %" PRIu32 " %" PRIu32 " %" PRId64, names[edit->kind], edit->a, edit->b,
               edit->value);
}

static struct str take_edit_word(struct str *text)
{
    size_t n = str_find_char(*text, ' ');
    struct str word = str_first(*text, n);
    *text = str_from(*text, n < text->n ? n + 1 : n);
    return word;
}

bool edit_read(struct str text, struct edit *edit)
{
    struct str name = take_edit_word(&text);
    uint64_t a, b;
    int64_t value;
    if (!str_to_u64(take_edit_word(&text), &a) || !str_to_u64(take_edit_word(&text), &b) ||
        !str_to_i64(text, &value) || a > UINT32_MAX || b > UINT32_MAX)
        return false;
    for (int i = 0; i < EDIT_KINDS; i++)
        if (str_is(name, names[i])) {
            *edit = (struct edit){ (enum edit_kind)i, (uint32_t)a, (uint32_t)b, value };
            return true;
        }
    return false;
}

bool edit_invalid(struct err *why, const char *text)
{
    return err_set(why, ERR_USAGE, "%s", text);
}
