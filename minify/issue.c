#include "minify/issue.h"

#include <inttypes.h>

#include "minify/process/signature.h"
#include "trace/base/text/markdown.h"
#include "trace/base/text/printable.h"

enum { TITLE_CHARACTERS = 120, ERROR_BYTES = 4000 };

static struct str first_line_of(struct str text)
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
    struct str said = first_line_of(first(issue)->text);
    struct str what = signature->op.n ? signature->op : signature->kind;
    if (what.n)
        buf_printf(&text, "%.*s: ", STR_ARG(what));
    /* Others search for the name of a guard or symbol that the user gave. */
    bool named = str_is(signature->kind, "guard") || str_is(signature->kind, "specializes") ||
                 str_is(signature->kind, "cost");
    if (named)
        buf_put(&text, said);
    else
        signature_normalise(said.n ? said : signature->message, &text);
    buf_puts(out, issue->best->n_symbols ? "[dynamic shapes] " : "");
    markdown_title(out, buf_str(&text), TITLE_CHARACTERS);
    out->failed |= text.failed;
    buf_release(&text);
}

static void put_paragraph(struct buf *out, const char *before, struct str text)
{
    buf_puts(out, before);
    markdown_text(out, text);
    buf_puts(out, ".\n\n");
}

/* Prints lines as code. */
static void put_shown(struct buf *out, struct str lines)
{
    struct buf text = BUF_INIT;
    printable_put(&text, lines);
    markdown_block(out, "", buf_str(&text));
    out->failed |= text.failed;
    buf_release(&text);
}

static void put_issue_failure(const struct issue *issue, struct buf *out)
{
    struct str error = str_trim(first(issue)->text);
    if (error.n) {
        struct buf text = BUF_INIT;
        struct str kind = first(issue)->signature.kind;
        if (str_ends(kind, STR("Error")) || str_ends(kind, STR("Exception")))
            buf_printf(&text, "%.*s: ", STR_ARG(kind));
        buf_put(&text, str_first(error, ERROR_BYTES));
        buf_puts(out, "### Error\n\n");
        put_shown(out, buf_str(&text));
        out->failed |= text.failed;
        buf_release(&text);
    }
    if (issue->compiler.n)
        put_paragraph(out, "What fails in PyTorch, by its compiler bisector: ", issue->compiler);
    if (issue->eager.n) {
        buf_puts(out, "Without any compiler it fails too: ");
        markdown_code(out, first_line_of(issue->eager));
        buf_puts(out, "\n\n");
    }
}

static void put_repro(const struct issue *issue, struct buf *out)
{
    buf_puts(out, "### Repro\n\n");
    if (issue->cannot && issue->cannot[0])
        put_paragraph(out, "PyTorch alone cannot run it: ", str_of(issue->cannot));
    markdown_block(out, "python", issue->repro);
    if (issue->verified) {
        struct buf text = BUF_INIT;
        repro_verified_print(issue->verified, &text);
        put_paragraph(out, "Verification: ", buf_str(&text));
        out->failed |= text.failed;
        buf_release(&text);
    }
}

static void put_reasons(const struct issue *issue, struct buf *out)
{
    const struct why_list *whys = issue->whys;
    if (!whys || whys->list.n == 0)
        return;
    buf_printf(out, "### Why %s is needed\n\n",
               whys->is_short ? "each of the first parts" : "each part");
    buf_puts(out, "| part | removed | then |\n|---|---|---|\n");
    for (size_t i = 0; i < whys->list.n; i++) {
        const struct why *why = &whys->list.v[i];
        buf_puts(out, "| ");
        markdown_cell_code(out, why->element);
        buf_puts(out, " | ");
        markdown_text(out, why->taken);
        buf_puts(out, " | ");
        markdown_text(out, why->result);
        buf_puts(out, " |\n");
    }
    buf_putc(out, '\n');
}

static void put_version(struct buf *out, const char *what, struct str version)
{
    buf_puts(out, what);
    markdown_text(out, version);
    buf_putc(out, '\n');
}

static void put_issue_versions(const struct issue *issue, struct buf *out)
{
    buf_puts(out, "### Versions\n\n");
    if (issue->best->torch_version.n)
        put_version(out, "- recorded with PyTorch ", issue->best->torch_version);
    if (issue->verified && issue->verified->version[0])
        put_version(out, "- repro run with PyTorch ", str_of(issue->verified->version));
    if (issue->machine.n)
        put_version(out, "- ", issue->machine);
    buf_printf(out, "- reduced with symtape %s\n\n", issue->symtape_version);
}

static void put_command(const struct issue *issue, struct buf *out)
{
    struct buf command = BUF_INIT;
    buf_printf(&command, "symtape minify%s%.*s", issue->oracle.n ? " " : "",
               STR_ARG(issue->oracle));
    buf_puts(out, " (");
    markdown_code(out, buf_str(&command));
    buf_putc(out, ')');
    out->failed |= command.failed;
    buf_release(&command);
}

static void put_reduction(const struct issue *issue, struct buf *out)
{
    const struct minify_result *r = issue->result;
    const struct issue_size *before = &issue->before, *after = &issue->after;
    buf_printf(out,
               "### How it was reduced\n\nFrom %" PRIu64 " calls, %" PRIu64 " symbols and %" PRIu64
               " guards to %" PRIu64 ", %" PRIu64 " and %" PRIu64 ", with %" PRIu64
               " checks in %.1f s",
               before->calls, before->symbols, before->guards, after->calls, after->symbols,
               after->guards, r->calls, r->seconds);
    put_command(issue, out);
    buf_puts(out, r->minimal ? ". Removing any single remaining part makes the failure "
                               "disappear.\n"
                             : ". The search was not finished: a smaller graph may fail, too.\n");
    if (r->rate_asked > 1)
        buf_printf(out, "When it was run again, it failed %u of %u times.\n",
                   (unsigned)r->rate_hits, (unsigned)r->rate_asked);
}

bool issue_print(const struct issue *issue, struct buf *out)
{
    buf_puts(out, "# ");
    issue_title(issue, out);
    buf_puts(out, "\n\n");
    put_issue_failure(issue, out);
    put_repro(issue, out);
    put_reasons(issue, out);
    put_issue_versions(issue, out);
    put_reduction(issue, out);
    return !out->failed;
}
