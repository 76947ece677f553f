#include "cmd/show/show.h"
#include "profile/env_levels/env_levels.h"
#include "profile/model/format.h"

/* Two views over one list: --levels. */

static const struct env_levels *levels_of(struct show *show, struct err *err)
{
    if (!show->levels)
        show->levels = env_levels_make(show->trace, &show->selector, err);
    return show->levels;
}

/* ---- levels ---- */

static bool load_levels(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    const struct env_levels *levels = levels_of(show, err);
    if (!levels)
        return false;
    *ret = (void *)(uintptr_t)levels;
    *ret_n = levels->n_levels;
    return true;
}

static struct show_place place_level(const struct show *show, const void *items, uint32_t i)
{
    (void)show;
    const struct env_level *level = &((const struct env_levels *)items)->levels[i];
    return (struct show_place){ .record = level->record, .attempt = level->attempt };
}

static const void *item_level(struct show *show, void *items, uint32_t i)
{
    (void)show;
    return &((const struct env_levels *)items)->levels[i];
}

static bool may_assert(const struct env_level *level)
{
    return !level->frozen && level->stage != ENV_STAGE_FORWARD &&
           level->stage != ENV_STAGE_BACKWARD;
}

static void cell_may(const void *context, const void *at, struct buf *out)
{
    const struct env_level *level = at;
    (void)context;
    buf_puts(out, "replace");
    buf_puts(out, level->frozen ? "" : ", guard");
    buf_puts(out, may_assert(level) ? ", assert" : "");
}

static void json_may(const void *context, const void *at, struct json_writer *w, const char *key)
{
    const struct env_level *level = at;
    (void)context;
    json_open_array(w, key);
    json_put_cstr(w, NULL, "replace");
    if (!level->frozen)
        json_put_cstr(w, NULL, "guard");
    if (may_assert(level))
        json_put_cstr(w, NULL, "assert");
    json_close(w);
}

static void json_open_symbols(const void *context, const void *at, struct json_writer *w,
                              const char *key)
{
    const struct env_level *level = at;
    (void)context;
    json_open_array(w, key);
    for (uint32_t i = 0; i < level->n_symbols; i++)
        if (env_level_may_replace(level, &level->symbols[i]))
            json_put_str(w, NULL, level->symbols[i].name);
    json_close(w);
}

/* Prints the symbols, of which the table has the number. */
static void block_level(const void *item, struct buf *out)
{
    const struct env_level *level = item;
    bool first = true;
    for (uint32_t i = 0; i < level->n_symbols; i++)
        if (env_level_may_replace(level, &level->symbols[i])) {
            buf_puts(out, first ? "  may replace:\n    " : ", ");
            format_text(out, level->symbols[i].name, 0);
            first = false;
        }
    buf_puts(out, first ? "" : "\n");
}

GETTER(get_level, enum env_stage, datum_count(env_stage_level(*row)))
GETTER(get_stage, enum env_stage, datum_name(env_stage_name(*row)))

static const struct field LEVEL[] = {
    SHOW_COMPILE(1),
    { "level", GET(get_level, struct env_level, stage), TEXT(2, "level", NUMBER, 0) },
    { "stage", GET(get_stage, struct env_level, stage), TEXT(3, "stage", WORD, 0) },
    { "frozen", MEMBER(struct env_level, frozen) },
    { "may", .json = json_may, .cell = cell_may, TEXT(4, "may", WORD, 3) },
    { "symbols", .json = json_open_symbols },
    { NULL, MEMBER(struct env_level, n_open), TEXT(5, "symbols", NUMBER, 2) },
    { "replaced", MEMBER(struct env_level, replaced), TEXT(6, "replaced", COUNT, 0) },
    { "guarded", MEMBER(struct env_level, guarded), TEXT(7, "guarded", COUNT, 0) },
    { "equalities", MEMBER(struct env_level, equalities), TEXT(8, "equalities", COUNT, 4) },
    { "asserted", MEMBER(struct env_level, asserted), TEXT(9, "asserted", COUNT, 5) },
    { "suppressed", MEMBER(struct env_level, suppressed), TEXT(10, "suppressed", COUNT, 6) },
    { "ignored", MEMBER(struct env_level, ignored), TEXT(11, "ignored", COUNT, 1) },
    { "partial", MEMBER(struct env_level, partial) },
};
static const struct fields LEVEL_FIELDS = FIELDS_OF(LEVEL);

