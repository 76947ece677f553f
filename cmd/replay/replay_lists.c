#include "cmd/cli/nearest.h"
#include "cmd/replay/replay.h"

struct str replay_next_item(struct str *rest)
{
    int depth = 0;
    size_t n = 0;
    for (; n < rest->n && (rest->p[n] != ',' || depth > 0); n++)
        depth +=
            (rest->p[n] == '[' || rest->p[n] == '(') - (rest->p[n] == ']' || rest->p[n] == ')');
    struct str item = str_trim(str_first(*rest, n));
    *rest = str_from(*rest, n + 1);
    return item;
}

static bool too_many(size_t n, const char *option, struct err *err)
{
    return n < REPLAY_MAX_LIST ||
           err_set(err, ERR_USAGE, "%s takes at most %d items", option, REPLAY_MAX_LIST);
}

static bool read_policies(struct replay_lists *lists, const char *text, struct err *err)
{
    struct str rest = str_of(text ? text : "");
    while (rest.n) {
        struct str item = replay_next_item(&rest);
        if (!too_many(lists->n_policies, "--dynamic", err))
            return false;
        if (!policy_by_name(item, &lists->policies[lists->n_policies++])) {
            static const char *const names[] = { "recorded", "static", "batch",
                                                 "partial",  "auto",   "all" };
            char hint[NEAREST_TEXT];
            struct nearest search = nearest_of(item);
            for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                nearest_offer(&search, str_of(names[i]));
            return err_set(err, ERR_USAGE,
                           "--dynamic: no policy %.*s; there are recorded, static, batch, partial, "
                           "auto and all%s",
                           STR_ARG(item), nearest_text(&search, hint));
        }
    }
    return true;
}

static bool read_sets(struct input_set *sets, size_t *n, const char *option, const char *text,
                      struct err *err)
{
    struct str rest = str_of(text ? text : "");
    while (rest.n) {
        struct str item = replay_next_item(&rest);
        if (!too_many(*n, option, err) || !input_set_parse(&sets[(*n)++], item, err))
            return false;
    }
    return true;
}

static bool read_mark_list(struct replay_lists *lists, const char *text, struct err *err)
{
    struct str rest = str_of(text ? text : "");
    size_t starts[REPLAY_MAX_LIST];
    while (rest.n) {
        struct str item = replay_next_item(&rest);
        if (!too_many(lists->n_marks, "--dynamic-shapes", err))
            return false;
        starts[lists->n_marks++] = lists->mark_text.n;
        buf_put(&lists->mark_text, item);
        buf_putc(&lists->mark_text, '\0');
    }
    if (lists->mark_text.failed)
        return err_nomem(err);
    for (size_t i = 0; i < lists->n_marks; i++)
        if (!input_mark_parse(&lists->marks[i], lists->mark_text.p + starts[i], err))
            return false;
    return true;
}

bool replay_lists_read(struct replay_lists *lists, const struct replay_args *args, struct err *err)
{
    if (args->audit && !str_is(str_of(args->audit), "fastpath"))
        return err_set(err, ERR_USAGE, "--audit: nothing to audit but fastpath");
    return read_policies(lists, args->dynamic, err) &&
           read_mark_list(lists, args->dynamic_shapes, err) &&
           read_sets(lists->sets, &lists->n_sets, "--sizes", args->run.sizes.text, err) &&
           read_sets(lists->hints, &lists->n_hints, "--what-if", args->what_if, err) &&
           replay_ablations_read(lists, args->ablate, err);
}

void replay_lists_release(struct replay_lists *lists)
{
    buf_release(&lists->mark_text);
}
