#include <strings.h>

#include "trace/base/text/json_write.h"
#include "trace/log/redact/redact_parts.h"

/* What a member's value is, according to its key. */
enum field { FIELD_PLAIN, FIELD_ENVIRONMENT, FIELD_HOST, FIELD_USER, FIELD_CODE, FIELD_SECRET };

static enum field field_of(struct str key)
{
    static const struct {
        struct str key;
        enum field field;
    } fields[] = {
#define FIELD(field, key) { { key, sizeof key - 1 }, field },
        FIELD(FIELD_CODE, "loc") FIELD(FIELD_ENVIRONMENT, "env") FIELD(FIELD_ENVIRONMENT, "environ")
            FIELD(FIELD_ENVIRONMENT, "os.environ") FIELD(FIELD_ENVIRONMENT, "os_environ")
                FIELD(FIELD_ENVIRONMENT, "env_vars") FIELD(FIELD_ENVIRONMENT, "environment")
                    FIELD(FIELD_ENVIRONMENT, "environment_variables") FIELD(FIELD_HOST, "host")
                        FIELD(FIELD_HOST, "hostname") FIELD(FIELD_HOST, "host_name")
                            FIELD(FIELD_HOST, "nodename") FIELD(FIELD_HOST, "node_name")
                                FIELD(FIELD_HOST, "fqdn") FIELD(FIELD_USER, "user")
                                    FIELD(FIELD_USER, "username") FIELD(FIELD_USER, "user_name")
                                        FIELD(FIELD_USER, "unixname") FIELD(FIELD_USER, "login")
#undef FIELD
    };
    char first = (char)(char_at(key, 0) | 0x20);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (key.n == fields[i].key.n && first == fields[i].key.p[0] &&
            strncasecmp(key.p, fields[i].key.p, key.n) == 0)
            return fields[i].field;
    return redact_is_secret_name(key) ? FIELD_SECRET : FIELD_PLAIN;
}

struct redact_container {
    json_id after; /* the first node after it */
    bool object;
    bool key_next;
    bool environment; /* its strings are values of environment variables */
    enum field field; /* of the last key; FIELD_PLAIN in arrays */
    uint32_t index;   /* index of the current value, in an array */
    bool frame; /* so far it looks like ["FILE", LINE, "FUNCTION", "CODE"] of a deep recording */
    struct str key;
};

struct json_walk {
    struct redact *redact;
    struct redact_level *level;
    size_t depth;
    struct text_edit edit;
};

/* Rewrites NAME=VALUE in an array; in an object, the key is the name. */
static bool rewrite_variable(struct redact *redact, const struct redact_container *in,
                             struct str value, struct buf *out)
{
    struct str name = in->key;
    if (!in->object) {
        name = str_first(value, str_find_char(value, '='));
        if (name.n == value.n)
            return redact_scan(redact, value, out);
        value = str_from(value, name.n + 1);
        buf_put(out, name);
        buf_putc(out, '=');
    }
    redact_learn_variable(redact, name, value);
    buf_puts(out, REDACT_VALUE);
    return true;
}

static bool rewrite_name(struct redact *redact, enum field field, struct str value, struct buf *out)
{
    if (value.n == 0 || redact_is_common(redact, value) || redact_is_replacement(value))
        return false;
    if (memchr(value.p, '/', value.n))
        return redact_scan(redact, value, out);
    buf_put(out, field == FIELD_USER ? redact_user(redact, value) : redact_host(redact, value));
    return true;
}

/* Copies a source line of a stack without its comment. */
static bool rewrite_code(struct redact *redact, struct str line, struct buf *out)
{
    struct str code = redact_code(line);
    bool changed = redact_scan(redact, code, out);
    if (!changed && code.n < line.n)
        buf_put(out, code);
    return changed || code.n < line.n;
}

static bool rewrite_secret(struct redact *redact, struct str name, struct str value,
                           struct buf *out)
{
    if (value.n == 0 || str_is(value, REDACT_VALUE))
        return false;
    redact_value(redact, name, value);
    buf_puts(out, REDACT_VALUE);
    return true;
}

static bool rewrite_text(struct json_walk *walk, struct str value, struct buf *out)
{
    bool changed = false;
    if (walk->depth + 1 < REDACT_MAX_NESTED &&
        redact_json(walk->redact, walk->depth + 1, value, out, &changed))
        return changed;
    return redact_scan(walk->redact, value, out);
}

