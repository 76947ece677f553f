/* Patches of any program by any remedies, as symtape advise --apply makes them. The input is a line
 * for each remedy (marks as "L['x']:0", or the text of the remedy), an empty line, and the program.
 * What a patch takes away and leaves is the program, what it adds is printable, and its headers
 * count its lines. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "profile/advice/patch/call_site.h"
#include "profile/advice/patch/program_patch.h"

enum { MOST_REMEDIES = 8, MAX_TEXT = 1 << 14 };

/* ---- The patch ---- */

struct patch_walk {
    struct str program, patch; /* what is left of each */
    size_t line;               /* of the program, from 1: the next one */
};

static struct str take_line(struct str *text)
{
    struct str ret = str_first(*text, str_find_char(*text, '\n') + 1);
    *text = str_from(*text, ret.n);
    return ret;
}

static size_t take_number(struct str *text, const char *before)
{
    uint64_t ret;
    FUZZ_CHECK(str_starts(*text, str_of(before)));
    *text = str_from(*text, strlen(before));
    struct str digits = str_first(*text, str_digits(*text));
    FUZZ_CHECK(str_to_u64(digits, &ret));
    *text = str_from(*text, digits.n);
    return ret;
}

/* Returns a line of a hunk without its sign, and without its end if the program has none there. */
static struct str hunk_line(struct patch_walk *w, struct str line)
{
    static const struct str NO_END = { "\\ No newline at end of file\n", 28 };
    struct str text = str_from(line, 1);
    if (!str_starts(w->patch, NO_END))
        return text;
    w->patch = str_from(w->patch, NO_END.n);
    FUZZ_CHECK(str_ends(text, STR("\n")));
    return str_first(text, text.n - 1);
}

static void check_hunk(struct patch_walk *w)
{
    struct str head = take_line(&w->patch);
    size_t first = take_number(&head, "@@ -"), before = take_number(&head, ",");
    size_t now = take_number(&head, " +"), after = take_number(&head, ",");
    FUZZ_CHECK(str_is(head, " @@\n") && first >= w->line && now > 0);
    for (; w->line < first; w->line++)
        FUZZ_CHECK(take_line(&w->program).n > 0);
    while (before + after > 0) {
        struct str line = take_line(&w->patch);
        FUZZ_CHECK(line.n > 0 && strchr(" -+", line.p[0]));
        struct str text = hunk_line(w, line);
        if (line.p[0] != '+') {
            FUZZ_CHECK(before-- > 0 && str_eq(take_line(&w->program), text));
            w->line++;
        }
        FUZZ_CHECK(line.p[0] == '-' || after-- > 0);
    }
}

static void check_patch(struct str program, struct str patch)
{
    struct patch_walk w = { .program = program, .patch = patch, .line = 1 };
    if (!patch.n)
        return;
    FUZZ_CHECK(str_is(take_line(&w.patch), "--- p.py\n"));
    FUZZ_CHECK(str_is(take_line(&w.patch), "+++ p.py\n"));
    while (w.patch.n)
        check_hunk(&w);
}

/* ---- The advice ---- */

/* Advice of one finding, all of whose remedies are taken. */
struct made {
    struct recording recording;
    struct trace trace;
    struct profile profile;
    struct finding finding;
    struct diagnosis diagnosis;
    struct remedy remedies[MOST_REMEDIES];
    struct advice_item items[MOST_REMEDIES];
    struct advice_step steps[MOST_REMEDIES];
    struct advice advice;
};

static void add_remedy(struct made *m, struct str text)
{
    uint32_t i = m->finding.n_remedies++;
    bool maybe = str_contains(text, STR("maybe_mark_dynamic("));
    bool check = str_contains(text, STR("torch._check(")), dim = str_contains(text, STR(" = Dim("));
    m->remedies[i] = (struct remedy){ .kind = maybe   ? REMEDY_MAYBE_MARK_DYNAMIC
                                              : check ? REMEDY_TORCH_CHECK
                                              : dim   ? REMEDY_DIM_RELATION
                                                      : REMEDY_CHANGE_SETTING,
                                      .text = text };
    m->items[i] = (struct advice_item){ .remedy = i };
    m->steps[i] = (struct advice_step){ .item = i };
    if (str_starts(text, STR("L["))) {
        buf_put(&m->items[i].plan.marks, text);
        FUZZ_CHECK(call_plan_merge(&m->advice.plan, &m->items[i].plan));
    }
}

static void make(struct made *m)
{
    m->recording.torch_version = STR("2.13.0");
    m->trace.recordings = &m->recording;
    m->trace.n_recordings = 1;
    m->finding.file = STR("/home/user/p.py");
    m->finding.compile = PROFILE_NONE;
    m->finding.remedies = m->remedies;
    m->diagnosis = (struct diagnosis){ &m->profile, &m->finding, 1 };
    m->advice.diagnosis = &m->diagnosis;
    m->advice.has_calls = true;
    m->advice.replay.trace = &m->trace;
    m->advice.items = m->items;
    m->advice.together = m->steps;
}

/* What is marked at a call is plain text. */
static void read_call(const struct made *m, struct str program)
{
    struct program_lines lines = { 0 };
    struct call_site site;
    FUZZ_CHECK(program_lines_read(&lines, program));
    const struct call_place place = { STR("f"), 1, (uint32_t)lines.v.n };
    for (uint32_t i = 0; i < m->finding.n_remedies && call_site_read(&lines, place, &site); i++) {
        struct str mark = m->remedies[i].text;
        struct buf out = BUF_INIT;
        if (call_site_put(&site, str_first(mark, str_find_char(mark, ':')), &out))
            FUZZ_CHECK(out.n > 0 && !str_contains(buf_str(&out), STR(" ")));
        else
            FUZZ_CHECK(!out.n);
        buf_release(&out);
    }
    program_lines_release(&lines);
}

static void patch(struct made *m, struct str program)
{
    struct program_patch patch;
    struct err err = { .kind = ERR_NONE };
    m->advice.n_items = m->advice.n_together = m->finding.n_remedies;
    FUZZ_CHECK(program_patch_make(&m->advice, STR("p.py"), program, &patch, &err));
    FUZZ_CHECK(patch.n_applied <= m->advice.n_together && (patch.n_applied || !patch.diff.n));
    check_patch(program, buf_str(&patch.diff));
    program_patch_release(&patch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = { (const char *)data, size };
    struct made *m = calloc(1, sizeof *m);
    FUZZ_CHECK(m);
    make(m);
    for (struct str line; size <= MAX_TEXT && (line = take_line(&text)).n > 1;)
        if (m->finding.n_remedies < MOST_REMEDIES)
            add_remedy(m, str_first(line, str_find_char(line, '\n')));
    struct str rest = text;
    for (; m->finding.line < 3; m->finding.line++)
        m->finding.code = str_trim(take_line(&rest));
    patch(m, text);
    read_call(m, text);
    for (uint32_t i = 0; i < m->finding.n_remedies; i++)
        call_plan_release(&m->items[i].plan);
    call_plan_release(&m->advice.plan);
    free(m);
    return 0;
}
