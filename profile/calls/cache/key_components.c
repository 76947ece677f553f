#include "profile/calls/cache/key_components.h"

/* Splits "[hash] name: value". */
static bool split_component(struct str text, struct key_component *ret)
{
    size_t end = str_find_char(text, ']');
    if (!str_starts(text, STR("[")) || end == text.n)
        return false;
    ret->hash = str_from(str_first(text, end), 1);
    text = str_trim(str_from(text, end + 1));
    size_t colon = str_find_char(text, ':');
    ret->name = str_first(text, colon);
    ret->value = str_trim(str_from(text, colon + 1));
    return ret->name.n != 0;
}

bool key_component_read(const struct json *doc, json_id element, struct buf *text,
                        struct key_component *ret)
{
    buf_clear(text);
    json_decode(doc, element, text);
    return split_component(buf_str(text), ret);
}

bool key_component_is_of_graph(struct str name)
{
    return str_is(name, "gm") || str_starts(name, STR("example_inputs["));
}

bool key_is_of_backward(const struct json *doc, json_id components, struct buf *text)
{
    struct key_component part;
    for (json_id c = json_first(doc, components); c != JSON_NONE; c = json_next(doc, c))
        if (key_component_read(doc, c, text, &part) && str_is(part.name, "fx_kwargs[is_backward]"))
            return str_is(part.value, "True");
    return false;
}
