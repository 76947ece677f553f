#include "trace/log/redact/redact_parts.h"

/* Returns whether an absolute path may begin at the slash after in[0 .. at). It may not where it
 * continues a relative path, a division or a template. But "\n" in a quoted text ends what
 * precedes it, and -I, -L, -B and -F of compilers are followed by a path without a space. */
static bool path_may_follow(struct str in, size_t at, bool two_slashes)
{
    char before = at > 0 ? in.p[at - 1] : '\0', two_before = at > 1 ? in.p[at - 2] : '\0';
    if (before == '\0')
        return true;
    if (before == ':')
        return !two_slashes; /* http:// is no path */
    if (two_before == '\\' && strchr("nrt", before))
        return true;
    if (two_before == '-' && strchr("ILBF", before))
        return true;
    return !is_word_char(before) && !strchr(".~-+@%)]}$", before);
}

/* Returns the offset at which scanning continues. */
static size_t scan_slashes(struct redact *redact, struct text_edit *edit, size_t at)
{
    size_t last = at, end = 0;
    while (char_at(edit->in, last + 1) == '/')
        last++;
    if (path_may_follow(edit->in, at, last - at == 1))
        end = redact_path(redact, edit, last);
    return end > 0 ? end : last + 1;
}

/* Returns whether the text is a drive: C:\Users\ann or C:/Users/ann. */
static bool is_drive(struct str in, size_t at, size_t end)
{
    return end == at + 1 && in.p[at] >= 'A' && in.p[at] <= 'Z' && char_at(in, end) == ':' &&
           (char_at(in, end + 1) == '\\' || char_at(in, end + 1) == '/');
}

/* Returns the end of a dotted name such as torch.ops.aten.add.Tensor, whose words are no names
 * of users. */
static size_t dotted_end(struct str in, size_t end)
{
    while (char_at(in, end) == '.' && is_word_char(char_at(in, end + 1)))
        for (end++; is_word_char(char_at(in, end));)
            end++;
    return end;
}

/* Rewrites torchinductor_ann outside of a path. Many settings begin like that, so only known
 * names are replaced. */
static size_t scan_inductor_folder(const struct redact *redact, struct text_edit *edit, size_t at)
{
    struct str prefix = STR("torchinductor_"), user;
    size_t from = at + prefix.n;
    size_t end = str_starts(str_from(edit->in, at), prefix) && from < edit->in.n
                     ? redact_find_name(redact, edit->in, from, &user)
                     : 0;
    if (end > 0)
        buf_put(edit_replace(edit, from, end), user);
    return end;
}

static size_t scan_redacted_word(struct redact *redact, struct text_edit *edit, size_t at)
{
    struct str in = edit->in, replacement;
    size_t end = at, next;
    while (end < in.n && is_word_char(in.p[end]))
        end++;
    if (str_is(str_between(in, at, end), "torch"))
        return dotted_end(in, end);
    if (is_drive(in, at, end) && (next = redact_path(redact, edit, at)))
        return next;
    if ((next = redact_shapes(redact, edit, at, end)))
        return next;
    if ((next = redact_variables(redact, edit, at, end)))
        return next;
    if ((next = scan_inductor_folder(redact, edit, at)))
        return next;
    if ((next = redact_find_name(redact, in, at, &replacement))) {
        buf_put(edit_replace(edit, at, next), replacement);
        return next;
    }
    return end;
}

/* Rewrites \\server\share, also with doubled backslashes. It returns the offset at which
 * scanning continues. */
static size_t scan_backslashes(struct redact *redact, struct text_edit *edit, size_t at)
{
    struct str in = edit->in;
    size_t server = at, end, share;
    while (char_at(in, server) == '\\')
        server++;
    for (end = server;
         is_word_char(char_at(in, end)) || char_at(in, end) == '.' || char_at(in, end) == '-';)
        end++;
    for (share = end; char_at(in, share) == '\\';)
        share++;
    bool even = server - at == 2 || server - at == 4;
    bool unc = even && end - server > 1 && (share - end) * 2 == server - at &&
               is_word_char(char_at(in, share)) &&
               (at == 0 || (!is_word_char(in.p[at - 1]) && in.p[at - 1] != '.'));
    size_t next = unc ? redact_path(redact, edit, at) : 0;
    return next > 0 ? next : server;
}

static size_t scan_comment(struct redact *redact, struct text_edit *edit, size_t at)
{
    size_t end = redact_comment(edit->in, at);
    if (end > 0)
        edit_replace(edit, at, end);
    else
        end = redact_place(redact, edit, at);
    return end > 0 ? end : at + 1;
}

bool redact_rules(struct redact *redact, struct str in, struct buf *out)
{
    struct text_edit edit = edit_of(in, out);
    for (size_t i = 0; i < in.n;) {
        if (in.p[i] == '/')
            i = scan_slashes(redact, &edit, i);
        else if (is_word_char(in.p[i]))
            i = scan_redacted_word(redact, &edit, i);
        else if (in.p[i] == '\\' && char_at(in, i + 1) == '\\')
            i = scan_backslashes(redact, &edit, i);
        else if (in.p[i] == '#')
            i = scan_comment(redact, &edit, i);
        else
            i++;
    }
    if (edit.changed)
        edit_finish(&edit);
    return edit.changed;
}

bool redact_scan(struct redact *redact, struct str in, struct buf *out)
{
    size_t from = out->n;
    if (!redact_rules(redact, in, out))
        return redact_find_values(redact, in, out);
    struct str text = str_from(buf_str(out), from);
    struct buf *found = &redact->found_values;
    buf_clear(found);
    if (!out->failed && redact_find_values(redact, text, found)) {
        out->n = from;
        buf_put(out, buf_str(found));
    }
    out->failed |= found->failed;
    return true;
}
