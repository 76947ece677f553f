#include "trace/tape/stacks.h"

#include <stdlib.h>

#include "trace/base/hash.h"

/* A position in a text; a take_* function that does not match leaves `p` unchanged. */
struct scan {
    const char *p, *end;
};

static bool take_literal_text(struct scan *in, struct str what)
{
    if ((size_t)(in->end - in->p) < what.n || memcmp(in->p, what.p, what.n) != 0)
        return false;
    in->p += what.n;
    return true;
}

static bool take_frame_number(struct scan *in, int64_t limit, int64_t *ret)
{
    const char *from = in->p;
    const char *p = from + (from < in->end && *from == '-');
    while (p < in->end && is_digit(*p))
        p++;
    struct str text = { from, (size_t)(p - from) };
    bool padded = text.n > 1 && (text.p[0] == '0' || (text.p[0] == '-' && text.p[1] <= '0'));
    if (padded || !str_to_i64(text, ret) || *ret < -1 || *ret > limit)
        return false;
    in->p = p;
    return true;
}

/* Reads the inside of a JSON string and its closing quote. */
static bool take_frame_string(struct scan *in, struct str *ret)
{
    const char *p = in->p;
    for (;;) {
        const char *quote = memchr(p, '"', (size_t)(in->end - p));
        if (!quote)
            return false;
        size_t slashes = 0;
        while (quote - slashes > in->p && quote[-1 - (ptrdiff_t)slashes] == '\\')
            slashes++;
        p = quote + 1;
        if (slashes % 2 == 0) {
            *ret = (struct str){ in->p, (size_t)(quote - in->p) };
            in->p = p;
            return true;
        }
    }
}

struct scanned_frame {
    int64_t line, file;
    struct str name, loc;
    uint32_t loc_kind; /* LOC_ABSENT, LOC_NULL, or 0 for text */
};

static bool take_frame(struct scan *in, struct scanned_frame *ret)
{
    struct scan s = *in;
    if (!take_literal_text(&s, STR("{\"line\": ")) ||
        !take_frame_number(&s, UINT32_MAX, &ret->line) || ret->line < 0 ||
        !take_literal_text(&s, STR(", \"name\": \"")) || !take_frame_string(&s, &ret->name) ||
        !take_literal_text(&s, STR(", \"filename\": ")) ||
        !take_frame_number(&s, INT32_MAX, &ret->file))
        return false;
    ret->loc_kind = LOC_ABSENT;
    if (take_literal_text(&s, STR(", \"loc\": "))) {
        ret->loc_kind = take_literal_text(&s, STR("null")) ? LOC_NULL : 0;
        if (ret->loc_kind == 0 &&
            !(take_literal_text(&s, STR("\"")) && take_frame_string(&s, &ret->loc)))
            return false;
    }
    if (!take_literal_text(&s, STR("}")))
        return false;
    *in = s;
    return true;
}

/* The longest frame that becomes a row of a tape; a longer one stays text. */
enum { FRAME_LIMIT = 64 << 10 };

static bool has_control(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] < 0x20)
            return true;
    return false;
}

bool stacks_add_frame(struct stack_table *table, struct stack_frame_row row)
{
    return vec_push(&table->frames, row);
}

/* Returns the id of the frame whose text is [from, in->p). */
static uint32_t find_or_add_frame(struct stack_table *table, struct str text,
                                  const struct scanned_frame *parts)
{
    uint32_t known = intern_find(&table->texts, text);
    if (known != INTERN_NONE)
        return known;
    struct stack_frame_row row = { .line = (uint32_t)parts->line, .file = (int32_t)parts->file };
    row.name = intern(table->strings, parts->name);
    row.loc = parts->loc_kind ? parts->loc_kind : intern(table->strings, parts->loc);
    if (row.name == INTERN_NONE || (!parts->loc_kind && row.loc == INTERN_NONE) ||
        !vec_reserve(&table->frames, 1))
        return INTERN_NONE;
    uint32_t id = intern(&table->texts, text);
    if (id != INTERN_NONE)
        table->frames.v[table->frames.n++] = row;
    return id;
}

bool stacks_add_node(struct stack_table *table, uint32_t parent, uint32_t frame)
{
    const struct stack_node *caller = &table->nodes.v[parent];
    struct stack_node node = { .frame = frame };
    if (frame >= STACK_ROOT) {
        node.space = (uint16_t)(frame - STACK_ROOT);
    } else {
        node.parent = parent;
        node.depth = caller->depth + 1;
        node.space = caller->space;
    }
    return vec_push(&table->nodes, node);
}

