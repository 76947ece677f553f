#include "trace/base/sha256.h"
#include "trace/events/user_line.h"
#include "trace/log/redact/redact_parts.h"

enum { MAX_QUOTED_PATH = 4096, MAX_EXTENSION = 5, HASH_DIGITS = 10 };

enum tail {
    TAIL_LAST,     /* the last component; the rest becomes a hash */
    TAIL_TORCH,    /* from torch/ on; what precedes it becomes a hash */
    TAIL_PYTHON,   /* from python3.11/ on */
    TAIL_PACKAGES, /* what follows site-packages/ */
};

struct path {
    struct str text;
    bool windows; /* both slashes separate; the text begins with the drive's letter, or is a share:
                     \\server\share */
    size_t n;     /* number of components */
    struct str first; /* the first component */
    enum tail tail;
    size_t keep; /* offset of the tail */
    size_t user; /* start and end of a user's name; equal when there is none */
    size_t user_end;
};

static bool is_separator(char c, bool windows)
{
    return c == '/' || (windows && c == '\\');
}

/* Returns whether a character can belong to a path in text without quotes, where the path's end
 * is guessed. */
static bool is_path_char(char c, bool windows)
{
    return is_word_char(c) || (unsigned char)c >= 0x80 || (c && strchr("./-+~@%#=", c)) ||
           is_separator(c, windows);
}

/* --- where a path begins and ends --- */

static size_t unquoted_end(struct str in, size_t at, bool windows)
{
    while (at < in.n && is_path_char(in.p[at], windows))
        at++;
    return at;
}

/* Returns whether a text with spaces, such as "/home/Ann Lee/train.py", is one path: all its
 * characters occur in paths and its last component ends like a file's name. */
static bool is_spaced_path(struct str s)
{
    size_t dot = s.n;
    for (size_t i = 0; i < s.n; i++) {
        bool odd_space = s.p[i] == ' ' && (char_at(s, i + 1) == '/' || char_at(s, i + 1) == '-');
        if (odd_space || (s.p[i] != ' ' && !is_path_char(s.p[i], true)))
            return false;
        if (s.p[i] == '.')
            dot = i;
        else if (!is_word_char(s.p[i]))
            dot = s.n;
    }
    return dot + 1 < s.n && s.n - dot - 1 <= MAX_EXTENSION;
}

/* Returns where the path ends if the text around it shows that, spaces or not; otherwise 0. */
static size_t enclosed_end(struct str in, size_t start)
{
    struct str before = str_first(in, start);
    struct str line = str_first(str_from(in, start), MAX_QUOTED_PATH);
    line.n = str_find_char(line, '\n');
    if (str_ends(before, STR("'")) || str_ends(before, STR("\"")))
        line.n = str_find_char(line, before.p[before.n - 1]);
    else if (str_ends(before, STR("File: ")) || str_ends(before, STR("Filename: ")))
        line.n = str_find_char(str_from(line, 2), ':') + 2; /* skips the colon of C:\ */
    else if (start > 0 || line.n < in.n)
        return 0;
    line = str_first(str_from(in, start), line.n);
    return memchr(line.p, ' ', line.n) && is_spaced_path(line) ? start + line.n : 0;
}

/* --- what it is made of --- */

static bool is_home_of_users(struct str part)
{
    static const char *const homes[] = { "home", "homes", "Users", "users" };
    return STR_IS_ANY(part, homes);
}

static bool is_packages(struct str part)
{
    static const char *const packages[] = { "site-packages", "dist-packages" };
    return STR_IS_ANY(part, packages);
}

/* Returns whether the component is python3 or python3.11, below lib, lib64 or Lib. */
static bool is_python_library(struct str parent, struct str part)
{
    static const char *const libraries[] = { "lib", "lib64", "Lib" };
    return STR_IS_ANY(parent, libraries) && str_starts(part, STR("python")) &&
           is_digit(char_at(part, 6));
}

static struct str next_component(const struct path *path, size_t *at)
{
    while (*at < path->text.n && is_separator(path->text.p[*at], path->windows))
        ++*at;
    size_t from = *at;
    while (*at < path->text.n && !is_separator(path->text.p[*at], path->windows))
        ++*at;
    return str_between(path->text, from, *at);
}

