/* --check commands: the contract, and programs that behave badly. */
#include "minify/oracle/oracle_check.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness.h"
#include "trace/base/file/scratch.h"

static const char graph_text[] =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, arg0_1: \"f32[4][1]cpu\"):\n"
    "        sin: \"f32[4][1]cpu\" = torch.ops.aten.sin.default(arg0_1);  arg0_1 = None\n"
    "        return (sin,)\n";

static struct candidate *candidate;
static char folder[200];

static const char *script(const char *body)
{
    static char path[400];
    snprintf(path, sizeof path, "%s", temp_path("check.sh"));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", body);
    fclose(file);
    assert_int_equal(chmod(path, 0755), 0);
    return path;
}

static unsigned entries(const char *path)
{
    unsigned n = 0;
    DIR *dir = opendir(path);
    struct dirent *entry;
    assert_non_null(dir);
    while ((entry = readdir(dir)))
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

static bool print_py(void *user, const struct candidate *graph, struct buf *out)
{
    (void)user, (void)graph;
    buf_puts(out, "print('sin')\n");
    return !out->failed;
}

struct asked {
    enum verdict verdict;
    char text[500], error[1000];
    double seconds;
};

/* Nothing of it is left in TMPDIR, whatever it does. */
static struct asked ask_with(struct check_options options, const char *command, double timeout,
                             const atomic_bool *cancel)
{
    struct err err = ERR_INIT;
    struct answer answer = { 0 };
    struct asked asked = { 0 };
    atomic_bool never = false;
    struct oracle_question asking = {
        .worker = 2, .call = 7, .timeout = timeout, .cancel = cancel ? cancel : &never
    };
    options.command = str_of(command);
    options.print_py = print_py;
    struct oracle *oracle = oracle_check(&options, &err);
    assert_no_err(&err);
    oracle->ask(oracle, candidate, &asking, &answer);
    asked.verdict = answer.verdict;
    asked.seconds = answer.seconds;
    snprintf(asked.text, sizeof asked.text, "%.*s", STR_ARG(answer.text));
    snprintf(asked.error, sizeof asked.error, "%s", answer.err.text);
    answer_release(&answer);
    oracle->free(oracle);
    assert_int_equal(entries(folder), 0);
    return asked;
}

static struct asked ask(const char *body)
{
    return ask_with((struct check_options){ 0 }, script(body), 60, NULL);
}

static void exit_codes(void **state)
{
    const struct check_options inverted = { .invert = true }, aside = { .also_interesting = 101 };
    (void)state;
    assert_int_equal(ask("exit 0").verdict, VERDICT_INTERESTING);
    assert_int_equal(ask("exit 1").verdict, VERDICT_BORING);
    assert_int_equal(ask("exit 124").verdict, VERDICT_BORING);
    assert_int_equal(ask("exit 125").verdict, VERDICT_UNRESOLVED);
    assert_int_equal(ask("exit 126").verdict, VERDICT_BROKEN);
    assert_int_equal(ask("exit 127").verdict, VERDICT_BROKEN);
    assert_int_equal(ask("exit 130").verdict, VERDICT_UNRESOLVED);
    assert_int_equal(ask("kill -SEGV $$").verdict, VERDICT_UNRESOLVED);
    assert_int_equal(ask_with(inverted, script("exit 0"), 60, NULL).verdict, VERDICT_BORING);
    assert_int_equal(ask_with(inverted, script("exit 3"), 60, NULL).verdict, VERDICT_INTERESTING);
    assert_int_equal(ask_with(inverted, script("exit 125"), 60, NULL).verdict, VERDICT_UNRESOLVED);
    assert_int_equal(ask_with(aside, script("exit 101"), 60, NULL).verdict, VERDICT_OTHER);
    struct asked asked = ask("echo first; echo 'ValueError: no 3' >&2; exit 4");
    assert_string_equal(asked.text, "exit 4: ValueError: no 3");
}

static void crashes(void **state)
{
    const char *crash = script("kill -ABRT $$");
    struct check_options options = { .crash = CRASH_INTERESTING };
    (void)state;
    assert_int_equal(ask_with(options, crash, 60, NULL).verdict, VERDICT_INTERESTING);
    options.crash = CRASH_BORING;
    assert_int_equal(ask_with(options, crash, 60, NULL).verdict, VERDICT_BORING);
    options.crash = CRASH_ABORT;
    struct asked asked = ask_with(options, crash, 60, NULL);
    assert_int_equal(asked.verdict, VERDICT_BROKEN);
    assert_non_null(strstr(asked.error, "killed by signal 6"));
}

static void what_it_is_told(void **state)
{
    const struct check_options options = { .best = STR("/some/best.tape"),
                                           .signature = STR("ValueError") };
    (void)state;
    const char *path =
        script("[ \"$1\" = \"$SYMTAPE_FX\" ] && grep -q aten.sin \"$1\" && grep -q aten.sin &&"
               " [ \"$(cat \"$SYMTAPE_PY\")\" = \"print('sin')\" ] && [ -s \"$SYMTAPE_TAPE\" ] &&"
               " [ $SYMTAPE_CALL.$SYMTAPE_ATTEMPT.$SYMTAPE_WORKER = 7.0.2 ] &&"
               " [ \"$SYMTAPE_BEST $SYMTAPE_SIGNATURE\" = '/some/best.tape ValueError' ] &&"
               " [ $SYMTAPE_DEADLINE_MS = 60000 ] && [ $SYMTAPE_SEED -ge 0 ] &&"
               " [ -d \"$TMPDIR\" ] && [ -z \"$(ls \"$TMPDIR\")\" ] && echo > \"$TMPDIR/x\"");
    assert_int_equal(ask_with(options, path, 60, NULL).verdict, VERDICT_INTERESTING);
    assert_int_equal(ask_with(options, "grep -q 'aten[.]sin'", 60, NULL).verdict,
                     VERDICT_INTERESTING);
    assert_int_equal(ask_with(options, "grep -q 'aten[.]cos'", 60, NULL).verdict, VERDICT_BORING);
}

static void cannot_be_run(void **state)
{
    struct err err = ERR_INIT;
    const struct check_options open_quote = { .command = STR("a 'b") };
    (void)state;
    struct asked asked = ask_with((struct check_options){ 0 }, "/nonexistent/x", 60, NULL);
    assert_int_equal(asked.verdict, VERDICT_BROKEN);
    assert_non_null(strstr(asked.error, "/nonexistent/x: No such file"));
    assert_int_equal(ask_with((struct check_options){ 0 }, "/etc/passwd", 60, NULL).verdict,
                     VERDICT_BROKEN);
    assert_null(oracle_check(&open_quote, &err));
    assert_err(&err, ERR_USAGE, "--check: a ' is not closed");
}

static void behaves_badly(void **state)
{
    atomic_bool cancel = true;
    (void)state;
    struct asked asked =
        ask_with((struct check_options){ 0 }, script("trap '' TERM; sleep 100"), 0.2, NULL);
    assert_int_equal(asked.verdict, VERDICT_UNRESOLVED);
    assert_non_null(strstr(asked.text, "no end within 0.2 s"));
    assert_int_equal(
        ask_with((struct check_options){ 0 }, script("sleep 100"), 60, &cancel).verdict,
        VERDICT_UNRESOLVED);
    assert_int_equal(ask("kill -9 $$").verdict, VERDICT_UNRESOLVED);
    assert_int_equal(ask("head -c 3000000 /dev/urandom").verdict, VERDICT_INTERESTING);
    assert_int_equal(
        ask("mkdir -p $TMPDIR/a/b; echo > $TMPDIR/a/b/c; chmod 0 $TMPDIR/a; exit 1").verdict,
        VERDICT_BORING);
    assert_int_equal(ask("rm -rf \"$(dirname \"$1\")\"; exit 1").verdict, VERDICT_BORING);
    /* What it leaves running is ended with it. */
    asked = ask("(sleep 50; echo late) & exit 0");
    assert_int_equal(asked.verdict, VERDICT_INTERESTING);
    assert_true(asked.seconds < 40);
}

static void another_script_is_another_oracle(void **state)
{
    struct err err = ERR_INIT;
    const struct check_options options = { .command = str_of(script("exit 0")) };
    (void)state;
    struct oracle *one = oracle_check(&options, &err), *same = oracle_check(&options, &err);
    script("exit 1");
    struct oracle *other = oracle_check(&options, &err);
    assert_str_eq(one->id, same->id);
    assert_false(str_eq(one->id, other->id));
    one->free(one);
    same->free(same);
    other->free(other);
}

/* What a killed run left goes with the next; what another uses stays. */
static void left_folders(void **state)
{
    struct err err = ERR_INIT;
    const struct check_options options = { .command = STR("true") };
    char path[400];
    (void)state;
    struct oracle *one = oracle_check(&options, &err);
    assert_int_equal(entries(folder), 1);
    struct scratch killed;
    assert_true(scratch_make(&killed, SCRATCH_QUESTIONS, &err));
    snprintf(path, sizeof path, "%s", killed.path);
    scratch_leave(&killed);
    struct oracle *two = oracle_check(&options, &err);
    assert_no_err(&err);
    assert_int_equal(entries(folder), 2);
    assert_int_not_equal(access(path, F_OK), 0);
    one->free(one);
    two->free(two);
    assert_int_equal(entries(folder), 0);
}

static int set_up(void **state)
{
    struct err err = ERR_INIT;
    (void)state;
    snprintf(folder, sizeof folder, "%s", temp_path("tmp"));
    if (mkdir(folder, 0700) != 0 || setenv("TMPDIR", folder, 1) != 0)
        return -1;
    candidate = candidate_read_fx(STR(graph_text), &(struct candidate_options){ 0 }, &err);
    return candidate ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    candidate_free(candidate);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_codes),      cmocka_unit_test(crashes),
        cmocka_unit_test(what_it_is_told), cmocka_unit_test(cannot_be_run),
        cmocka_unit_test(behaves_badly),   cmocka_unit_test(another_script_is_another_oracle),
        cmocka_unit_test(left_folders),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