const struct show_view show_levels = {
    .key = "levels",
    .none = "no shape environments",
    .fields = &LEVEL_FIELDS,
    .load = load_levels,
    .place = place_level,
    .block = block_level,
    .item = item_level,
};

/* ---- conditions ---- */

static bool load_conditions(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    const struct env_levels *levels = levels_of(show, err);
    if (!levels)
        return false;
    *ret = (void *)(uintptr_t)levels;
    *ret_n = levels->n_conditions;
    return true;
}

static const struct env_condition *condition_at(const void *items, uint32_t i)
{
    return &((const struct env_levels *)items)->conditions[i];
}

static struct show_place place_condition(const struct show *show, const void *items, uint32_t i)
{
    (void)show;
    const struct env_condition *c = condition_at(items, i);
    return (struct show_place){ c->record, c->attempt, c->user_stack, c->stack,
                                c->user_stack ? (struct str){ 0 } : c->line.file };
}

static const void *item_condition(struct show *show, void *items, uint32_t i)
{
    (void)show;
    return condition_at(items, i);
}

static void cell_replaced(const void *context, const void *at, struct buf *out)
{
    const struct env_condition *c = at;
    (void)context;
    for (uint32_t i = 0; i < c->n_replaced; i++) {
        buf_puts(out, i ? ", " : "");
        format_text(out, c->replaced[i].symbol, 0);
        buf_puts(out, " = ");
        format_text(out, c->replaced[i].value, 0);
    }
}

static void json_replaced(const void *context, const void *at, struct json_writer *w,
                          const char *key)
{
    const struct env_condition *c = at;
    (void)context;
    json_open_array(w, key);
    for (uint32_t i = 0; i < c->n_replaced; i++) {
        json_open_object(w, NULL);
        json_put_str(w, "symbol", c->replaced[i].symbol);
        json_put_str(w, "value", c->replaced[i].value);
        json_put_str(w, "reason", c->replaced[i].reason);
        json_put_bool(w, "recorded", c->replaced[i].recorded);
        json_close(w);
    }
    json_close(w);
}

/* The line of a condition that the replay derived is that of the node that asked; others have a
 * user stack, whose line show_list() writes. */
static void json_node_line(const void *context, const void *at, struct json_writer *w,
                           const char *key)
{
    const struct env_condition *c = at;
    (void)context;
    if (c->user_stack || !c->line.file.n)
        return;
    json_open_object(w, key);
    json_put_str(w, "file", c->line.file);
    json_put_u64(w, "line", c->line.line);
    json_put_str(w, "function", c->line.function);
    json_put_str(w, "code", c->line.code);
    json_close(w);
}

static struct datum get_condition_line(const void *context, const void *at)
{
    const struct frame *line = &((const struct env_condition *)at)->line;
    return ((const struct env_condition *)at)->user_stack
               ? show_get_line(context, at)
               : datum_place(line->file, line->line, line->code);
}

static struct datum get_condition_code(const void *context, const void *at)
{
    const struct env_condition *c = at;
    return c->user_stack ? show_get_code(context, at) : datum_string(c->line.code);
}

GETTER(get_effect, enum env_effect, datum_name(env_effect_name(*row)))
GETTER(get_kind, struct env_condition,
       row->is_guard ? datum_name(guard_kind_name(row->kind)) : datum_null())

static const struct field CONDITION[] = {
    SHOW_COMPILE(1),
    { "level", GET(get_level, struct env_condition, stage) },
    { "stage", GET(get_stage, struct env_condition, stage), TEXT(2, "stage", WORD, 0) },
    { "frozen", MEMBER(struct env_condition, frozen) },
    { "effect", GET(get_effect, struct env_condition, effect), TEXT(3, "effect", WORD, 0) },
    { "kind", .get = get_kind },
    { "expr", MEMBER(struct env_condition, expr), TEXT(4, "condition", TEXT, 0) },
    { "replaced", .json = json_replaced, .cell = cell_replaced, TEXT(5, "replaced", TEXT, 1) },
    { "line", .json = json_node_line },
    { NULL, .get = get_condition_line, TEXT(6, "user line", PATH, 0) },
    { NULL, .get = get_condition_code, TEXT(7, "code", TEXT, 4) },
};
static const struct fields CONDITION_FIELDS = FIELDS_OF(CONDITION);

const struct show_view show_conditions = {
    .key = "conditions",
    .none = "no conditions",
    .fields = &CONDITION_FIELDS,
    .load = load_conditions,
    .place = place_condition,
    .item = item_condition,
};
