#include "profile/page/page_reduce.h"

#include <stdio.h>

/* Objects have the keys of a record or a vocabulary; of one that has more, such as the counts of
 * operators that a file names, the rest is left out. */
enum { DEEPEST = 64, OBJECT_MEMBERS = 200, LISTS = 64 };

struct level {
    bool array;
    uint32_t members;
    struct str key; /* of its member that is being copied, with quotes */
};

struct reducer {
    struct str json;
    size_t at;
    const char *under;
    const struct page_limits *limits;
    struct buf *out;
    struct page_omitted *omitted;
    struct level levels[DEEPEST];
    unsigned depth;
};

bool page_omit(struct page_omitted *omitted, const char *list, uint64_t n)
{
    size_t i = 0;
    while (i < omitted->lists.n && strcmp(omitted->lists.v[i].list, list) != 0)
        i++;
    if (i == omitted->lists.n) {
        struct page_omission added = { .n = 0 };
        bool full = i >= LISTS;
        snprintf(added.list, sizeof added.list, "%s", full ? "others" : list);
        if (full)
            i = LISTS - 1;
        else if (!vec_push(&omitted->lists, added))
            return false;
    }
    omitted->lists.v[i].n += n;
    return true;
}

void page_omitted_json(const struct page_omitted *omitted, struct json_writer *w, const char *key)
{
    json_open_array(w, key);
    for (size_t i = 0; i <= omitted->lists.n; i++) {
        bool last = i == omitted->lists.n;
        if (last && omitted->texts == 0)
            break;
        json_open_object(w, NULL);
        json_put_cstr(w, "list", last ? "texts" : omitted->lists.v[i].list);
        json_put_u64(w, "left_out", last ? omitted->texts : omitted->lists.v[i].n);
        json_close(w);
    }
    json_close(w);
}

void page_omitted_release(struct page_omitted *omitted)
{
    vec_release(&omitted->lists);
    omitted->texts = 0;
}

static size_t escape_length(struct str rest)
{
    if (rest.n < 2 || rest.p[1] != 'u')
        return rest.n < 2 ? rest.n : 2;
    return rest.n < 6 ? rest.n : 6;
}

static bool is_high_surrogate(struct str escape)
{
    return escape.n == 6 && (escape.p[2] | 0x20) == 'd' && strchr("89abAB", escape.p[3]) != NULL;
}

/* Returns the length of the character at a place of a text: of its bytes, of its escape, or of the
 * two escapes of a character above U+FFFF. */
static size_t character_length(struct str rest)
{
    size_t n = 1;
    if (rest.p[0] == '\\') {
        n = escape_length(rest);
        bool pair =
            is_high_surrogate(str_first(rest, n)) && str_starts(str_from(rest, n), STR("\\u"));
        return pair ? n + escape_length(str_from(rest, n)) : n;
    }
    if ((unsigned char)rest.p[0] < 0x80)
        return 1;
    while (n < rest.n && n < 4 && ((unsigned char)rest.p[n] & 0xC0) == 0x80)
        n++;
    return n;
}

size_t page_escape_growth(char c)
{
    return c == '<' || c == '>' || c == '&' ? strlen("\\u003c") - 1 : 0;
}

static void put_character(struct buf *out, struct str character)
{
    static const struct {
        const char *text, *escape;
    } ESCAPES[] = { { "<", "\\u003c" },
                    { ">", "\\u003e" },
                    { "&", "\\u0026" },
                    { "\xE2\x80\xA8", "\\u2028" },
                    { "\xE2\x80\xA9", "\\u2029" } };
    for (size_t i = 0; i < sizeof ESCAPES / sizeof *ESCAPES; i++)
        if (str_is(character, ESCAPES[i].text)) {
            buf_puts(out, ESCAPES[i].escape);
            return;
        }
    buf_put(out, character);
}

/* Copies the text whose quote is at r->at, and goes behind it. */
static void copy_text(struct reducer *r)
{
    size_t copied = 0, left_out = 0;
    r->at++;
    buf_putc(r->out, '"');
    while (r->at < r->json.n && r->json.p[r->at] != '"') {
        struct str rest = str_from(r->json, r->at);
        struct str character = str_first(rest, character_length(rest));
        if (copied < r->limits->chars) {
            put_character(r->out, character);
            copied++;
        } else {
            left_out++;
        }
        r->at += character.n;
    }
    r->at++;
    if (left_out > 0) {
        buf_printf(r->out, " ... (%zu more character%s)", left_out, left_out == 1 ? "" : "s");
        r->omitted->texts++;
    }
    buf_putc(r->out, '"');
}

static void note_left_out(struct reducer *r, uint64_t n)
{
    char list[sizeof r->omitted->lists.v->list];
    size_t used = (size_t)snprintf(list, sizeof list, "%s", r->under);
    for (unsigned i = 0; i + 1 < r->depth && used < sizeof list; i++) {
        struct str key = r->levels[i].key;
        if (r->levels[i].array || key.n < 2)
            continue;
        key = str_first(str_from(key, 1), key.n - 2);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s", used ? "." : "",
                                 key.n > 40 ? 40 : (int)key.n, key.p);
    }
    if (!page_omit(r->omitted, list, n))
        r->out->failed = true;
}

/* Skips the members up to the bracket that closes the container. */
static void skip_members(struct reducer *r)
{
    uint64_t members = 1;
    unsigned inside = 0;
    bool quoted = false;
    for (r->at++; r->at < r->json.n; r->at++) {
        char c = r->json.p[r->at];
        if (quoted) {
            r->at += c == '\\';
            quoted = c != '"';
            continue;
        }
        if ((c == ']' || c == '}') && inside == 0)
            break;
        quoted = c == '"';
        members += c == ',' && inside == 0;
        inside += (c == '[' || c == '{');
        inside -= (c == ']' || c == '}');
    }
    note_left_out(r, members);
}

static void open_container(struct reducer *r, char c)
{
    if (r->depth == DEEPEST) {
        r->out->failed = true;
        return;
    }
    r->levels[r->depth++] = (struct level){ .array = c == '[', .members = 1 };
    buf_putc(r->out, c);
    r->at++;
}

static void next_member(struct reducer *r)
{
    struct level *level = r->depth ? &r->levels[r->depth - 1] : NULL;
    uint32_t most = r->limits->rows;
    if (level && !level->array && most < OBJECT_MEMBERS)
        most = OBJECT_MEMBERS;
    if (level && level->members++ >= most) {
        skip_members(r);
        return;
    }
    buf_putc(r->out, ',');
    r->at++;
}

static void copy_quoted(struct reducer *r)
{
    size_t begin = r->at;
    copy_text(r);
    if (r->depth && !r->levels[r->depth - 1].array && r->at < r->json.n && r->json.p[r->at] == ':')
        r->levels[r->depth - 1].key = str_first(str_from(r->json, begin), r->at - begin);
}

void page_reduce(struct str json, const char *under, const struct page_limits *limits,
                 struct buf *out, struct page_omitted *omitted)
{
    struct reducer r = {
        .json = json, .under = under, .limits = limits, .out = out, .omitted = omitted
    };
    while (r.at < json.n && !out->failed) {
        char c = json.p[r.at];
        switch (c) {
        case '"': copy_quoted(&r); break;
        case '[':
        case '{': open_container(&r, c); break;
        case ',': next_member(&r); break;
        case ']':
        case '}': r.depth -= r.depth > 0; /* fall through */
        default:
            buf_putc(out, c);
            r.at++;
            break;
        }
    }
}
