#include "minify/issue.h"

#include "minify/signature.h"

static struct str first_line(struct str text)
{
    text = str_trim(text);
    return str_trim(str_first(text, str_find_char(text, '\n')));
}

static const struct answer *first(const struct issue *issue)
{
    return &issue->result->first;
}

void issue_title(const struct issue *issue, struct buf *out)
{
    const struct signature *signature = &first(issue)->signature;
    struct buf text = BUF_INIT;
    struct str said = first_line(first(issue)->text);
    buf_puts(out, issue->best->n_symbols ? "[dynamic shapes] " : "");
    if (signature->op.n)
        buf_printf(out, "%.*s: ", STR_ARG(signature->op));
    else if (signature->kind.n)
        buf_printf(out, "%.*s: ", STR_ARG(signature->kind));
    /* What was asked for by its name is what others would look for. */
    bool named = str_is(signature->kind, "guard") || str_is(signature->kind, "specializes") ||
                 str_is(signature->kind, "cost");
    if (named)
        buf_put(&text, said);
    else
        signature_normalise(said.n ? said : signature->message, &text);
    buf_put(out, str_first(buf_str(&text), 120));
    buf_release(&text);
}

/* A fence longer than any in the text. */
static void put_fenced(struct buf *out, const char *language, struct str text)
{
    size_t longest = 2, run = 0;
    for (size_t i = 0; i < text.n; i++) {
        run = text.p[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i <= longest; i++)
            buf_putc(out, '`');
        buf_printf(out, "%s\n", side ? "" : language);
        if (side == 0) {
            buf_put(out, text);
            if (!str_ends(text, STR("\n")))
                buf_putc(out, '\n');
        }
    }
    buf_putc(out, '\n');
}

static void put_error(const struct issue *issue, struct buf *out)
{
    struct str error = str_trim(first(issue)->text);
    if (error.n) {
        buf_puts(out, "### Error\n\n");
        put_fenced(out, "", str_first(error, 4000));
    }
    if (issue->eager.n)
        buf_printf(out, "Without any compiler it fails too: `%.*s`\n\n",
                   STR_ARG(first_line(issue->eager)));
}

static void put_repro(const struct issue *issue, struct buf *out)
{
    buf_puts(out, "### Repro\n\nExit code 1: the bug is there, 0: it is not, 125: cannot run.\n\n");
    if (issue->cannot && issue->cannot[0])
        buf_printf(out, "PyTorch alone cannot run it: %s.\n\n", issue->cannot);
    put_fenced(out, "python", issue->repro);
    if (issue->verified) {
        buf_puts(out, "The repro was ");
        repro_verified_print(issue->verified, out);
        buf_puts(out, ".\n\n");
    }
}

static void put_whys(const struct issue *issue, struct buf *out)
{
    const struct why_list *whys = issue->whys;
    if (!whys || whys->list.n == 0)
        return;
    buf_puts(out, "### Why each part is there\n\n| part | taken away | then |\n|---|---|---|\n");
    for (size_t i = 0; i < whys->list.n; i++) {
        const struct why *why = &whys->list.v[i];
        buf_printf(out, "| `%.*s` | %.*s | ", STR_ARG(why->element), STR_ARG(why->taken));
        for (size_t k = 0; k < why->result.n; k++) { /* '|' ends a cell */
            if (why->result.p[k] == '|')
                buf_putc(out, '\\');
            buf_putc(out, why->result.p[k]);
        }
        buf_puts(out, " |\n");
    }
    buf_putc(out, '\n');
}

static void put_versions(const struct issue *issue, struct buf *out)
{
    buf_puts(out, "### Versions\n\n");
    if (issue->best->torch_version.n)
        buf_printf(out, "- recorded with PyTorch %.*s\n", STR_ARG(issue->best->torch_version));
    if (issue->verified && issue->verified->version[0])
        buf_printf(out, "- repro run with PyTorch %s\n", issue->verified->version);
    buf_printf(out, "- reduced with symtape %s\n\n", issue->symtape_version);
}

static void put_reduction(const struct issue *issue, struct buf *out)
{
    const struct minify_result *r = issue->result;
    buf_printf(out,
               "### How it was reduced\n\nFrom %llu calls, %llu symbols and %llu guards to %llu, "
               "%llu and %llu, with %llu questions in %.1f s",
               (unsigned long long)r->before.part[SIZE_CALLS],
               (unsigned long long)r->before.part[SIZE_SYMBOLS],
               (unsigned long long)r->before.part[SIZE_FACTS],
               (unsigned long long)r->after.part[SIZE_CALLS],
               (unsigned long long)r->after.part[SIZE_SYMBOLS],
               (unsigned long long)r->after.part[SIZE_FACTS], (unsigned long long)r->calls,
               r->seconds);
    if (issue->oracle.n)
        buf_printf(out, " (`symtape minify %.*s`)", STR_ARG(issue->oracle));
    buf_puts(out, r->minimal ? ". No single part can be taken away and leave the failure.\n"
                             : ". It may get smaller still: the search was not finished.\n");
    if (r->rate_asked > 1)
        buf_printf(out, "Asked again, it failed %u of %u times.\n", (unsigned)r->rate_hits,
                   (unsigned)r->rate_asked);
}

bool issue_print(const struct issue *issue, struct buf *out)
{
    buf_puts(out, "# ");
    issue_title(issue, out);
    buf_puts(out, "\n\n");
    put_error(issue, out);
    put_repro(issue, out);
    put_whys(issue, out);
    put_versions(issue, out);
    put_reduction(issue, out);
    return !out->failed;
}
