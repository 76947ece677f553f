/* --python: one input of each region as a Python program. Texts of a tape get into it through
 * minify/program/python_text.h only (tests/program_text.sh). */
#include "cmd/inputs/inputs.h"
#include "minify/program/python_text.h"
#include "profile/calls/tree/guard_owner.h"
#include "replay/attempt/changes/hints.h"

static const char HEAD[] =
    "\"\"\"One input for each region of sizes that symtape inputs found.\n"
    "\n"
    "REGIONS has a row for each: the compile, the number of the region, what it is, its sizes, and\n"
    "the arguments by source. Modules and globals are not listed.\n"
    "\"\"\"\n"
    "import torch\n"
    "\n"
    "\n"
    "def tensor(size, stride, dtype):\n"
    "    n = 0 if 0 in size else 1 + sum((a - 1) * b for a, b in zip(size, stride))\n"
    "    return torch.randint(0, 2, (n,)).to(dtype).as_strided(size, stride)\n"
    "\n"
    "\n"
    "REGIONS = [\n";

void regions_python_begin(struct inputs_run *run)
{
    buf_puts(&run->text, HEAD);
}

void regions_python_end(struct inputs_run *run)
{
    buf_puts(&run->text, "]\n");
}

static void put_numbers(const int64_t *numbers, uint32_t n, struct buf *out)
{
    buf_puts(out, "[");
    for (uint32_t i = 0; i < n; i++)
        buf_printf(out, i ? ", %lld" : "%lld", (long long)numbers[i]);
    buf_puts(out, "]");
}

static void put_input(const struct input *input, struct buf *out)
{
    const struct input_tensor *t = &input->tensor;
    struct str source = input->kind == INPUT_SYMBOL ? input->symbol.source : t->source;
    if (!source.n || !owner_is_argument(guard_owner(source)))
        return;
    if (input->kind == INPUT_SYMBOL) {
        struct buf number = BUF_INIT;
        if (str_find(source, STR(".size()")) == source.n &&
            python_put_number(&number, input->symbol.value)) {
            buf_puts(out, "        ");
            python_put_string(out, source);
            buf_puts(out, ": ");
            python_put_number(out, input->symbol.value);
            buf_puts(out, ",\n");
        }
        out->failed |= number.failed;
        buf_release(&number);
        return;
    }
    if (t->of_module || t->attribute || !t->concrete)
        return;
    buf_puts(out, "        ");
    python_put_string(out, t->source);
    buf_puts(out, ": tensor(");
    put_numbers(t->size, t->ndim, out);
    buf_puts(out, ", ");
    put_numbers(t->stride, t->ndim, out);
    buf_puts(out, ", ");
    buf_puts(out, dtype_python_name(t->dtype));
    buf_puts(out, "),\n");
}

/* The sizes of a region as hints. */
static bool region_sets(const struct conditions *conditions, const struct region *region,
                        struct input_set *sets, size_t *n, struct arena *arena)
{
    *n = 0;
    for (size_t i = 0; i < conditions->symbols.n; i++) {
        const struct condition_symbol *s = &conditions->symbols.v[i];
        struct buf text = BUF_INIT;
        if (!s->has_hint)
            continue;
        buf_i64(&text, region->smallest[i]);
        sets[*n] = (struct input_set){ s->name, arena_copy(arena, buf_str(&text)) };
        bool ok = !text.failed && sets[*n].value.p;
        buf_release(&text);
        if (!ok)
            return false;
        ++*n;
    }
    return true;
}

static bool put_region(struct inputs_run *run, const struct conditions *conditions,
                       const struct regions *regions, size_t number, struct arena *arena,
                       struct err *err)
{
    const struct region *region = &regions->list.v[number];
    struct input_set *sets = arena_array(arena, struct input_set, conditions->symbols.n + 1);
    struct inputs inputs = { 0 };
    struct buf name = BUF_INIT, *out = &run->text;
    struct err why = { 0 };
    size_t n = 0, found = 0;
    if (!sets || !region_sets(conditions, region, sets, &n, arena))
        return err_nomem(err);
    bool ok = conditions->attempt == TRACE_NONE ||
              inputs_read(run->tape.trace, conditions->attempt, &inputs, err);
    bool made = ok && inputs_set_hints(&inputs, sets, n, &found, &why);
    if (ok && !made && why.no_memory)
        ok = err_nomem(err);
    inputs_put_name(run, conditions, &name);
    if (made) {
        buf_puts(out, "    (");
        python_put_string(out, buf_str(&name));
        buf_printf(out, ", %zu, ", number + 1);
        python_put_string(out, str_of(region_kind_name(region->kind)));
        buf_puts(out, ", ");
        python_put_string(out, region->words);
        buf_puts(out, ", {\n");
        for (size_t i = 0; i < inputs.list.n; i++)
            put_input(&inputs.list.v[i], out);
        buf_puts(out, "    }),\n");
    } else if (ok) {
        buf_puts(out, "    ");
        python_put_comment(out, str_of(why.text));
    }
    out->failed |= name.failed;
    buf_release(&name);
    inputs_release(&inputs);
    return ok;
}

bool regions_python(struct inputs_run *run, const struct conditions *conditions,
                    const struct regions *regions, struct err *err)
{
    struct arena arena = ARENA_INIT;
    bool ok = true;
    for (size_t i = 0; i < regions->list.n && ok; i++)
        ok = put_region(run, conditions, regions, i, &arena, err);
    arena_release(&arena);
    return ok;
}
