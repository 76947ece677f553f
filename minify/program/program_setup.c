#include "minify/program/program_setup.h"

#include "minify/program/program_names.h"
#include "minify/program/python_text.h"
#include "trace/base/text/json_write.h"

/* The modules of PyTorch that --config sets. */
static const struct {
    const char *name, *module;
} configs[] = {
    { "inductor", "torch._inductor.config" },
    { "dynamo", "torch._dynamo.config" },
    { "functorch", "torch._functorch.config" },
    { "fx", "torch.fx.experimental._config" },
};
enum { CONFIGS = sizeof configs / sizeof *configs };

/* ---- Lists ---- */

/* Returns the length of the name before the '=' at the start, or 0. */
static size_t name_before_value(struct str text)
{
    size_t n = 0;
    while (n < text.n && (is_word_char(text.p[n]) || text.p[n] == '.'))
        n++;
    return n < text.n && text.p[n] == '=' ? n : 0;
}

/* Removes the first "NAME=VALUE" of a list; a comma within a value does not end it. */
static struct str take_setting(struct str *rest)
{
    size_t end = 0;
    while (end < rest->n) {
        end += str_find_char(str_from(*rest, end), ',');
        if (end < rest->n && name_before_value(str_from(*rest, end + 1)))
            break;
        end += end < rest->n;
    }
    struct str ret = str_first(*rest, end);
    *rest = str_from(*rest, end + 1);
    return ret;
}

static struct str take_import(struct str *rest)
{
    struct str ret = str_trim(str_first(*rest, str_find_char(*rest, ',')));
    *rest = str_from(*rest, str_find_char(*rest, ',') + 1);
    return ret;
}

static bool is_file(struct str import)
{
    return str_ends(import, STR(".py"));
}

struct str program_next_import_file(struct str *imports)
{
    while (imports->n) {
        struct str one = take_import(imports);
        if (is_file(one))
            return one;
    }
    return STR("");
}

static size_t folder_length(struct str path)
{
    size_t n = path.n;
    while (n > 0 && path.p[n - 1] != '/')
        n--;
    return n;
}

/* "tools/patch.py" is imported as patch. */
static struct str module_of(struct str import)
{
    if (!is_file(import))
        return import;
    struct str file = str_from(import, folder_length(import));
    return str_first(file, file.n - 3);
}

static struct str root_of(struct str dotted)
{
    return str_first(dotted, str_find_char(dotted, '.'));
}

static const char *config_module(struct str setting)
{
    struct str name = root_of(setting);
    for (size_t i = 0; i < CONFIGS; i++)
        if (str_is(name, configs[i].name))
            return configs[i].module;
    return NULL;
}

static bool uses_config(const struct program_setup *setup, const char *module)
{
    for (struct str rest = setup->config; rest.n;)
        if (config_module(take_setting(&rest)) == module)
            return true;
    return false;
}

bool program_backend_parts(struct str backend, struct str *module, struct str *name)
{
    size_t colon = str_find_char(backend, ':');
    *module = str_first(backend, colon);
    *name = str_from(backend, colon + 1);
    return colon < backend.n && python_is_dotted(*module) && python_is_dotted(*name);
}

/* Returns whether the module of the backend needs a statement of its own. */
static bool imports_backend(const struct program_setup *setup, struct str *module)
{
    struct str name;
    if (!program_backend_parts(setup->backend, module, &name))
        return false;
    for (struct str rest = setup->imports; rest.n;)
        if (str_eq(module_of(take_import(&rest)), *module))
            return false;
    return true;
}

/* ---- The check ---- */

static bool check_imports(struct str rest, struct err *err)
{
    while (rest.n) {
        struct str one = take_import(&rest);
        if (is_file(one) ? !python_is_name(module_of(one)) : !python_is_dotted(one))
            return err_set(err, ERR_USAGE,
                           "--import: \"%.*s\" is neither a module nor a file whose name Python "
                           "can import, as mylib or tools/patch.py",
                           STR_ARG(str_first(one, 200)));
    }
    return true;
}

static bool check_env(struct str rest, struct err *err)
{
    while (rest.n) {
        struct str one = take_setting(&rest);
        if (!python_is_word(str_first(one, name_before_value(one))))
            return err_set(err, ERR_USAGE, "--env: \"%.*s\" is not NAME=VALUE",
                           STR_ARG(str_first(one, 200)));
    }
    return true;
}

static bool check_config(struct str rest, struct err *err)
{
    while (rest.n) {
        struct str one = take_setting(&rest), name = str_first(one, name_before_value(one));
        if (!config_module(name) || !python_is_dotted(name) || root_of(name).n == name.n)
            return err_set(err, ERR_USAGE,
                           "--config: \"%.*s\" does not set an option of inductor, dynamo, "
                           "functorch or fx, as inductor.max_autotune=True does",
                           STR_ARG(str_first(one, 200)));
    }
    return true;
}

static bool check_backend(struct str backend, struct err *err)
{
    struct str module, name;
    return str_find_char(backend, ':') == backend.n ||
           program_backend_parts(backend, &module, &name) ||
           err_set(err, ERR_USAGE,
                   "--torch-backend: \"%.*s\" is not MODULE:NAME, as mylib.compilers:fast",
                   STR_ARG(str_first(backend, 200)));
}

bool program_setup_check(const struct program_setup *setup, struct err *err)
{
    return program_check_allow(setup->allow, err) && check_imports(setup->imports, err) &&
           check_env(setup->env, err) && check_config(setup->config, err) &&
           check_backend(setup->backend, err);
}

/* ---- Statements ---- */

void program_put_backend(struct str backend, struct buf *out)
{
    struct str module, name;
    if (!program_backend_parts(backend, &module, &name)) {
        python_put_string(out, backend);
        return;
    }
    python_put_dotted(out, module);
    buf_putc(out, '.');
    python_put_dotted(out, name);
}

