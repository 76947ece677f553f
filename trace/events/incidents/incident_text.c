#include "trace/events/incidents/incident_text.h"

#include "trace/events/user_line.h"

/* Returns the text between two marks; up to the end when the second one is missing. */
static struct str text_between_marks(struct str text, struct str from, struct str to)
{
    size_t start = str_find(text, from);
    if (start == text.n)
        return STR("");
    text = str_from(text, start + from.n);
    return str_trim(str_first(text, str_find(text, to)));
}

/* Splits "FILE:LINE"; false when there is no line number at the end. */
static bool split_place(struct str place, struct str *file, uint32_t *line)
{
    size_t colon = place.n;
    while (colon > 0 && place.p[colon - 1] != ':')
        colon--;
    uint64_t number;
    if (colon == 0 || !str_to_u64(str_from(place, colon), &number) || number > UINT32_MAX)
        return false;
    *file = str_first(place, colon - 1);
    *line = (uint32_t)number;
    return true;
}

bool traceback_program_frame(struct str text, struct traceback_frame *ret)
{
    struct traceback_frame frame;
    bool found = false;
    while (traceback_next(&text, &frame)) {
        if (found && torch_is_own_file(frame.file))
            continue;
        *ret = frame;
        found = true;
    }
    return found;
}

struct str text_summary(struct str text)
{
    struct str line;
    while (text_next_line(&text, &line)) {
        line = str_trim(line);
        if (line.n > 0)
            return line;
    }
    return STR("");
}

/* Returns the cause of a graph break. In versions that explain breaks it stands in front of
 * "Explanation:", either behind "Graph Break Reason:" or in a paragraph of its own; in older ones
 * it follows "Reason:". */
static struct str break_summary(struct str reason)
{
    static const struct str NAMED = { "Graph Break Reason: ", 20 };
    struct str named = str_from(reason, str_find(reason, NAMED) + NAMED.n);
    struct str line;
    if (text_next_line(&named, &line) && str_starts(str_trim(named), STR("Explanation:")) &&
        !str_starts(named, STR("\n")))
        return str_trim(line);
    struct str explained = str_from(reason, str_find(reason, STR("\n\n")));
    struct str summary = text_summary(explained);
    if (summary.n > 0)
        return summary;
    summary = text_between_marks(reason, STR("Reason:"), STR("\n"));
    return summary.n > 0 ? summary : text_summary(reason);
}

struct break_text break_text_parse(struct str text)
{
    struct break_text b = { .reason = text, .file = STR("") };
    size_t end = str_find(text, STR("\nUser code traceback:"));
    b.traceback = traceback_of_user(text);
    b.reason = str_trim(str_first(text, end));
    split_place(text_between_marks(b.reason, STR("Graph break in user code at "), STR("\n")),
                &b.file, &b.line);
    b.summary = break_summary(b.reason);
    b.explanation = text_between_marks(b.reason, STR("Explanation: "), STR("\n  "));
    b.hint = text_between_marks(b.reason, STR("Hint: "), STR("\n"));
    b.skipped = str_find(b.reason, STR("falling back to eager")) < b.reason.n;
    return b;
}

static bool is_compile_id(struct str text)
{
    bool slash = false;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '/')
            slash = true;
        else if (c != '!' && (c < '0' || c > '9'))
            return false;
    }
    return slash;
}

/* Reads the end of a guard's comment, "# CODE  # FILE:LINE in FUNCTION". A comment without a user's
 * line has only PyTorch's place, in parentheses (_get_sloc in
 * torch/fx/experimental/symbolic_shapes.py). */
static void place_in_comment(struct str text, struct recompile_text *ret)
{
    for (size_t hash = str_find_char(text, '#'); hash < text.n; hash = str_find_char(text, '#')) {
        text = str_trim(str_from(text, hash + 1));
        if (str_starts(text, STR("(")))
            break;
        if (ret->code.n == 0)
            ret->code = str_trim(str_first(text, str_find(text, STR("  # "))));
        struct str place = str_first(text, str_find(text, STR(" in ")));
        if (place.n < text.n && str_find_char(place, ' ') == place.n &&
            split_place(place, &ret->file, &ret->line))
            return;
    }
    ret->code = STR("");
}

/* Returns the user's line of a traceback in *ret: the innermost one of the program, or else of a
 * library. */
static bool traceback_user(struct str text, struct traceback_frame *ret)
{
    struct traceback_frame frame = { .line = 0 };
    enum user_file best = USER_FILE_TORCH;
    bool found = false;
    while (traceback_next(&text, &frame)) {
        enum user_file kind = user_file_of(frame.file);
        if (found && kind < best)
            continue;
        *ret = frame;
        best = kind;
        found = true;
    }
    return found;
}