uint32_t stacks_child(struct stack_table *table, uint32_t parent, uint32_t frame)
{
    uint32_t hash = (uint32_t)hash_mix(parent, frame), id;
    for (size_t at = hash_index_start(&table->children, hash);
         hash_index_next(&table->children, hash, &at, &id);) {
        const struct stack_node *node = &table->nodes.v[id];
        if (node->parent == parent && node->frame == frame)
            return table->nodes.v[parent].recent = id;
    }
    id = (uint32_t)table->nodes.n;
    if (table->nodes.n >= UINT32_MAX - 1 || !hash_index_reserve(&table->children, 1) ||
        !stacks_add_node(table, parent, frame))
        return UINT32_MAX;
    hash_index_add(&table->children, hash, id);
    return table->nodes.v[parent].recent = id;
}

uint32_t stacks_root(struct stack_table *table, uint16_t space)
{
    return space ? stacks_child(table, 0, STACK_ROOT + space) : 0;
}

bool stacks_init(struct stack_table *table, struct intern *strings)
{
    *table = (struct stack_table){ .strings = strings };
    return vec_push(&table->nodes, (struct stack_node){ 0 });
}

void stacks_release(struct stack_table *table)
{
    vec_release(&table->frames);
    vec_release(&table->nodes);
    intern_release(&table->texts);
    hash_index_release(&table->children);
    *table = (struct stack_table){ 0 };
}

/* Moves one frame below `node` and tries the guess first. Returns false, with err unchanged,
 * when the text is no frame. */
static bool step_to_frame(struct stack_table *table, struct scan *in, uint32_t *node,
                          struct err *err)
{
    uint32_t guess = table->nodes.v[*node].recent;
    if (guess && table->nodes.v[guess].frame < STACK_ROOT &&
        take_literal_text(in, intern_text(&table->texts, table->nodes.v[guess].frame))) {
        *node = guess;
        return true;
    }
    const char *from = in->p;
    struct scanned_frame parts;
    if (!take_frame(in, &parts))
        return false;
    struct str text = { from, (size_t)(in->p - from) };
    if (text.n > FRAME_LIMIT || has_control(text))
        return false;
    uint32_t frame = find_or_add_frame(table, text, &parts);
    *node = frame == INTERN_NONE ? UINT32_MAX : stacks_child(table, *node, frame);
    return *node != UINT32_MAX || err_nomem(err);
}

bool stacks_read(struct stack_table *table, uint32_t root, struct str text, uint32_t *node,
                 size_t *used, struct err *err)
{
    struct scan in = { text.p, text.p + text.n };
    uint32_t at = root;
    *used = 0;
    if (!take_literal_text(&in, STR("[")))
        return false;
    do
        if (table->nodes.v[at].depth == STACK_DEPTH_LIMIT || !step_to_frame(table, &in, &at, err))
            return false;
    while (take_literal_text(&in, STR(", ")));
    if (!take_literal_text(&in, STR("]")))
        return false;
    *node = at;
    *used = (size_t)(in.p - text.p);
    return true;
}

static struct str frame_string(const struct stack_table *table, uint32_t id)
{
    return id < table->strings->texts.n ? intern_text(table->strings, id) : STR("");
}

static void print_stack_frame(const struct stack_table *table, uint32_t frame, struct buf *out)
{
    static const struct stack_frame_row unknown = { .name = LOC_NULL, .loc = LOC_ABSENT };
    const struct stack_frame_row *row =
        frame < table->frames.n ? &table->frames.v[frame] : &unknown;
    buf_puts(out, "{\"line\": ");
    buf_u64(out, row->line);
    buf_puts(out, ", \"name\": \"");
    buf_put(out, frame_string(table, row->name));
    buf_puts(out, "\", \"filename\": ");
    if (row->file < 0)
        buf_puts(out, "-1");
    else
        buf_u64(out, (uint64_t)row->file);
    if (row->loc == LOC_NULL) {
        buf_puts(out, ", \"loc\": null");
    } else if (row->loc != LOC_ABSENT) {
        buf_puts(out, ", \"loc\": \"");
        buf_put(out, frame_string(table, row->loc));
        buf_putc(out, '"');
    }
    buf_putc(out, '}');
}

bool stacks_print(const struct stack_table *table, uint32_t node, size_t most, struct buf *out)
{
    vec_of(uint32_t)
    path = { 0 };
    for (; node && node < table->nodes.n; node = table->nodes.v[node].parent)
        if (table->nodes.v[node].frame < STACK_ROOT && !vec_push(&path, node)) {
            out->failed = true;
            break;
        }
    buf_putc(out, '[');
    for (size_t i = path.n; i > 0 && out->n <= most; i--) {
        print_stack_frame(table, table->nodes.v[path.v[i - 1]].frame, out);
        buf_puts(out, i > 1 ? ", " : "");
    }
    buf_putc(out, ']');
    vec_release(&path);
    return out->n <= most;
}
