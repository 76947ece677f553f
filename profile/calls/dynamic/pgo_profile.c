#include "profile/calls/dynamic/pgo_profile.h"

#include <string.h>

static struct atom read_atom(struct str text)
{
    struct atom ret = { .kind = ATOM_DYNAMIC };
    if (str_to_i64(text, &ret.integer))
        ret.kind = ATOM_INT;
    else if (str_starts(text, STR("S(")) &&
             str_to_i64(str_from(str_first(text, text.n - 1), 2), &ret.integer))
        ret.kind = ATOM_INFER;
    return ret;
}

static uint32_t count_items(struct str list)
{
    uint32_t n = list.n > 0;
    for (size_t i = 0; i < list.n; i++)
        n += list.p[i] == ',';
    return n;
}

/* Reads "[?, 4]" that follows `key` in a text. */
static bool read_list(struct str text, struct str key, struct atom_list *ret)
{
    size_t at = str_find(text, key);
    if (at == text.n)
        return true;
    text = str_from(text, at + key.n);
    text = str_first(text, str_find_char(text, ']'));
    uint32_t n = count_items(text);
    if (n > MOST_RANK)
        return true;
    if (!atom_list_make(ret, n))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        size_t comma = str_find_char(text, ',');
        ret->v[i] = read_atom(str_trim(str_first(text, comma)));
        text = str_from(text, comma + 1);
    }
    return true;
}

static struct atom read_scalar(struct str text)
{
    struct atom ret = { .kind = ATOM_DYNAMIC };
    char copy[64];
    if (str_to_i64(text, &ret.integer)) {
        ret.kind = ATOM_INT;
    } else if (text.n < sizeof copy) {
        char *end;
        memcpy(copy, text.p, text.n);
        copy[text.n] = 0;
        ret.real = strtod(copy, &end);
        ret.kind = end > copy && !*end ? ATOM_FLOAT : ATOM_DYNAMIC;
    }
    return ret;
}

bool pgo_line_read(struct str line, struct world *world, struct frame_state *state)
{
    static const struct str TENSOR = { ": tensor size=", 14 }, SCALAR = { ": scalar ", 9 },
                            ANY = { ": fully dynamic", 15 };
    size_t tensor = str_find(line, TENSOR), scalar = str_find(line, SCALAR);
    size_t any = str_find(line, ANY);
    size_t at = tensor < line.n ? tensor : scalar < line.n ? scalar : any;
    if (at == line.n)
        return true;
    struct buf spelled = BUF_INIT;
    source_spelling(str_trim(str_first(line, at)), &spelled);
    uint32_t source = spelled.failed ? INTERN_NONE : world_source(world, buf_str(&spelled));
    buf_release(&spelled);
    struct source_state *entry = source == INTERN_NONE ? NULL : frame_state_add(state, source);
    if (!entry)
        return false;
    entry->scalar = (struct atom){ .kind = ATOM_DYNAMIC };
    if (tensor < line.n)
        return read_list(line, STR("size=["), &entry->size) &&
               read_list(line, STR("stride=["), &entry->stride);
    entry->size.kind = entry->stride.kind = ATOM_DYNAMIC;
    if (scalar < line.n)
        entry->scalar = read_scalar(str_trim(str_from(line, scalar + SCALAR.n)));
    return true;
}

/* "hash(52de9d0f)/home/user/train.py:6:rows:": "/home/user/train.py:6:rows". */
static struct str code_name(struct str line)
{
    if (str_starts(line, STR("hash(")))
        line = str_from(line, str_find_char(line, ')') + 1);
    return line.n && line.p[line.n - 1] == ':' ? str_first(line, line.n - 1) : line;
}

static bool read_lines(struct calls_table *table, const struct intern *names, struct str text,
                       struct err *err)
{
    struct code_calls *code = NULL;
    while (text.n) {
        size_t end = str_find_char(text, '\n');
        struct str line = str_first(text, end);
        text = str_from(text, end + 1);
        if (!str_starts(line, STR("  "))) {
            uint32_t id = line.n ? intern_find(names, code_name(line)) : INTERN_NONE;
            code = id == INTERN_NONE ? NULL : &table->codes.v[id];
        } else if (code && !pgo_line_read(line, &table->world, &code->initial)) {
            return err_nomem(err);
        }
    }
    return true;
}

static bool read_profile(struct calls_table *table, struct str text, struct err *err)
{
    struct intern names = INTERN_INIT; /* those of table->codes, which are distinct */
    bool ok = true;
    for (size_t i = 0; ok && i < table->codes.n; i++) {
        struct str name = table->run->codes.v[table->codes.v[i].code].name;
        ok = intern(&names, name) == i || err_nomem(err);
    }
    ok = ok && read_lines(table, &names, text, err);
    intern_release(&names);
    return ok;
}

/* Returns whether a record is an artifact with the profile that the process read. */
static bool is_read_profile(struct trace *trace, uint32_t record, struct json *doc)
{
    struct err ignored = { 0 };
    if (!record_json(trace, record, doc, &ignored))
        return false;
    struct str name = json_str(doc, json_get(doc, JSON_ROOT, STR("name")));
    return str_is(name, "get_local_code_state") || str_is(name, "get_remote_code_state");
}

bool pgo_profile_read(struct calls_table *table, uint32_t recording, bool *found, struct err *err)
{
    struct trace *trace = table->trace;
    struct json doc = { 0 };
    bool ok = true;
    *found = false;
    for (uint32_t i = 0; ok && !*found && i < trace->n_records; i++) {
        struct str text;
        if (trace->records[i].recording != recording || trace->records[i].event != EVENT_ARTIFACT ||
            !is_read_profile(trace, i, &doc))
            continue;
        *found = true;
        ok =
            trace_payload(trace, i, &text, err) ? read_profile(table, text, err) : !err_is_set(err);
    }
    json_release(&doc);
    return ok;
}