struct recompile_text recompile_text_parse(struct str text)
{
    struct recompile_text r = {
        .compile = STR(""), .guard = str_trim(text), .file = STR(""), .code = STR("")
    };
    size_t colon = str_find(r.guard, STR(": "));
    if (colon < r.guard.n && is_compile_id(str_first(r.guard, colon))) {
        r.compile = str_first(r.guard, colon);
        r.guard = str_trim(str_from(r.guard, colon + 2));
    }
    struct traceback_frame frame = { .line = 0 };
    if (traceback_user(traceback_of_user(text), &frame)) {
        r.file = frame.file;
        r.line = frame.line;
        r.code = frame.code;
    } else {
        place_in_comment(r.guard, &r);
    }
    struct str line = text_summary(r.guard);
    r.guard = str_trim(str_first(line, str_find(line, STR("  # "))));
    return r;
}

struct str restart_summary(struct str reason)
{
    struct str class_ = text_between_marks(reason, STR("<class '"), STR("'>"));
    if (!str_starts(str_trim(reason), STR("<class '")) || class_.n == 0)
        return text_summary(reason);
    size_t dot = class_.n;
    while (dot > 0 && class_.p[dot - 1] != '.')
        dot--;
    return str_from(class_, dot);
}

/* The exceptions of torch/_dynamo/exc.py. */
static const struct {
    struct str exception, meaning;
} RESTARTS[] = {
#define TEXT(literal)               \
    {                               \
        literal, sizeof literal - 1 \
    }
    { TEXT("TensorifyScalarRestartAnalysis"), TEXT("a float was specialized") },
    { TEXT("SpeculationRestartAnalysis"), TEXT("a graph break was found further on") },
    { TEXT("UnspecializeRestartAnalysis"), TEXT("a module is to be treated as an object") },
    { TEXT("CompileCollectiveRestartAnalysis"), TEXT("ranks agreed on the dynamic sizes") },
    { TEXT("AutogradGradRestartAnalysis"), TEXT("autograd.grad used a graph that is returned") },
    { TEXT("RequiresGradRestartAnalysis"), TEXT("the result of requires_grad_() is returned") },
    { TEXT("Unknown fail_and_restart_analysis"), TEXT("tracing failed and was tried differently") },
#undef TEXT
};

struct str restart_meaning(struct str summary)
{
    for (size_t i = 0; i < sizeof RESTARTS / sizeof *RESTARTS; i++)
        if (str_eq(RESTARTS[i].exception, summary))
            return RESTARTS[i].meaning;
    return STR("");
}

/* Returns whether a line is "torch._dynamo.exc.UserError: message": a dotted name alone, then a
 * colon or the end. */
static bool is_exception_line(struct str line, size_t *name_end)
{
    size_t n = 0;
    for (; n < line.n; n++) {
        char c = line.p[n];
        if ((!is_word_char(c) && c != '.') || (n == 0 && is_digit(c)))
            break;
    }
    *name_end = n;
    return n > 0 && (n == line.n || line.p[n] == ':');
}

bool exception_parse(struct str text, struct str *type, struct str *message)
{
    struct str line, name = STR("");
    bool traced = false;
    while (text_next_line(&text, &line)) {
        size_t end;
        if (str_starts(line, STR("Traceback (most recent call last)"))) {
            traced = true;
        } else if (traced && line.n > 0 && line.p[0] != ' ' && is_exception_line(line, &end)) {
            name = str_first(line, end);
            struct str rest = str_from(line, end + 1);
            *message = str_trim((struct str){ rest.p, rest.n + (text.n ? text.n + 1 : 0) });
            traced = false;
        }
    }
    size_t dot = name.n;
    while (dot > 0 && name.p[dot - 1] != '.')
        dot--;
    *type = str_from(name, dot);
    return name.n > 0;
}

/* "... : got ValueError('Cannot view a tensor ...')": Dynamo prints the exception of a fake
 * tensor's operator like this (_wrap_graph_break_with_torch_runtime_err of torch/_dynamo/utils.py).
 */
static bool quoted_cause(struct str text, struct str *type, struct str *message)
{
    static const struct str GOT = { ": got ", 6 };
    struct str rest = str_from(text, str_find(text, GOT) + GOT.n);
    rest = str_first(rest, str_find_char(rest, '\n'));
    size_t open = str_find_char(rest, '('), end = rest.n;
    for (size_t i = 0; i < open; i++)
        if (!is_word_char(rest.p[i]) && rest.p[i] != '.')
            return false;
    while (end > open && rest.p[end - 1] != ')')
        end--;
    if (open == 0 || open == rest.n || end < open + 4)
        return false;
    *type = str_first(rest, open);
    *message = str_first(str_from(rest, open + 2), end - open - 4);
    return true;
}

bool exception_cause(struct str text, struct str *type, struct str *message)
{
    static const char *const LINKS[] = { "\nThe above exception was the direct cause of",
                                         "\nDuring handling of the above exception" };
    size_t first = text.n;
    for (size_t i = 0; i < sizeof LINKS / sizeof *LINKS; i++) {
        size_t at = str_find(text, str_of(LINKS[i]));
        first = at < first ? at : first;
    }
    if (first < text.n && exception_parse(str_first(text, first), type, message))
        return true;
    return quoted_cause(text, type, message);
}