static size_t component_offset(const struct path *path, struct str part)
{
    return (size_t)(part.p - path->text.p);
}

/* Finds the user's name. What follows home/ deep in a package, or in home/index.html, is none. */
static void find_user_name(struct path *path, struct str parent, struct str part, bool more)
{
    static const char inductor[] =
        "torchinductor_"; /* torch/_inductor/runtime/cache_dir_utils.py */
    if (path->user < path->user_end || path->tail >= TAIL_PYTHON)
        return;
    if (is_home_of_users(parent) && (path->n == 2 || more))
        path->user = component_offset(path, part);
    else if (str_starts(part, str_of(inductor)))
        path->user = component_offset(path, part) + strlen(inductor);
    else
        return;
    path->user_end = component_offset(path, part) + part.n;
}

static void find_tail(struct path *path, struct str grandparent, struct str parent, struct str part)
{
    if (is_packages(parent)) {
        path->tail = TAIL_PACKAGES;
        path->keep = component_offset(path, part);
    } else if (path->tail < TAIL_PACKAGES && is_python_library(grandparent, parent)) {
        path->tail = TAIL_PYTHON;
        path->keep = component_offset(path, parent);
    } else if (path->tail == TAIL_LAST && str_is(parent, "torch") && torch_is_own(part) &&
               !is_home_of_users(grandparent)) {
        path->tail = TAIL_TORCH;
        path->keep = component_offset(path, parent);
    } else if (path->tail == TAIL_LAST) {
        path->keep = component_offset(path, part);
    }
}

static void parse_path(struct path *path)
{
    struct str grandparent = STR(""), parent = STR(""), part;
    size_t at = path->windows && is_letter(path->text.p[0]) ? 2 : 0;
    while ((part = next_component(path, &at)).n > 0) {
        if (path->n++ == 0)
            path->first = part;
        find_tail(path, grandparent, parent, part);
        find_user_name(path, parent, part, at < path->text.n);
        grandparent = parent;
        parent = part;
    }
}

/* --- what it becomes --- */

/* Prints path->text[from .. to) with its user replaced or, without a user there, every word that
 * is a name. */
static void put_component(const struct redact *redact, const struct path *path, size_t from,
                          size_t to, struct str user, struct buf *out)
{
    if (user.n > 0 && path->user >= from && path->user_end <= to) {
        buf_put(out, str_between(path->text, from, path->user));
        buf_put(out, user);
        from = path->user_end;
    }
    redact_words(redact, str_between(path->text, from, to), out);
}

static void use_slashes(struct buf *out, size_t from)
{
    size_t to = from;
    if (out->failed)
        return;
    for (size_t i = from; i < out->n; i++) {
        char c = out->p[i] == '\\' ? '/' : out->p[i];
        if (c != '/' || to == from || out->p[to - 1] != '/')
            out->p[to++] = c;
    }
    out->n = to;
}

/* Computes a keyed hash, so that nobody without the key can confirm a guessed folder. */
static uint64_t make_hash(const struct redact *redact, struct str folder)
{
    unsigned char digest[SHA256_BYTES];
    uint64_t ret = 0;
    hmac_sha256((struct str){ (const char *)redact->key, REDACT_KEY }, folder, digest);
    for (unsigned i = 0; i < HASH_DIGITS / 2; i++)
        ret = ret << 8 | digest[i];
    return ret;
}

static uint64_t keyed_hash(struct redact *redact, struct str folder)
{
    uint32_t id = intern_find(&redact->folders, folder);
    if (id != INTERN_NONE)
        return redact->hashes.v[id];
    uint64_t hash = make_hash(redact, folder);
    /* The ids of both tables must stay the same, so memory is reserved before the folder is
     * added. */
    if (!vec_reserve(&redact->hashes, 1) || intern(&redact->folders, folder) == INTERN_NONE)
        redact->failed = true;
    else
        redact->hashes.v[redact->hashes.n++] = hash;
    return hash;
}

