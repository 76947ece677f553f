#include "profile/diagnosis/failures/failure_wording.h"

#include "trace/base/text/wildcard.h"

enum { MOST_PARTS = 4 };

static const struct exception_row {
    struct str pattern;
    const char *cause;
    enum remedy_kind remedy;
    const char *text;
} EXCEPTIONS[] = {
#define EXCEPTION(pattern, cause, remedy, text) \
    {                                           \
        { pattern, sizeof pattern - 1 },        \
        cause,                                  \
        remedy,                                 \
        text,                                   \
    },
#include "profile/diagnosis/failures/exceptions.def"
#undef EXCEPTION
};

/* Returns whether a part ends in a quote or a parenthesis that was not opened in it, or in a full
 * stop. */
static bool has_loose_end(struct str part)
{
    char last = part.n > 0 ? part.p[part.n - 1] : ' ';
    size_t quotes = 0;
    for (size_t i = 0; i < part.n; i++)
        quotes += part.p[i] == last;
    if (last == '\'' || last == '"')
        return quotes % 2 == 1;
    return last == '.' || (last == ')' && str_find_char(part, '(') == part.n);
}

/* Removes what the pattern's end left at the end of a part. */
static struct str trimmed_part(struct str part)
{
    part = str_trim(part);
    while (has_loose_end(part))
        part.n--;
    return part;
}

/* Appends "audio::normalize" for "audio.normalize.default". */
static void put_operator(struct str op, struct buf *out)
{
    size_t dot = str_find_char(op, '.');
    struct str name = str_from(op, dot + 1);
    buf_put(out, str_first(op, dot));
    if (dot < op.n) {
        buf_puts(out, "::");
        buf_put(out, str_first(name, str_find_char(name, '.')));
    }
}

static void put_template(const char *template, struct str call, const struct str *parts,
                         struct buf *out)
{
    for (const char *c = template; *c; c++) {
        bool op = c[0] == '$' && c[1] == ':' && c[2] >= '1' && c[2] <= '0' + MOST_PARTS;
        if (op) {
            put_operator(parts[c[2] - '1'], out);
            c += 2;
        } else if (c[0] == '$' && c[1] >= '0' && c[1] <= '0' + MOST_PARTS) {
            struct str part = c[1] == '0' ? call : parts[c[1] - '1'];
            buf_put(out, part.n > 0 || c[1] != '0' ? part : STR("an operator"));
            c++;
        } else {
            buf_putc(out, *c);
        }
    }
}

/* Returns the row whose pattern occurs in the text, or NULL. */
static const struct exception_row *exception_row_of(struct str text, struct str *parts)
{
    for (size_t i = 0; i < sizeof EXCEPTIONS / sizeof *EXCEPTIONS; i++)
        if (wildcard_find(text, EXCEPTIONS[i].pattern, parts, MOST_PARTS)) {
            for (size_t k = 0; k < MOST_PARTS; k++)
                parts[k] = trimmed_part(parts[k]);
            return &EXCEPTIONS[i];
        }
    return NULL;
}

/* The cause where no row applies: what the message itself explains. */
static void put_explained(const struct failure *is, const struct failure_text *text,
                          struct buf *out)
{
    enum { LONGEST = 300 };
    struct str explanation = text->explanation.n > 0 ? text->explanation : text->summary;
    if (text->message.n > 0 && text->call.n > 0)
        buf_printf(out, "%.*s failed: %.*s", STR_ARG(text->call), STR_ARG(text->message));
    else if (explanation.n > 0)
        buf_printf(out, "%.*s", STR_ARG(explanation));
    else
        buf_printf(out, "%.*s", STR_ARG(is->type));
    if (out->n > LONGEST) {
        out->n = LONGEST;
        buf_puts(out, " ...");
    }
    while (out->n > 0 && out->p[out->n - 1] == '.' && out->n <= LONGEST)
        out->n--;
}

void failure_word(const struct failure *failure, struct failure_wording *ret)
{
    struct str parts[MOST_PARTS];
    struct buf typed = BUF_INIT;
    *ret = (struct failure_wording){
        .text = failure_text_parse(failure->reason),
        .cause = BUF_INIT,
        .remedy = BUF_INIT,
        .remedy_kind = REMEDY_CHANGE_CODE,
    };
    buf_printf(&typed, "%.*s: %.*s", STR_ARG(failure->type), STR_ARG(failure->reason));
    const struct exception_row *row = exception_row_of(buf_str(&typed), parts);
    if (row) {
        put_template(row->cause, ret->text.call, parts, &ret->cause);
        put_template(row->text, ret->text.call, parts, &ret->remedy);
        ret->remedy_kind = row->remedy;
    } else {
        put_explained(failure, &ret->text, &ret->cause);
    }
    ret->cause.failed |= typed.failed;
    buf_release(&typed);
}

void failure_wording_release(struct failure_wording *words)
{
    buf_release(&words->cause);
    buf_release(&words->remedy);
}
