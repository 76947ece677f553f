#include <inttypes.h>

#include "minify/search/journal.h"
#include "trace/base/hash.h"

#define MAGIC "symtape-journal 1"
enum { HASH_HEX = 32, CHECK_HEX = 16, TEXT_MAX = 4000 };

/* Escapes characters that would end the line or a field. */
static void put_escaped_field(struct str text, struct buf *out)
{
    buf_putc(out, '\t');
    for (size_t i = 0; i < text.n && i < TEXT_MAX; i++) {
        char c = text.p[i];
        if (c == '\n' || c == '\t' || c == '\\')
            buf_printf(out, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : c);
        else
            buf_putc(out, c);
    }
}

void journal_text(struct str field, struct buf *out)
{
    for (size_t i = 0; i < field.n; i++) {
        char c = field.p[i];
        if (c == '\\' && i + 1 < field.n) {
            c = field.p[++i];
            c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
        }
        buf_putc(out, c);
    }
}

static void put_check(struct buf *out, size_t start)
{
    if (out->failed)
        return;
    uint64_t check = hash_str((struct str){ out->p + start, out->n - start });
    buf_printf(out, "\t%016" PRIx64 "\n", check);
}

void journal_print_head(const struct journal_head *head, struct buf *out)
{
    size_t start = out->n;
    buf_puts(out, MAGIC);
    put_escaped_field(head->program, out);
    put_escaped_field(head->oracle, out);
    put_check(out, start);
}

void journal_print(const struct journal_record *record, struct buf *out)
{
    size_t start = out->n;
    buf_printf(out, "%" PRIu64 "\t%016" PRIx64 "%016" PRIx64 "\t%s%s\t%" PRIu32 "\t%.3f\t%" PRIu32,
               record->seq, record->hash.high, record->hash.low, record->again ? "again-" : "",
               verdict_name(record->verdict), record->attempts, record->seconds * 1e3,
               record->worker);
    put_escaped_field(record->node, out);
    put_escaped_field(record->edits, out);
    put_escaped_field(record->signature.kind, out);
    put_escaped_field(record->signature.message, out);
    put_escaped_field(record->signature.op, out);
    put_escaped_field(record->signature.frame, out);
    put_escaped_field(record->text, out);
    put_check(out, start);
}

static bool hex_u64(struct str text, uint64_t *ret)
{
    uint64_t value = 0;
    if (text.n != 16)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : 16;
        if (digit == 16)
            return false;
        value = value << 4 | digit;
    }
    *ret = value;
    return true;
}

/* Reads a line whose checksum is right, without the checksum. */
static bool take_checked_content(struct str line, struct str *content)
{
    uint64_t check;
    if (line.n < CHECK_HEX + 1 || line.p[line.n - CHECK_HEX - 1] != '\t')
        return false;
    *content = str_first(line, line.n - CHECK_HEX - 1);
    return hex_u64(str_from(line, line.n - CHECK_HEX), &check) && check == hash_str(*content);
}

/* Returns the field up to the next TAB. */
static struct str take_field(struct str *rest)
{
    struct str taken = str_first(*rest, str_find_char(*rest, '\t'));
    *rest = str_from(*rest, taken.n + 1);
    return taken;
}

static bool u32_field(struct str *rest, uint32_t *ret)
{
    uint64_t value;
    if (!str_to_u64(take_field(rest), &value) || value > UINT32_MAX)
        return false;
    *ret = (uint32_t)value;
    return true;
}

/* Reads milliseconds with three digits after the point, as they are printed. */
static bool seconds_field(struct str *rest, double *ret)
{
    struct str text = take_field(rest);
    struct str whole = str_first(text, str_find_char(text, '.')),
               part = str_from(text, whole.n + 1);
    uint64_t ms, us;
    if (!str_to_u64(whole, &ms) || part.n != 3 || !str_to_u64(part, &us))
        return false;
    *ret = (double)ms * 1e-3 + (double)us * 1e-6;
    return true;
}

static bool verdict_field(struct str *rest, struct journal_record *record)
{
    struct str text = take_field(rest);
    record->again = str_starts(text, STR("again-"));
    return verdict_read(str_from(text, record->again ? strlen("again-") : 0), &record->verdict);
}

static bool read_journal_record(struct str line, struct journal_record *record)
{
    struct str rest;
    *record = (struct journal_record){ 0 };
    if (!take_checked_content(line, &rest) || !str_to_u64(take_field(&rest), &record->seq))
        return false;
    struct str hash = take_field(&rest);
    if (hash.n != HASH_HEX || !hex_u64(str_first(hash, 16), &record->hash.high) ||
        !hex_u64(str_from(hash, 16), &record->hash.low))
        return false;
    if (!verdict_field(&rest, record) || !u32_field(&rest, &record->attempts) ||
        !seconds_field(&rest, &record->seconds) || !u32_field(&rest, &record->worker))
        return false;
    record->node = take_field(&rest);
    record->edits = take_field(&rest);
    record->signature.kind = take_field(&rest);
    record->signature.message = take_field(&rest);
    record->signature.op = take_field(&rest);
    record->signature.frame = take_field(&rest);
    record->text = rest;
    return true;
}

/* Reads the next line without its end; returns false if the text ends first. */
static bool take_journal_line(struct str *text, struct str *line)
{
    size_t n = str_find_char(*text, '\n');
    if (n == text->n)
        return false;
    *line = str_first(*text, n);
    *text = str_from(*text, n + 1);
    return true;
}

bool journal_read_head(struct str *text, struct journal_head *head, struct err *err)
{
    struct str line, rest;
    if (!str_starts(*text, STR("symtape-journal ")) || !take_journal_line(text, &line))
        return err_set(err, ERR_INPUT,
                       "not a journal of symtape minify; --overwrite-journal replaces it, and "
                       "--journal names another file");
    if (!str_starts(line, STR(MAGIC "\t")))
        return err_set(err, ERR_INPUT, "the journal has another format: %.*s",
                       STR_ARG(str_first(line, str_find_char(line, '\t'))));
    if (!take_checked_content(line, &rest))
        return err_set(err, ERR_INPUT, "the journal's first line is damaged");
    take_field(&rest);
    head->program = take_field(&rest);
    head->oracle = take_field(&rest);
    return true;
}

enum journal_line journal_next(struct str *text, struct journal_record *record)
{
    struct str line;
    if (text->n == 0)
        return JOURNAL_END;
    if (!take_journal_line(text, &line))
        return JOURNAL_TORN;
    return read_journal_record(line, record) ? JOURNAL_RECORD : JOURNAL_DAMAGED;
}
