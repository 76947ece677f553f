#include "cmd/cli/size_grid.h"
#include "cmd/inputs/inputs.h"
#include "profile/why/why_name.h"

/* ---- Ranges ---- */

/* Walks a text outside of its quotes and brackets, which names such as L['a,b'].size()[0] have. */
struct plain_walk {
    char quote;
    unsigned depth;
};

static bool is_plain(struct plain_walk *walk, char c)
{
    if (walk->quote) {
        walk->quote = c == walk->quote ? 0 : walk->quote;
        return false;
    }
    if (c == '\'' || c == '"')
        walk->quote = c;
    else if (c == '[' || c == '(')
        walk->depth++;
    else if ((c == ']' || c == ')') && walk->depth > 0)
        walk->depth--;
    return walk->depth == 0 && !walk->quote;
}

/* Returns the place of the first such character, or text.n. */
static size_t find_plain(struct str text, char what)
{
    struct plain_walk walk = { 0 };
    for (size_t i = 0; i < text.n; i++)
        if (is_plain(&walk, text.p[i]) && text.p[i] == what)
            return i;
    return text.n;
}

static bool add_piece(struct inputs_range *to, struct cover_piece piece, struct err *err)
{
    if (to->n_pieces == INPUTS_PIECES)
        return err_set(err, ERR_USAGE, "%.*s has more than %d numbers and ranges",
                       STR_ARG(to->name), INPUTS_PIECES);
    to->pieces[to->n_pieces++] = piece;
    return true;
}

static bool add_values(struct inputs_range *to, struct str text, struct err *err)
{
    struct size_item item;
    if (!size_item_read(text, &item, err))
        return false;
    if (item.max > DECIDE_MOST)
        return err_set(err, ERR_USAGE, "%.*s: sizes up to 2**61 are supported", STR_ARG(text));
    if (!item.factor) /* the last value is one of the range's */
        return add_piece(to,
                         (struct cover_piece){
                             item.min, item.max - (item.max - item.min) % item.step, item.step },
                         err);
    int64_t x = item.min;
    do {
        if (!add_piece(to, (struct cover_piece){ x, x, 1 }, err))
            return false;
    } while (size_item_next(&item, x, &x));
    return true;
}

static bool add_name(struct inputs_ranges *ranges, struct str name, struct err *err)
{
    if (!name.n)
        return err_set(err, ERR_USAGE, "a range is SYMBOL=MIN..MAX");
    for (size_t i = 0; i < ranges->n; i++)
        if (str_eq(ranges->list[i].name, name))
            return err_set(err, ERR_USAGE, "%.*s is given twice", STR_ARG(name));
    if (ranges->n == INPUTS_NAMES)
        return err_set(err, ERR_USAGE, "more than %d names", INPUTS_NAMES);
    struct cover_piece *pieces = arena_array(&ranges->arena, struct cover_piece, INPUTS_PIECES);
    ranges->list[ranges->n++] = (struct inputs_range){ .name = name, .pieces = pieces };
    return pieces || err_nomem(err);
}

bool inputs_ranges_read(struct inputs_ranges *ret, struct str text, struct err *err)
{
    *ret = (struct inputs_ranges){ 0 };
    if (!str_trim(text).n)
        return err_set(err, ERR_USAGE, "it is empty; a range is SYMBOL=MIN..MAX");
    while (text.n) {
        size_t comma = find_plain(text, ',');
        struct str item = str_trim(str_first(text, comma));
        size_t equals = find_plain(item, '=');
        text = str_from(text, comma + 1);
        if (equals < item.n) {
            if (!add_name(ret, str_trim(str_first(item, equals)), err))
                return false;
            item = str_trim(str_from(item, equals + 1));
        } else if (!ret->n) {
            return err_set(err, ERR_USAGE, "%.*s: a range is SYMBOL=MIN..MAX", STR_ARG(item));
        }
        if (!add_values(&ret->list[ret->n - 1], item, err))
            return false;
    }
    return true;
}

void inputs_ranges_release(struct inputs_ranges *ranges)
{
    arena_release(&ranges->arena);
}

/* ---- Names ---- */

static bool add_meaning(struct inputs_scope *scope, struct str source,
                        struct inputs_meaning meaning)
{
    struct str plain = source.n ? why_name_plain(source, &scope->arena) : (struct str){ 0 };
    uint32_t at = plain.p ? intern(&scope->plain, plain) : INTERN_NONE;
    if (!source.n)
        return true;
    return at != INTERN_NONE && (at < scope->meanings.n || vec_push(&scope->meanings, meaning));
}

static uint32_t index_of(const struct conditions *c, const struct condition_symbol *row)
{
    return row ? (uint32_t)(row - c->symbols.v) : UINT32_MAX;
}

static bool read_scope(struct inputs_scope *scope)
{
    const struct conditions *c = scope->conditions;
    bool ok = true;
    for (size_t i = 0; ok && i < c->sizes.n; i++) {
        sym_id symbol = c->sizes.v[i].symbol;
        struct inputs_meaning meaning = {
            symbol == SYM_NONE ? UINT32_MAX : index_of(c, conditions_symbol(c, symbol)), (uint32_t)i
        };
        ok = add_meaning(scope, c->sizes.v[i].source, meaning);
    }
    for (size_t i = 0; ok && i < c->symbols.n; i++)
        ok = add_meaning(scope, c->symbols.v[i].source,
                         (struct inputs_meaning){ (uint32_t)i, UINT32_MAX });
    scope->is_read = ok;
    return ok;
}