static bool rewrite_string(struct json_walk *walk, const struct redact_container *in, bool is_key,
                           struct str value, struct buf *out)
{
    enum field field = in ? in->field : FIELD_PLAIN;
    if (is_key)
        return !in->environment && redact_scan(walk->redact, value, out);
    if (in && (in->environment || field == FIELD_ENVIRONMENT))
        return rewrite_variable(walk->redact, in, value, out);
    if (field == FIELD_HOST || field == FIELD_USER)
        return rewrite_name(walk->redact, field, value, out);
    if (field == FIELD_CODE)
        return rewrite_code(walk->redact, value, out);
    if (field == FIELD_SECRET)
        return rewrite_secret(walk->redact, in->key, value, out);
    return rewrite_text(walk, value, out);
}

static void visit_string(struct json_walk *walk, const struct redact_container *in, bool is_key,
                         json_id id)
{
    struct redact_level *level = walk->level;
    const struct json_node *node = &level->doc.nodes.v[id];
    struct str value = json_text(&level->doc, id);
    if (node->escaped) {
        buf_clear(&level->decoded);
        json_decode(&level->doc, id, &level->decoded);
        value = buf_str(&level->decoded);
    }
    buf_clear(&level->rewritten);
    if (rewrite_string(walk, in, is_key, value, &level->rewritten)) {
        size_t inside = node->off;
        json_quote(edit_replace(&walk->edit, inside - 1, inside + node->len + 1),
                   buf_str(&level->rewritten));
    }
    walk->redact->failed |= level->decoded.failed || level->rewritten.failed;
}

static bool enter_container(struct json_walk *walk, const struct redact_container *in,
                            bool is_array, json_id id)
{
    struct redact_container inner = {
        .after = walk->level->doc.nodes.v[id].after,
        .object = !is_array,
        .key_next = !is_array,
        .frame = is_array,
        .environment = in && (in->environment || in->field == FIELD_ENVIRONMENT),
    };
    return vec_push(&walk->level->open, inner);
}

static bool visit_value(struct json_walk *walk, json_id id)
{
    struct redact_level *level = walk->level;
    while (level->open.n > 0 && id >= level->open.v[level->open.n - 1].after)
        level->open.n--;
    struct redact_container *in = level->open.n > 0 ? &level->open.v[level->open.n - 1] : NULL;
    bool is_key = in && in->key_next;
    if (in)
        in->key_next = in->object && !is_key;
    if (is_key) {
        in->key = json_text(&level->doc, id);
        in->field = field_of(in->key);
    }
    enum json_kind kind = json_kind_of(&level->doc, id);
    if (in && !in->object) {
        in->frame &= kind == (in->index == 1 ? JSON_NUMBER : JSON_STRING);
        in->field = in->frame && in->index == 3 ? FIELD_CODE : FIELD_PLAIN;
        in->index++;
    }
    if (kind == JSON_STRING)
        visit_string(walk, in, is_key, id);
    return (kind != JSON_ARRAY && kind != JSON_OBJECT) ||
           enter_container(walk, in, kind == JSON_ARRAY, id);
}

static bool looks_like_json(struct str in)
{
    size_t i = 0;
    while (i < in.n && (in.p[i] == ' ' || in.p[i] == '\n' || in.p[i] == '\t' || in.p[i] == '\r'))
        i++;
    return i < in.n && (in.p[i] == '{' || in.p[i] == '[' || in.p[i] == '"');
}

bool redact_json(struct redact *redact, size_t depth, struct str in, struct buf *out, bool *changed)
{
    struct json_walk walk = {
        .redact = redact,
        .level = &redact->levels[depth],
        .depth = depth,
        .edit = edit_of(in, out),
    };
    struct err why = { 0 };
    if (!looks_like_json(in))
        return false;
    if (!json_parse(&walk.level->doc, in, &why)) {
        redact->failed |= why.kind == ERR_ENV;
        return false;
    }
    walk.level->open.n = 0;
    for (size_t id = 0; id < walk.level->doc.nodes.n; id++)
        if (!visit_value(&walk, (json_id)id)) {
            redact->failed = true;
            break;
        }
    if (walk.edit.changed)
        edit_finish(&walk.edit);
    *changed = walk.edit.changed;
    return true;
}
