#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness.h"
#include "trace/log/source_list.h"

#define HEADER "V1120 07:39:42.757000 901 torch/_dynamo/utils.py:2126] {\"str\": [\"a\", 0]}\n"

static const char *folder; /* of the running test */

static const char *at(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void begin(const char *name)
{
    folder = temp_path(name);
    assert_int_equal(mkdir(folder, 0755), 0);
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(at(name), "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void make_folder(const char *name)
{
    assert_int_equal(mkdir(at(name), 0755), 0);
}

/* The paths below the folder, separated by spaces. */
static void check_list(const char *expected, size_t passed_over)
{
    struct err err = ERR_INIT;
    struct source_list list = { 0 };
    struct buf names = BUF_INIT;
    assert_true(source_list_add(&list, folder, &err));
    for (size_t i = 0; i < list.paths.n; i++) {
        struct str path = str_of(list.paths.v[i]);
        assert_true(str_starts(path, str_of(folder)));
        buf_puts(&names, i ? " " : "");
        buf_put(&names, str_from(path, strlen(folder) + 1));
    }
    assert_str_is(buf_str(&names), expected);
    assert_int_equal(list.n_passed_over, passed_over);
    buf_release(&names);
    source_list_release(&list);
}

static void test_what_counts(void **state)
{
    (void)state;
    begin("counts");
    put("a.log", HEADER);
    put("b.log", "a first line that is none\n" HEADER);
    put("stdout.log", "epoch 1\nepoch 2\n");
    put("dedicated_log_torch_trace_x.log", "");
    put("dedicated_log_torch_trace_y.log.gz", "damaged");
    put("c.log.gz", "\x1F\x8B that is damaged");
    put("model.pt2", "PK\x03\x04");
    put("not.pt2", "text");
    put("notes.txt", HEADER);
    put("t.tape", HEADER);
    check_list("a.log b.log c.log.gz dedicated_log_torch_trace_x.log "
               "dedicated_log_torch_trace_y.log.gz model.pt2",
               2);
}

static void test_folders_of_ranks(void **state)
{
    (void)state;
    begin("ranks");
    static const char *const ranks[] = { "rank_10", "rank_2", "rank_1", ".hidden" };
    for (size_t i = 0; i < 4; i++) {
        char name[64];
        make_folder(ranks[i]);
        snprintf(name, sizeof name, "%s/dedicated_log_torch_trace_z.log", ranks[i]);
        put(name, HEADER);
    }
    make_folder("rank_1/deeper");
    put("rank_1/deeper/a.log", HEADER);
    check_list("rank_1/dedicated_log_torch_trace_z.log rank_2/dedicated_log_torch_trace_z.log "
               "rank_10/dedicated_log_torch_trace_z.log",
               0);
}

static void test_links(void **state)
{
    (void)state;
    begin("links");
    put("a.log", HEADER);
    assert_int_equal(symlink("a.log", at("b.log")), 0);
    assert_int_equal(symlink(".", at("loop")), 0);
    assert_int_equal(symlink("/no/such/file", at("dangling.log")), 0);
    check_list("a.log", 0);
}

static void test_nothing_in_it(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct source_list list = { 0 };
    begin("nothing");
    put("stdout.log", "nothing\n");
    assert_false(source_list_add(&list, folder, &err));
    assert_err(&err, ERR_INPUT, "nothing: a folder without logs");
    source_list_release(&list);
}

static void test_files_are_taken_as_they_are(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct source_list list = { 0 };
    assert_true(source_list_add(&list, "-", &err));
    assert_true(source_list_add(&list, "/no/such/file", &err));
    assert_int_equal(list.paths.n, 2);
    assert_string_equal(list.paths.v[0], "-");
    assert_string_equal(list.paths.v[1], "/no/such/file");
    source_list_release(&list);
}

static bool attempt(void *arg)
{
    struct err err = ERR_INIT;
    struct source_list list = { 0 };
    bool good = source_list_add(&list, arg, &err) && list.paths.n == 2;
    source_list_release(&list);
    return good;
}

static void test_memory(void **state)
{
    (void)state;
    begin("memory");
    put("a.log", HEADER);
    put("b.log", HEADER);
    check_alloc_failures(attempt, (void *)(uintptr_t)folder);
}

static bool takes(const char *name)
{
    struct err err = ERR_INIT;
    bool ret = false;
    assert_true(source_list_takes(at(name), NULL, &ret, &err));
    return ret;
}

static void test_one_file(void **state)
{
    (void)state;
    begin("one");
    put("a.log", HEADER);
    put("stdout.log", "epoch 1\n");
    put("dedicated_log_torch_trace_x.log", "");
    put("not.pt2", "text");
    assert_true(takes("a.log"));
    assert_false(takes("stdout.log"));
    assert_true(takes("dedicated_log_torch_trace_x.log"));
    assert_false(takes("not.pt2"));
    assert_false(takes("notes.txt"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_counts),
        cmocka_unit_test(test_folders_of_ranks),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_nothing_in_it),
        cmocka_unit_test(test_files_are_taken_as_they_are),
        cmocka_unit_test(test_one_file),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