bool inputs_find(struct inputs_scope *scope, struct str name, struct inputs_meaning *ret,
                 struct err *err)
{
    uint32_t symbol = index_of(scope->conditions, conditions_find(scope->conditions, name));
    *ret = (struct inputs_meaning){ symbol, UINT32_MAX };
    if (symbol != UINT32_MAX)
        return true;
    struct str plain = why_name_plain(name, &scope->arena);
    if (!plain.p || (!scope->is_read && !read_scope(scope)))
        return err_nomem(err);
    uint32_t at = intern_find(&scope->plain, plain);
    if (at != INTERN_NONE)
        *ret = scope->meanings.v[at];
    return true;
}

void inputs_scope_release(struct inputs_scope *scope)
{
    intern_release(&scope->plain);
    vec_release(&scope->meanings);
    arena_release(&scope->arena);
}

/* Returns the length of a source at the start of the text ("x.size(0)", "L['x'].size()[0]"), or of
 * a name; 0 if there is neither. */
static size_t source_length(struct str text, bool *source)
{
    size_t n = 0;
    *source = false;
    if (!text.n || !(is_letter(text.p[0]) || text.p[0] == '_'))
        return 0;
    while (n < text.n && is_word_char(text.p[n]))
        n++;
    for (bool more = true; more;) {
        struct str rest = str_from(text, n);
        size_t key = 0;
        more = false;
        if (rest.n > 1 && rest.p[0] == '.' && (is_letter(rest.p[1]) || rest.p[1] == '_')) {
            for (key = 1; key < rest.n && is_word_char(rest.p[key]);)
                key++;
            if (str_starts(str_from(rest, key), STR("("))) { /* .size(), .size(-1) */
                size_t close = str_find_char(rest, ')');
                size_t sign = str_starts(str_from(rest, key + 1), STR("-"));
                size_t digits = str_digits(str_from(rest, key + 1 + sign));
                if (close != key + 1 + sign + digits)
                    return n;
                key = close + 1;
            }
        } else if (rest.n && rest.p[0] == '[') {
            struct plain_walk walk = { 0 };
            for (key = 0; key < rest.n && !(is_plain(&walk, rest.p[key]) && key);)
                key++;
            key += key < rest.n;
        }
        more = key > 0;
        *source |= more;
        n += key;
    }
    return n;
}

/* Sets *ret to the symbol that a source has, "" if it has none. A static size gets one. */
static bool symbol_name(struct inputs_scope *scope, struct str source, struct str *ret,
                        struct err *err)
{
    struct conditions *c = scope->conditions;
    struct inputs_meaning meaning;
    if (!inputs_find(scope, source, &meaning, err))
        return false;
    uint32_t symbol = meaning.symbol;
    if (meaning.size != UINT32_MAX && c->sizes.v[meaning.size].made != UINT32_MAX)
        symbol = c->sizes.v[meaning.size].made;
    else if (meaning.size != UINT32_MAX && symbol == UINT32_MAX &&
             !conditions_name_size(c, meaning.size, &symbol, err))
        return false;
    *ret = symbol == UINT32_MAX ? (struct str){ 0 } : c->symbols.v[symbol].name;
    return true;
}

/* Copies the text with the names of symbols in the places of their sources. */
static bool replace_sources(struct inputs_scope *scope, struct str text, struct buf *out,
                            struct str *missing, struct err *err)
{
    while (text.n) {
        bool source;
        size_t n = source_length(text, &source);
        struct str word = str_first(text, n ? n : 1), name = { 0 };
        if (n && source && !symbol_name(scope, word, &name, err))
            return false;
        if (n && source && !name.n && !missing->n && !str_starts(word, STR("math.")) &&
            !str_starts(word, STR("torch.")))
            *missing = word;
        buf_put(out, name.n ? name : word);
        text = str_from(text, word.n);
    }
    return !out->failed || err_nomem(err);
}

static bool is_condition(const struct sym_pool *pool, sym_id e)
{
    switch (sym_kind_of(pool, e)) {
    case SYM_FALSE:
    case SYM_TRUE:
    case SYM_AND:
    case SYM_OR:
    case SYM_NOT: return true;
    default: return sym_is_relational(pool, e);
    }
}

bool inputs_parse(struct inputs_scope *scope, struct str text, sym_id *ret, struct str *missing,
                  struct err *err)
{
    const struct conditions *conditions = scope->conditions;
    struct buf plain = BUF_INIT;
    *missing = (struct str){ 0 };
    bool ok = replace_sources(scope, text, &plain, missing, err);
    struct str kept = ok ? arena_copy(&scope->arena, buf_str(&plain)) : (struct str){ 0 };
    buf_release(&plain);
    if (!ok || missing->n)
        return ok;
    if (!kept.p)
        return err_nomem(err);
    *ret = conditions_parse(conditions, kept, missing);
    if (sym_short_of_memory(conditions->pool))
        return err_nomem(err);
    if (missing->n)
        return true;
    bool condition = *ret != SYM_NONE && is_condition(conditions->pool, *ret);
    return condition || err_set(err, ERR_USAGE,
                                "\"%.*s\" is no condition on sizes, such as "
                                "\"s77 %% 8 == 0 and s27 <= s77\"",
                                STR_ARG(text));
}
