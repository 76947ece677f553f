#include "trace/events/guard_tree.h"

/* Returns the text after the branches of the tree, "| | +- ", or "" if there are none. */
static struct str after_branches(struct str line, uint32_t *branches)
{
    size_t at = 0;
    for (*branches = 0; at < line.n && (line.p[at] == '|' || line.p[at] == ' '); at++)
        *branches += line.p[at] == '|';
    line = str_from(line, at);
    return str_starts(line, STR("+- ")) ? str_from(line, 3) : STR("");
}

/* Splits "code  # comment". A string of the code may hold a '#', but hardly two blanks before. */
static void split_comment(struct str text, struct tree_guard *ret)
{
    size_t at = str_find(text, STR("  # "));
    ret->code = str_trim(str_first(text, at));
    ret->comment = at < text.n ? str_trim(str_from(text, at + STR("  # ").n)) : STR("");
}

static bool read_tree_line(struct str line, struct tree_guard *ret)
{
    static const struct str SOURCE = { "source=", 7 };
    uint32_t depth;
    struct str text = after_branches(line, &depth);
    size_t colon = str_find(text, STR(": "));
    if (!text.n)
        return false;
    *ret = (struct tree_guard){ .depth = depth, .kind = str_first(text, colon) };
    ret->text = text = str_from(text, colon + 2);
    size_t source = str_find(text, SOURCE);
    if (str_ends(ret->kind, STR("Manager")) && source < text.n) {
        text = str_from(text, source + SOURCE.n);
        size_t end = str_find(text, STR(", accessed_by="));
        ret->source = str_first(text, end < text.n ? end : str_find(text, STR(", type=<")));
        return true;
    }
    split_comment(text, ret);
    return true;
}

bool guard_tree_next(struct str *text, struct tree_guard *ret)
{
    while (text->n) {
        size_t end = str_find_char(*text, '\n');
        struct str line = str_first(*text, end);
        *text = str_from(*text, end + 1);
        if (read_tree_line(line, ret))
            return true;
    }
    return false;
}

bool guard_tree_read(struct trace *trace, uint32_t attempt, struct arena *arena, struct str *ret,
                     struct err *err)
{
    const struct attempt *a = &trace->attempts[attempt];
    *ret = STR("");
    for (uint32_t i = a->n_records; i-- > 0;) {
        uint32_t record = a->records[i];
        if (trace->records[record].event != EVENT_DYNAMO_CPP_GUARDS_STR)
            continue;
        struct err unreadable = { 0 };
        if (trace_payload_copy(trace, record, arena, ret, &unreadable))
            return true;
        *ret = STR("");
        return unreadable.kind == ERR_ENV ? err_copy(err, &unreadable) : true;
    }
    return true;
}

/* Reads "train.py:64 in f (why PyTorch asked)". A place of PyTorch's alone is in parentheses. */
static void read_place(struct str text, struct tree_place *ret)
{
    size_t in = str_find(text, STR(" in "));
    struct str place = str_first(text, in);
    size_t colon = place.n;
    while (colon && place.p[colon - 1] != ':')
        colon--;
    uint64_t line;
    if (colon == 0 || str_starts(text, STR("(")) || !str_to_u64(str_from(place, colon), &line) ||
        line > UINT32_MAX)
        return;
    ret->file = str_first(place, colon - 1);
    ret->line = (uint32_t)line;
    ret->function = in < text.n ? str_from(text, in + 4) : STR("");
    ret->function = str_first(ret->function, str_find(ret->function, STR(" (")));
}

/* Returns where the place's mark, "  # ", is: the first one, or a later one where the code ends
 * with a comment of its own, "if rank != 1:  # why  # train.py:26 in f". Behind it more pairs of
 * code and place may follow. */
static size_t find_mark(struct str comment)
{
    const struct str mark = STR("  # ");
    size_t first = str_find(comment, mark);
    for (size_t at = first; at < comment.n;) {
        struct tree_place place = { 0 };
        struct str rest = str_from(comment, at + mark.n);
        size_t next = str_find(rest, mark);
        read_place(rest, &place);
        if (str_starts(rest, STR("(")) || (place.line && !str_contains(place.file, mark)))
            return at;
        at += mark.n + next;
    }
    return first;
}

struct tree_place guard_tree_place(struct str comment)
{
    struct tree_place ret = { 0 };
    size_t at = find_mark(comment);
    if (at < comment.n) {
        ret.code = str_first(comment, at);
        read_place(str_from(comment, at + STR("  # ").n), &ret);
    } else {
        read_place(comment, &ret);
    }
    return ret;
}
