/* Names symbols in an outline by what they stand for. */
#include "trace/align/outline_build.h"

static struct str symbol_key(struct outline_build *b, struct outline_scope scope, struct str name)
{
    buf_clear(&b->key);
    buf_put(&b->key, OUTLINE_KEY(scope.recording, scope.attempt));
    buf_put(&b->key, name);
    return buf_str(&b->key);
}

uint32_t outline_symbol(struct outline_build *b, struct outline_scope scope, struct str name)
{
    struct str key = symbol_key(b, scope, name);
    uint32_t id = b->key.failed ? INTERN_NONE : intern_find(&b->symbol_keys, key);
    return id == INTERN_NONE ? OUTLINE_NONE : b->symbol_names.v[id];
}

/* Counts the symbols of this text in this scope. */
static bool count_symbol_name(struct outline_build *b, struct intern *keys, uint32_t *counts,
                              struct outline_scope scope, struct str text, uint32_t *ret)
{
    uint32_t id = intern(keys, symbol_key(b, scope, text));
    if (id == INTERN_NONE || b->key.failed)
        return false;
    *ret = counts[id]++;
    return true;
}

/* Prints the name of a symbol: "<L['x'].size()[0]>", "<unbacked: rows = x.nonzero()>", and "...
 * #2>" for a second one. */
static bool put_outline_name(struct outline_build *b, const struct symbol *symbol,
                             struct outline_scope scope)
{
    uint32_t line;
    buf_clear(&b->text);
    buf_putc(&b->text, '<');
    if (symbol->source.n > 0) {
        buf_put(&b->text, symbol->source);
    } else {
        if (!outline_line_of_stack(b, scope.recording, symbol->user_stack, &line))
            return false;
        buf_puts(&b->text, "unbacked: ");
        if (line != OUTLINE_NONE) {
            const struct outline_line *l = &b->outline->lines.v[line];
            buf_put(&b->text, outline_text(b->outline, l->function));
            buf_puts(&b->text, ": ");
            buf_put(&b->text, outline_text(b->outline, l->code));
        }
    }
    return !b->text.failed;
}

static bool name_symbol(struct outline_build *b, const struct symbol *symbol, struct intern *keys,
                        uint32_t *counts)
{
    uint32_t before;
    struct outline_scope scope = { b->trace->records[symbol->record].recording, symbol->attempt };
    if (!put_outline_name(b, symbol, scope) ||
        !count_symbol_name(b, keys, counts, scope, buf_str(&b->text), &before))
        return false;
    if (before > 0)
        buf_printf(&b->text, " #%u", before + 1);
    buf_putc(&b->text, '>');
    uint32_t text = b->text.failed ? INTERN_NONE : outline_intern(b, buf_str(&b->text));
    uint32_t id =
        text == INTERN_NONE ? text : intern(&b->symbol_keys, symbol_key(b, scope, symbol->name));
    if (id == INTERN_NONE || b->key.failed)
        return false;
    if (id < b->symbol_names.n) { /* the same name again: the first symbol keeps it */
        return true;
    }
    return vec_push(&b->symbol_names, text);
}

bool outline_build_symbols(struct outline_build *b, struct err *err)
{
    const struct symbol_table *table = trace_symbols(b->trace, err);
    if (!table)
        return false;
    struct intern keys = INTERN_INIT;
    uint32_t *counts = calloc((size_t)table->n_symbols + 1, sizeof *counts);
    bool ok = counts;
    for (uint32_t i = 0; ok && i < table->n_symbols; i++)
        ok = name_symbol(b, &table->symbols[i], &keys, counts);
    free(counts);
    intern_release(&keys);
    return ok || err_nomem(err);
}

/* ---- texts for people, with symbols in them ------------------------------------------------ */

static bool is_address_digit(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f');
}

static size_t run_of(struct str text, size_t from, bool (*is)(char))
{
    size_t n = 0;
    while (from + n < text.n && is(text.p[from + n]))
        n++;
    return n;
}

/* Prints a word. Numbers of at least 9 digits are ids of objects; hexadecimal ones are their
 * addresses. */
static void put_word(struct outline_build *b, struct outline_scope scope, struct str word)
{
    enum { LONG_NUMBER = 9 };
    bool address = word.n > 2 && str_starts(word, STR("0x")) &&
                   run_of(word, 2, is_address_digit) + 2 == word.n;
    if (address || (word.n >= LONG_NUMBER && run_of(word, 0, is_digit) == word.n)) {
        buf_putc(&b->text, '#');
        return;
    }
    uint32_t symbol = is_digit(word.p[0]) ? OUTLINE_NONE : outline_symbol(b, scope, word);
    buf_put(&b->text, symbol == OUTLINE_NONE ? word : outline_text(b->outline, symbol));
}

uint32_t outline_intern_stable(struct outline_build *b, struct outline_scope scope, struct str text)
{
    buf_clear(&b->text);
    for (size_t i = 0, n; i < text.n; i += n) {
        n = run_of(text, i, is_word_char);
        if (n > 0)
            put_word(b, scope, (struct str){ text.p + i, n });
        else
            buf_put(&b->text, (struct str){ text.p + i, n = 1 });
    }
    return b->text.failed ? OUTLINE_NONE : outline_intern(b, buf_str(&b->text));
}