static void put_env_setting(struct str one, struct buf *out)
{
    size_t n = name_before_value(one);
    buf_puts(out, "os.environ[");
    python_put_string(out, str_first(one, n));
    buf_puts(out, "] = ");
    python_put_string(out, str_from(one, n + 1));
}

static void put_config_setting(struct str one, struct buf *out)
{
    static const char *const words[] = { "True", "False", "None" };
    struct str name = str_first(one, name_before_value(one)), value = str_from(one, name.n + 1);
    const char *module = config_module(name);
    buf_puts(out, module ? module : "");
    buf_putc(out, '.');
    python_put_dotted(out, str_from(name, root_of(name).n + 1));
    buf_puts(out, " = ");
    if (STR_IS_ANY(value, words))
        buf_put(out, value);
    else if (!python_put_number(out, value))
        python_put_string(out, value);
}

/* The statements of one kind: `put` gets each, without the line. */
enum statements { STATEMENTS_ENV, STATEMENTS_IMPORTS, STATEMENTS_CONFIG };
typedef void put_statement(void *user, struct str text);

static void give(struct buf *text, put_statement *put, void *user, struct buf *failed)
{
    put(user, buf_str(text));
    failed->failed |= text->failed;
    buf_clear(text);
}

static void give_import(struct str module, struct buf *text, put_statement *put, void *user,
                        struct buf *out)
{
    buf_puts(text, "import ");
    python_put_dotted(text, module);
    give(text, put, user, out);
}

static void each_import(const struct program_setup *setup, struct buf *text, put_statement *put,
                        void *user, struct buf *out)
{
    struct str module;
    for (size_t i = 0; i < CONFIGS; i++)
        if (uses_config(setup, configs[i].module))
            give_import(str_of(configs[i].module), text, put, user, out);
    for (struct str rest = setup->imports; rest.n;)
        give_import(module_of(take_import(&rest)), text, put, user, out);
    if (imports_backend(setup, &module))
        give_import(module, text, put, user, out);
}

static void each_statement(const struct program_setup *setup, enum statements kind,
                           put_statement *put, void *user, struct buf *out)
{
    struct buf text = BUF_INIT;
    switch (kind) {
    case STATEMENTS_ENV:
        if (setup->env.n)
            give_import(STR("os"), &text, put, user, out);
        for (struct str rest = setup->env; rest.n;) {
            put_env_setting(take_setting(&rest), &text);
            give(&text, put, user, out);
        }
        break;
    case STATEMENTS_IMPORTS: each_import(setup, &text, put, user, out); break;
    case STATEMENTS_CONFIG:
        for (struct str rest = setup->config; rest.n;) {
            put_config_setting(take_setting(&rest), &text);
            give(&text, put, user, out);
        }
        break;
    }
    buf_release(&text);
}

struct lines {
    struct buf *out;
    unsigned indent;
};

static void put_line(void *user, struct str text)
{
    struct lines *lines = user;
    buf_printf(lines->out, "%*s", (int)lines->indent, "");
    buf_put(lines->out, text);
    buf_putc(lines->out, '\n');
}

void program_put_env(const struct program_setup *setup, struct buf *out)
{
    each_statement(setup, STATEMENTS_ENV, put_line, &(struct lines){ out, 0 }, out);
}

void program_put_setup_imports(const struct program_setup *setup, unsigned indent, struct buf *out)
{
    each_statement(setup, STATEMENTS_IMPORTS, put_line, &(struct lines){ out, indent }, out);
}

void program_put_config(const struct program_setup *setup, struct buf *out)
{
    each_statement(setup, STATEMENTS_CONFIG, put_line, &(struct lines){ out, 0 }, out);
}

bool program_setup_reserve(const struct program_setup *setup, struct intern *taken)
{
    struct str module, name;
    for (struct str rest = setup->imports; rest.n;)
        if (intern(taken, root_of(module_of(take_import(&rest)))) == INTERN_NONE)
            return false;
    return !program_backend_parts(setup->backend, &module, &name) ||
           intern(taken, root_of(module)) != INTERN_NONE;
}

/* ---- JSON ---- */

static void put_json_statement(void *user, struct str text)
{
    json_put_str(user, NULL, text);
}

static void put_statements(struct json_writer *w, const char *key, enum statements kind,
                           const struct program_setup *setup, struct buf *out)
{
    json_open_array(w, key);
    each_statement(setup, kind, put_json_statement, w, out);
    json_close(w);
}

static void put_folders(struct json_writer *w, struct str imports)
{
    json_open_array(w, "folders");
    while (imports.n) {
        struct str one = take_import(&imports), folder = str_first(one, folder_length(one));
        if (is_file(one))
            json_put_str(w, NULL, folder.n ? folder : STR("."));
    }
    json_close(w);
}

void program_setup_json(const struct program_setup *setup, struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    struct str module = STR(""), name = STR("");
    struct buf backend = BUF_INIT;
    bool has_parts = program_backend_parts(setup->backend, &module, &name);
    if (has_parts)
        program_put_backend(setup->backend, &backend);
    json_open_object(&w, NULL);
    put_statements(&w, "env", STATEMENTS_ENV, setup, out);
    put_statements(&w, "imports", STATEMENTS_IMPORTS, setup, out);
    put_statements(&w, "config", STATEMENTS_CONFIG, setup, out);
    put_folders(&w, setup->imports);
    json_put_str(&w, "module", backend.n ? module : STR(""));
    json_put_str(&w, "backend", buf_str(&backend));
    json_put_str(&w, "backend_name", has_parts ? STR("") : setup->backend);
    json_close(&w);
    out->failed |= backend.failed;
    buf_release(&backend);
}
