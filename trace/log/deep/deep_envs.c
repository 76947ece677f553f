/* Writes calls into ShapeEnv as the rows that tests/conform_env reads: one record for each
 * environment. */
#include <stdio.h>
#include <stdlib.h>

#include "trace/log/deep/deep_packing.h"

struct env {
    uint32_t number, context;
    struct str settings, final;
};

struct logged_call {
    uint32_t env;
    struct deep_event event;
};

struct envs {
    vec_of(struct env)
    envs;
    vec_of(struct logged_call)
    calls;
};

static int by_env(const void *a, const void *b)
{
    const struct logged_call *x = a, *y = b;
    if (x->env != y->env)
        return x->env < y->env ? -1 : 1;
    return x->event.at < y->event.at ? -1 : x->event.at > y->event.at;
}

static void collect_envs(struct deep_packer *pack, struct envs *envs)
{
    struct deep_event e;
    for (deep_file_rewind(pack->file); deep_file_next(pack->file, &e) && !pack->failed;) {
        uint32_t number = (uint32_t)e.numbers[0];
        if (e.type == DEEP_ENV && number == envs->envs.n) {
            struct env env = { number, (uint32_t)e.numbers[1], e.texts[2], STR("") };
            pack->failed |= !vec_push(&envs->envs, env);
        } else if (e.type == DEEP_FINAL && number < envs->envs.n) {
            envs->envs.v[number].final = e.texts[1]; /* the last one that was recorded counts */
        } else if (e.type == DEEP_CALL && number < envs->envs.n) {
            pack->failed |= !vec_push(&envs->calls, (struct logged_call){ number, e });
        }
    }
    if (envs->calls.n)
        qsort(envs->calls.v, envs->calls.n, sizeof *envs->calls.v, by_env);
}

/* Prints the members of a JSON object after those that a row begins with. */
static void put_members(struct deep_packer *pack, struct str object)
{
    object = str_trim(object);
    if (object.n > 2 && object.p[0] == '{' && object.p[object.n - 1] == '}') {
        buf_puts(&pack->rows, ", ");
        buf_put(&pack->rows, (struct str){ object.p + 1, object.n - 2 });
    }
}

static void put_state(struct deep_packer *pack, uint32_t env, const char *call, struct str members)
{
    buf_printf(&pack->rows, "{\"env\": %u, \"call\": \"%s\"", env, call);
    put_members(pack, members);
    buf_puts(&pack->rows, "}\n");
}

static void put_argument(struct deep_packer *pack, struct json_writer *row, const char *key,
                         uint32_t tag, uint64_t value)
{
    double real;
    switch ((enum deep_tag)tag) {
    case DEEP_TAG_TRUE: json_put_bool(row, key, true); break;
    case DEEP_TAG_FALSE: json_put_bool(row, key, false); break;
    case DEEP_TAG_INT: json_put_i64(row, key, (int64_t)value); break;
    case DEEP_TAG_FLOAT: {
        memcpy(&real, &value, sizeof real);
        /* An integral double is printed with its point: 2.0 is a float. */
        char text[40];
        if (real > -1e15 && real < 1e15 && real == (double)(int64_t)real) {
            int n = snprintf(text, sizeof text, "%lld.0", (long long)real);
            json_put_raw(row, key, (struct str){ text, (size_t)n });
        } else {
            json_put_double(row, key, real);
        }
        break;
    }
    case DEEP_TAG_VALUE: json_put_raw(row, key, deep_value(pack->file, value)->json); break;
    default: json_put_null(row, key);
    }
}

/* Prints the floats of all arguments as one object: {"0.5": "0.5", ...}. */
static void put_call_floats(struct deep_packer *pack, struct json_writer *row, struct str arguments)
{
    struct bytes in = bytes_of(arguments);
    struct buf *all = &pack->file->scratch;
    buf_clear(all);
    buf_putc(all, '{');
    while (bytes_left(&in) >= 16) {
        (void)bytes_le32(&in);
        uint32_t tag = bytes_le32(&in);
        uint64_t value = bytes_le64(&in);
        struct str floats = tag == DEEP_TAG_VALUE ? deep_value(pack->file, value)->floats : STR("");
        if (floats.n > 2) {
            buf_puts(all, all->n > 1 ? ", " : "");
            buf_put(all, (struct str){ floats.p + 1, floats.n - 2 });
        }
    }
    buf_putc(all, '}');
    if (all->n > 2)
        json_put_raw(row, "floats", buf_str(all));
}

/* Prints a call. The event's fields are env, context, method, suppressed, exception, ns,
 * arguments. */
static void put_env_call(struct deep_packer *pack, const struct deep_event *e)
{
    const uint64_t *f = e->numbers;
    struct bytes in = bytes_of(e->texts[6]);
    char name[80];
    struct json_writer row = packing_row(pack);
    json_put_u64(&row, "env", f[0]);
    json_put_u64(&row, "depth", 0);
    json_put_str(&row, "call", deep_string(pack->file, f[2]));
    while (bytes_left(&in) >= 16) {
        struct str key = deep_string(pack->file, bytes_le32(&in));
        uint32_t tag = bytes_le32(&in);
        uint64_t value = bytes_le64(&in);
        snprintf(name, sizeof name, "%.*s", STR_ARG(key));
        put_argument(pack, &row, name, tag, value);
    }
    if (f[3])
        json_put_bool(&row, "suppressed", true);
    if (f[4])
        json_put_raw(&row, "raised", deep_value(pack->file, f[4])->json);
    put_call_floats(pack, &row, e->texts[6]);
    json_put_u64(&row, "ns", f[5]);
    packing_row_end(pack, &row);
}

static void pack_env(struct deep_packer *pack, const struct env *env,
                     const struct logged_call *calls, size_t n)
{
    packing_begin(pack);
    put_state(pack, env->number, "settings", env->settings);
    for (size_t i = 0; i < n; i++)
        put_env_call(pack, &calls[i].event);
    if (env->final.n)
        put_state(pack, env->number, "final", env->final);
    buf_printf(&pack->meta, "{\"env\": %u, \"calls\": %zu, \"rows\": %zu}", env->number, n,
               n + 1 + (env->final.n > 0));
    packing_end(pack, "symtape_shape_env", env->context,
                deep_context(pack->file, env->context)->ns);
}

void pack_envs(struct deep_packer *pack)
{
    struct envs envs = { 0 };
    collect_envs(pack, &envs);
    for (size_t i = 0, at = 0; i < envs.envs.n && !pack->failed; i++) {
        size_t first = at;
        while (at < envs.calls.n && envs.calls.v[at].env == i)
            at++;
        pack_env(pack, &envs.envs.v[i], vec_from(&envs.calls, first), at - first);
    }
    vec_release(&envs.envs);
    vec_release(&envs.calls);
}
