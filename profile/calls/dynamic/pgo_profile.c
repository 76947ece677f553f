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
    atom_list_make_dynamic(&entry->size);
    atom_list_make_dynamic(&entry->stride);
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

/* A profile names code objects by file, line and function, which several code objects can share. */
struct profile_reader {
    struct calls_table *table;
    struct intern names; /* those of table->codes */
    vec_of(struct frame_state)
    states; /* by name */
    vec_of(uint32_t)
    name_of; /* by code of the table */
};

static bool add_names(struct profile_reader *in)
{
    for (size_t i = 0; i < in->table->codes.n; i++) {
        struct str name = in->table->run->codes.v[in->table->codes.v[i].code].name;
        uint32_t id = intern(&in->names, name);
        if (id == INTERN_NONE || !vec_push(&in->name_of, id) ||
            (id == in->states.n && !vec_push(&in->states, (struct frame_state){ 0 })))
            return false;
    }
    return true;
}

static bool read_lines(struct profile_reader *in, struct str text)
{
    struct frame_state *state = NULL;
    while (text.n) {
        size_t end = str_find_char(text, '\n');
        struct str line = str_first(text, end);
        text = str_from(text, end + 1);
        if (!str_starts(line, STR("  "))) {
            uint32_t id = line.n ? intern_find(&in->names, code_name(line)) : INTERN_NONE;
            state = id == INTERN_NONE ? NULL : &in->states.v[id];
        } else if (state && !pgo_line_read(line, &in->table->world, state)) {
            return false;
        }
    }
    return true;
}

/* Copies what the profile has of the sources that a code object uses: its inputs, and the numbers
 * that its guards name. Copies of all its lines would take the square of the tape's size if many
 * code objects share a name. */
static bool copy_used(struct code_calls *code, const struct frame_state *from)
{
    for (size_t i = 0; i < code->inputs.n; i++)
        if (!frame_state_copy_source(&code->initial, from, code->inputs.v[i].source))
            return false;
    for (size_t i = 0; i < code->entries.n; i++) {
        const struct condition_pool *conditions = &code->entries.v[i].guards.conditions;
        for (size_t k = 0; k < conditions->nodes.n; k++)
            if (conditions->nodes.v[k].op == COND_SOURCE &&
                !frame_state_copy_source(&code->initial, from, conditions->nodes.v[k].source))
                return false;
    }
    return true;
}

static bool read_profile(struct calls_table *table, struct str text, struct err *err)
{
    struct profile_reader in = { .table = table };
    bool ok = add_names(&in) && read_lines(&in, text);
    for (size_t i = 0; ok && i < table->codes.n; i++)
        ok = copy_used(&table->codes.v[i], &in.states.v[in.name_of.v[i]]);
    for (size_t i = 0; i < in.states.n; i++)
        frame_state_release(&in.states.v[i]);
    vec_release(&in.states);
    vec_release(&in.name_of);
    intern_release(&in.names);
    return ok || err_nomem(err);
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