static void note_folder(struct redact *redact, struct str folder, uint64_t hash)
{
    enum { MOST_FOLDERS = 1000 };
    if (redact->seen_hashes.n >= MOST_FOLDERS || intern_find(&redact->seen, folder) != INTERN_NONE)
        return;
    if (!vec_reserve(&redact->seen_hashes, 1) || intern(&redact->seen, folder) == INTERN_NONE)
        redact->failed = true;
    else
        redact->seen_hashes.v[redact->seen_hashes.n++] = hash;
}

static void put_hash(uint64_t hash, struct buf *out)
{
    buf_printf(out, "%0*llx/", HASH_DIGITS, (unsigned long long)hash);
}

/* Prints the hash of a folder. Names that were learnt elsewhere are not replaced in what is
 * hashed, because the hash must not depend on what was read before. */
static void put_folder_hash(struct redact *redact, const struct path *path, struct str user,
                            struct buf *out)
{
    struct buf *folder = &redact->scratch;
    size_t end = path->keep;
    buf_clear(folder);
    if (user.n > 0 && path->user_end <= end) {
        buf_put(folder, str_first(path->text, path->user));
        buf_put(folder, user);
        buf_put(folder, str_between(path->text, path->user_end, end));
    } else {
        buf_put(folder, str_first(path->text, end));
    }
    use_slashes(folder, 0);
    out->failed |= folder->failed;
    uint64_t hash = keyed_hash(redact, buf_str(folder));
    note_folder(redact, str_first(path->text, end), hash);
    put_hash(hash, out);
}

/* PyTorch removes as many characters from a path as torch's own folder has, so a folder that was
 * seen whole is recognized by its end. */
bool redact_cut_folder(const struct redact *redact, struct str folder, struct buf *out)
{
    for (size_t i = 0; i < redact->seen_hashes.n; i++) {
        if (str_ends(intern_text(&redact->seen, (uint32_t)i), folder)) {
            put_hash(redact->seen_hashes.v[i], out);
            return true;
        }
    }
    return false;
}

/* Prints a path that is a folder, because others lie in it or a variable names it: only its
 * hash, and no component. */
static bool put_folder_path(struct redact *redact, const struct path *path, struct buf *out)
{
    struct buf *folder = &redact->scratch;
    buf_clear(folder);
    buf_put(folder, path->text);
    if (!str_ends(path->text, STR("/")))
        buf_putc(folder, '/');
    out->failed |= folder->failed;
    uint32_t id = intern_find(&redact->seen, buf_str(folder));
    if (id == INTERN_NONE)
        return false;
    put_hash(redact->seen_hashes.v[id], out);
    out->n -= !str_ends(path->text, STR("/")) && !out->failed;
    return true;
}

static void put_redacted_path(struct redact *redact, const struct path *path, struct buf *out)
{
    struct str user = STR("");
    if (path->user < path->user_end)
        user = str_between(path->text, path->user, path->user_end);
    if (user.n > 0 && !redact_is_replacement(user))
        user = redact_user(redact, user);
    buf_puts(out, REDACT_MARK);
    if (path->tail == TAIL_LAST && put_folder_path(redact, path, out))
        return;
    if (path->tail <= TAIL_TORCH)
        put_folder_hash(redact, path, user, out);
    size_t tail = out->n;
    put_component(redact, path, path->keep, path->text.n, user, out);
    if (path->windows)
        use_slashes(out, tail);
}

static bool is_all_digits(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_digit(s.p[i]))
            return false;
    return true;
}

size_t redact_path(struct redact *redact, struct text_edit *edit, size_t at)
{
    struct path path = { .windows = edit->in.p[at] != '/' };
    size_t end = enclosed_end(edit->in, at);
    if (end == 0)
        end = unquoted_end(edit->in, path.windows ? at + 2 : at, path.windows);
    path.text = str_between(edit->in, at, end);
    parse_path(&path);
    /* /tmp has nothing to hide; x /2/y is a division. */
    if (path.n < 2 || is_all_digits(path.first))
        return 0;
    if (!str_is(path.first, REDACT_VALUE))
        put_redacted_path(redact, &path, edit_replace(edit, at, end));
    return end;
}
