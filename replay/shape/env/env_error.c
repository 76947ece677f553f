/* The texts of the errors that PyTorch raises when a condition depends on data. */
#include "replay/shape/env/env_inside.h"

void env_set_locator(struct shape_env *env, env_locator *locate, void *user)
{
    env->locate = locate;
    env->locate_user = user;
}

/* SLoc.__str__: prints a location as "user (framework)". */
void env_print_place(const struct shape_env *env, const struct source_location *place,
                     struct buf *out)
{
    if (!env->locate) {
        buf_printf(out, "(%s)", place->reason ? place->reason : "unknown");
        return;
    }
    size_t before = out->n;
    env->locate(env->locate_user, place->origin, ENV_LOCATE_USER, out);
    buf_puts(out, out->n > before ? " (" : "(");
    if (place->reason)
        buf_puts(out, place->reason);
    else
        env->locate(env->locate_user, place->origin, ENV_LOCATE_FRAMEWORK, out);
    buf_putc(out, ')');
}

static void print_symbols(struct shape_env *env, sym_id e, bool size_like, const char *between,
                          struct buf *out)
{
    const struct expr_info *k = env_known(env, e);
    bool any = false;
    for (uint32_t i = 0; k && i < k->n_symbols; i++) {
        const struct env_symbol *s = env_symbol_of(env, k, i);
        if (size_like && !s->size_like)
            continue;
        buf_puts(out, any ? between : "");
        buf_put(out, sym_name(env->pool, s->id));
        any = true;
    }
    if (!any && size_like)
        buf_puts(out, "none");
}

/* _make_data_dependent_error: raises GuardOnDataDependentSymNode. */
bool env_data_dependent(struct shape_env *env, sym_id e, sym_id unhinted)
{
    if (e == SYM_NONE || unhinted == SYM_NONE || env->raising)
        return env_ok(env), false;
    struct sym_pool *pool = env->pool;
    bool integer = facts_at(pool, e) & FACT_INTEGER;
    struct buf text = BUF_INIT;
    buf_puts(&text, integer
                        ? "Could not extract specialized integer from data-dependent expression "
                        : "Could not guard on data-dependent expression ");
    sym_print(pool, e, &text);
    buf_puts(&text, " (unhinted: ");
    sym_print(pool, unhinted, &text);
    buf_puts(&text, ").  (Size-like symbols: ");
    print_symbols(env, e, true, ", ", &text);
    buf_puts(&text, ")\n\n");
    if (!integer)
        buf_puts(&text, "consider using data-dependent friendly APIs such as guard_or_false, "
                        "guard_or_true and statically_known_true.");
    buf_puts(&text, "\nCaused by: ");
    struct source_location here = env_place(env);
    env_print_place(env, &here, &text);
    buf_puts(&text, "\nFor more information, run with TORCH_LOGS=\"dynamic\"\n"
                    "For extended logs when we create symbols, also add "
                    "TORCHDYNAMO_EXTENDED_DEBUG_CREATE_SYMBOL=\"");
    print_symbols(env, e, false, ",", &text);
    buf_puts(&text,
             "\"\nIf you suspect the guard was triggered from C++, add "
             "TORCHDYNAMO_EXTENDED_DEBUG_CPP=1\nFor more debugging help, see "
             "https://docs.google.com/document/d/1HSuTTVvYH1pTew89Rtpeu84Ht3nQEFTYhAX3Ypa_xJs/"
             "edit?usp=sharing\n");
    size_t before = text.n;
    if (env->locate)
        env->locate(env->locate_user, env->origin, ENV_LOCATE_STACK, &text);
    if (text.n > before) {
        static const char head[] = "\nUser Stack (most recent call last):\n"
                                   "  (snipped, see stack below for prefix)\n";
        if (buf_reserve(&text, sizeof head - 1)) {
            memmove(text.p + before + sizeof head - 1, text.p + before, text.n - before);
            memcpy(text.p + before, head, sizeof head - 1);
            text.n += sizeof head - 1;
        }
    }
    buf_puts(&text, "\nFor C++ stack trace, run with TORCHDYNAMO_EXTENDED_DEBUG_CPP=1");
    bool ok = !text.failed && env_ok(env);
    if (ok)
        env_raise(env, ENV_RAISED_DATA_DEPENDENT, "GuardOnDataDependentSymNode", "%.*s",
                  STR_ARG(buf_str(&text)));
    env->raised_condition = e;
    buf_release(&text);
    return ok ? false : env_no_memory(env);
}

/* --- _suggest_torch_checks --- */

struct suggestion {
    env_user_names *names;
    void *user;
};

/* Returns the first name of "n or m". */
static struct str first_user_name(void *user, sym_id symbol)
{
    const struct suggestion *s = user;
    struct str names = s->names(s->user, symbol);
    return str_first(names, str_find(names, STR(" or ")));
}

bool env_suggest_checks(struct shape_env *env, env_user_names *names, void *user, struct buf *out)
{
    struct sym_pool *pool = env->pool;
    sym_id condition = env->raised_condition;
    const struct expr_info *k = condition == SYM_NONE ? NULL : env_known(env, condition);
    if (!k)
        return false;
    uint32_t n = k->n_symbols;
    for (uint32_t i = 0; i < n; i++)
        if (!names(user, env_symbol_of(env, k, i)->id).n)
            return false;
    struct suggestion suggestion = { names, user };
    buf_puts(out, "\nTo fix the error, insert one of the following checks before this call:\n  1. "
                  "torch._check(");
    sym_print_python(pool, condition, first_user_name, &suggestion, out);
    buf_puts(out, ")\n  2. torch._check(");
    sym_print_python(pool, sym_not(pool, condition), first_user_name, &suggestion, out);
    buf_puts(out, ")\n\n(These suggested fixes were derived by replacing ");
    for (uint32_t i = 0; i < n; i++) {
        sym_id symbol = env_symbol_of(env, env_known(env, condition), i)->id;
        struct str name = sym_name(pool, symbol), theirs = names(user, symbol);
        buf_printf(out, "%s`%.*s` with %.*s", i ? ", " : "", STR_ARG(name), STR_ARG(theirs));
    }
    buf_puts(out, " in ");
    sym_print(pool, condition, out);
    buf_puts(out, " and its negation.)");
    return env_ok(env) && !out->failed;
}
