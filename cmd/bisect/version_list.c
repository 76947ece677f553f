#include "cmd/bisect/versions.h"
#include "minify/process/capture.h"

enum { GIT_OUTPUT_MAX = 256 << 20, RANGE_MAX = 400 };

void version_list_release(struct version_list *versions)
{
    vec_release(&versions->list);
    arena_release(&versions->arena);
    *versions = (struct version_list){ 0 };
}

static bool add_version(struct version_list *versions, struct version version, struct err *err)
{
    struct arena *arena = &versions->arena;
    version.name = arena_copy(arena, version.name);
    version.title = version.title.n ? arena_copy(arena, version.title) : STR("");
    version.python = version.python.n ? arena_copy(arena, version.python) : STR("");
    return (version.name.p && version.title.p && version.python.p &&
            vec_push(&versions->list, version)) ||
           err_nomem(err);
}

/* Reads "HASH PARENT PARENT...\tSUBJECT" lines. */
static bool read_commits(struct version_list *versions, struct str text, struct err *err)
{
    while (text.n) {
        struct str line = str_first(text, str_find_char(text, '\n'));
        text = str_from(text, line.n + 1);
        size_t tab = str_find_char(line, '\t'), space = str_find_char(line, ' ');
        struct str parents = str_from(str_first(line, tab), space + 1);
        const struct version version = { .name = str_first(line, space < tab ? space : tab),
                                         .title = str_from(line, tab + 1),
                                         .merge = str_find_char(parents, ' ') < parents.n };
        if (version.name.n && !add_version(versions, version, err))
            return false;
    }
    return true;
}

/* Appends the commits that a git log of these words lists. */
static bool list_commits(struct version_list *versions, const char *const *words, size_t n,
                         struct err *err)
{
    const char *argv[12] = { "git",
                             "log",
                             "--no-show-signature",
                             "--no-color",
                             "--first-parent",
                             "--reverse",
                             "--format=%H %P%x09%s" };
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < n; i++)
        argv[7 + i] = words[i];
    bool good =
        capture(argv, GIT_OUTPUT_MAX, &out, err) && read_commits(versions, buf_str(&out), err);
    buf_release(&out);
    return good;
}

static bool list_range(struct version_list *versions, const char *from, const char *to,
                       struct err *err)
{
    char range[2 * RANGE_MAX + 4];
    int n = snprintf(range, sizeof range, "%s..%s", from, to);
    const char *const first[] = { "-1", from, "--" }, *const others[] = { range, "--" };
    versions->commits = true;
    if (n < 0 || (size_t)n >= sizeof range)
        return err_set(err, ERR_USAGE, "--commits: a name is too long");
    return list_commits(versions, first, 3, err) && list_commits(versions, others, 2, err);
}

bool versions_of_range(const char *range, struct version_list *ret, struct err *err)
{
    const char *dots = strstr(range, "..");
    char from[RANGE_MAX];
    if (!dots || dots == range || dots[2] == '.' || dots[2] == '\0' || range[0] == '-' ||
        dots[2] == '-' || (size_t)(dots - range) >= sizeof from)
        return err_set(err, ERR_USAGE,
                       "--commits: \"%s\" is not a range, as in v1.0..main: the first is good, the "
                       "last is bad",
                       range);
    snprintf(from, sizeof from, "%.*s", (int)(dots - range), range);
    if (!list_range(ret, from, dots + 2, err))
        return err_at(err, "--commits");
    return ret->list.n > 1 || err_set(err, ERR_USAGE, "--commits: there is no commit in %s", range);
}

bool versions_of_merge(struct str merge, unsigned parent, struct version_list *ret, struct err *err)
{
    char first[RANGE_MAX], other[RANGE_MAX];
    struct buf base = BUF_INIT;
    struct err none = { 0 };
    snprintf(first, sizeof first, "%.*s^1", STR_ARG(merge));
    snprintf(other, sizeof other, "%.*s^%u", STR_ARG(merge), parent);
    const char *const argv[] = { "git", "merge-base", first, other, NULL };
    if (!capture(argv, 1 << 16, &base, &none)) { /* there is no such parent, or no common commit */
        buf_release(&base);
        return none.kind == ERR_USAGE ? true : (*err = none, false);
    }
    struct str hash = str_first(buf_str(&base), str_find_char(buf_str(&base), '\n'));
    char from[RANGE_MAX];
    snprintf(from, sizeof from, "%.*s", STR_ARG(hash));
    buf_release(&base);
    return list_range(ret, from, other, err);
}

/* A line of the log ends after the name, and a space within it. */
static bool has_blank(struct str name)
{
    size_t i = 0;
    while (i < name.n && (unsigned char)name.p[i] > ' ' && name.p[i] != 0x7f)
        i++;
    return i < name.n;
}

bool versions_of_pythons(const struct opt_list *pythons, struct version_list *ret, struct err *err)
{
    for (size_t i = 0; i < pythons->n; i++) {
        struct str text = str_of(pythons->v[i]);
        size_t equal = str_find_char(text, '=');
        const struct version version = { .name = str_trim(str_first(text, equal)),
                                         .python = str_trim(str_from(text, equal + 1)) };
        if (!version.name.n || !version.python.n || has_blank(version.name))
            return err_set(err, ERR_USAGE,
                           "--python: \"%s\" is not NAME=PYTHON, as in 2.13=env13/bin/python",
                           pythons->v[i]);
        for (size_t j = 0; j < ret->list.n; j++)
            if (str_eq(ret->list.v[j].name, version.name))
                return err_set(err, ERR_USAGE, "--python names %.*s twice", STR_ARG(version.name));
        if (!add_version(ret, version, err))
            return false;
    }
    return ret->list.n > 1 ||
           err_set(err, ERR_USAGE,
                   "--python is given once for each release, the good one first, "
                   "and two or more are needed");
}
