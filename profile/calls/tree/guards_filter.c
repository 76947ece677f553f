#include "profile/calls/tree/guards_filter.h"

#include "profile/calls/tree/guard_owner.h"
#include "trace/base/text/python_string.h"

/* ---- What has to stay ---- */

static enum owner_status status_of(const struct guard_trees *trees, const struct merged_leaf *leaf,
                                   bool arguments)
{
    struct str owner = intern_text(&trees->owners, leaf->owner);
    size_t ends[MOST_OWNER_PARTS];
    bool same_objects = leaf->node == 1 && owner_is_argument(owner);
    if (same_objects || (str_is(leaf->kind, "TENSOR_MATCH") && !owner_is_parameter(owner)))
        return OWNER_TENSOR;
    bool too_deep = owner_parts(owner, ends) > MOST_OWNER_PARTS;
    return too_deep || (owner_is_argument(owner) && !arguments) ? OWNER_ARGUMENT : OWNER_REMOVABLE;
}

static void set_statuses(struct guard_trees *trees, const struct guard_function *function,
                         bool arguments)
{
    for (size_t i = 0; i < function->tree.leaves.n; i++) {
        const struct merged_leaf *leaf = &function->tree.leaves.v[i];
        if (leaf->owner == INTERN_NONE)
            continue;
        enum owner_status *status = &trees->owner_rows.v[leaf->owner].status;
        if (*status == OWNER_TELLS || *status == OWNER_NOT_SEEN)
            continue;
        enum owner_status now = status_of(trees, leaf, arguments);
        if (!function->n_lookups)
            *status = OWNER_NOT_SEEN;
        else if (*status != OWNER_TENSOR && now != OWNER_REMOVABLE)
            *status = now;
    }
}

/* ---- Names that stand for several owners ---- */

/* Adds all names that stand for an owner that has to stay. */
static bool block(struct intern *blocked, struct str owner)
{
    size_t ends[MOST_OWNER_PARTS];
    size_t n = owner_parts(owner, ends);
    for (size_t i = 0; i < n && i < MOST_OWNER_PARTS; i++)
        if (intern(blocked, str_first(owner, ends[i])) == INTERN_NONE)
            return false;
    return true;
}

/* Returns the shortest name that stands for an owner and for nothing that has to stay. "L" is not
 * used: it would stand for all arguments. */
static struct str choose_name(const struct intern *blocked, struct str owner)
{
    size_t ends[MOST_OWNER_PARTS];
    size_t n = owner_parts(owner, ends);
    for (size_t i = 0; i < n; i++) {
        struct str name = str_first(owner, ends[i]);
        if (!str_is(name, "L") && intern_find(blocked, name) == INTERN_NONE)
            return name;
    }
    return STR("");
}

static bool choose_names(struct guard_trees *trees, const struct intern *blocked)
{
    struct intern *names = &trees->removed_names;
    for (uint32_t i = 0; i < trees->owner_rows.n; i++) {
        struct guard_owner_row *row = &trees->owner_rows.v[i];
        if (row->status != OWNER_REMOVABLE || !row->n_leaves)
            continue;
        struct str name = choose_name(blocked, intern_text(&trees->owners, i));
        row->removed = name.n > 0;
        if (!row->removed)
            continue;
        size_t known = names->texts.n;
        uint32_t id = intern(names, name);
        if (id == INTERN_NONE || (id == known && !vec_push(&trees->removed, name)))
            return false;
    }
    return true;
}

bool guards_filter_removes(const struct guard_trees *trees, struct str owner)
{
    size_t ends[MOST_OWNER_PARTS];
    size_t n = owner.n ? owner_parts(owner, ends) : 0;
    for (size_t i = 0; i < n && i < MOST_OWNER_PARTS; i++)
        if (intern_find(&trees->removed_names, str_first(owner, ends[i])) != INTERN_NONE)
            return true;
    return false;
}

static void count_removed(struct guard_trees *trees)
{
    for (size_t i = 0; i < trees->owner_rows.n; i++)
        if (trees->owner_rows.v[i].removed)
            trees->n_removed += trees->owner_rows.v[i].n_leaves;
}

bool guards_filter_is_known(const struct guard_trees *trees)
{
    return trees->has_calls && trees->n_checks && !trees->n_unknown;
}

bool guards_filter_is_proved(const struct guard_trees *trees)
{
    return guards_filter_is_known(trees) && !trees->n_contradictions && !trees->unlisted.texts.n &&
           !trees->guessed.n && !trees->n_misanswered && !trees->n_unexplained;
}

void guards_filter_put_unknown(const struct guard_trees *trees, struct buf *out)
{
    if (!trees->has_calls)
        buf_puts(out, "there are no calls; record them with symtape record --calls, or name a "
                      "file with --calls FILE");
    else if (!trees->n_checks)
        buf_puts(out, "these calls made no check of an entry");
    else
        buf_printf(out, "the tape does not have the compile of %u of these calls",
                   trees->n_unknown);
}

/* Says of no owner that it can go. */
static void choose_nothing(struct guard_trees *trees)
{
    for (size_t i = 0; i < trees->owner_rows.n; i++)
        if (trees->owner_rows.v[i].status == OWNER_REMOVABLE)
            trees->owner_rows.v[i].status = OWNER_NOT_SEEN;
}

bool guards_filter_choose(struct guard_trees *trees, bool arguments, struct err *err)
{
    struct intern blocked = INTERN_INIT;
    if (!guards_filter_is_known(trees)) {
        choose_nothing(trees);
        return true;
    }
    for (size_t i = 0; i < trees->functions.n; i++)
        set_statuses(trees, &trees->functions.v[i], arguments);
    bool ok = true;
    for (uint32_t i = 0; ok && i < trees->owner_rows.n; i++)
        if (trees->owner_rows.v[i].status != OWNER_REMOVABLE)
            ok = block(&blocked, intern_text(&trees->owners, i));
    ok = ok && choose_names(trees, &blocked);
    intern_release(&blocked);
    if (trees->removed.n)
        qsort(trees->removed.v, trees->removed.n, sizeof *trees->removed.v, str_compare);
    count_removed(trees);
    return ok || err_nomem(err);
}

/* ---- Python ---- */

void guards_filter_python(const struct guard_trees *trees, struct buf *out)
{
    if (!guards_filter_is_proved(trees))
        buf_puts(out, "# Not proved: these guards may have told calls apart.\n");
    else
        buf_printf(out,
                   "# %u guards that told none of %u look-ups apart.\n"
                   "# Other calls can be answered wrongly without them.\n",
                   trees->n_removed, trees->n_lookups);
    buf_puts(out, "import re\n\nREMOVED_GUARDS = (\n");
    for (size_t i = 0; i < trees->removed.n; i++) {
        buf_puts(out, "    ");
        python_put_string(out, trees->removed.v[i]);
        buf_puts(out, ",\n");
    }
    /* The names in Python are those that guard_owner() reads: type(L['m']) is about L['m']. */
    buf_puts(out, ")\n"
                  "\n"
                  "def keep_guards(guards):\n"
                  "    def keep(name):\n"
                  "        at = re.search(r\"\\b[LG]\\[\", name)\n"
                  "        name = name[at.start():] if at else \"\"\n"
                  "        return not any(\n"
                  "            name.startswith(r)\n"
                  "            and name[len(r):][:1] in \".[),\"\n"
                  "            for r in REMOVED_GUARDS)\n"
                  "    return [keep(g.orig_guard.name) for g in guards]\n"
                  "\n"
                  "# torch.compile(f, options={\n"
                  "#     \"guard_filter_fn\": keep_guards})\n");
}
