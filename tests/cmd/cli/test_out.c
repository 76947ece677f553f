#include "cmd/cli/out.h"

#include <errno.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "tests/harness.h"

/* Two streams whose text can be looked at. */
struct streams {
    struct out out;
    FILE *data, *notes;
    char *data_text, *notes_text;
    size_t data_n, notes_n;
};

static void open_streams(struct streams *s, enum color_when color)
{
    *s = (struct streams){ 0 };
    s->data = open_memstream(&s->data_text, &s->data_n);
    s->notes = open_memstream(&s->notes_text, &s->notes_n);
    assert_non_null(s->data);
    assert_non_null(s->notes);
    out_init(&s->out, s->data, s->notes, color);
}

static void flush_streams(struct streams *s)
{
    fflush(s->data);
    fflush(s->notes);
}

static void close_streams(struct streams *s)
{
    fclose(s->data);
    fclose(s->notes);
    free(s->data_text);
    free(s->notes_text);
}

static void set_variables(const char *no_color, const char *force, const char *cli,
                          const char *term)
{
    static const char *const names[] = { "NO_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "TERM" };
    const char *const values[] = { no_color, force, cli, term };
    for (int i = 0; i < 4; i++)
        if (values[i])
            setenv(names[i], values[i], 1);
        else
            unsetenv(names[i]);
}

static bool is_colored(enum color_when color)
{
    struct streams s;
    open_streams(&s, color);
    bool colored = s.out.data_color;
    assert_int_equal(s.out.notes_color, colored);
    close_streams(&s);
    return colored;
}

static void test_color_precedence(void **state)
{
    (void)state;
    set_variables(NULL, NULL, NULL, "xterm");
    assert_false(is_colored(COLOR_AUTO)); /* a memory stream is no terminal */
    assert_true(is_colored(COLOR_ALWAYS));
    set_variables("1", "1", NULL, "xterm");
    assert_false(is_colored(COLOR_AUTO));
    assert_true(is_colored(COLOR_ALWAYS));
    set_variables("", "1", "0", "dumb");
    assert_true(is_colored(COLOR_AUTO)); /* an empty NO_COLOR does not count */
    assert_false(is_colored(COLOR_NEVER));
    set_variables(NULL, "0", NULL, "xterm");
    assert_false(is_colored(COLOR_AUTO));
    set_variables(NULL, NULL, NULL, "xterm");
}

static void test_no_width_without_a_terminal(void **state)
{
    (void)state;
    struct streams s;
    setenv("COLUMNS", "40", 1);
    open_streams(&s, COLOR_AUTO);
    assert_int_equal(s.out.width, 0);
    unsetenv("COLUMNS");
    close_streams(&s);
}

static void test_data_and_notes_are_apart(void **state)
{
    (void)state;
    struct streams s;
    struct err err = ERR_INIT;
    open_streams(&s, COLOR_NEVER);
    out_printf(&s.out, "%d guards\n", 7);
    out_note(&s.out, "%d damaged", 2);
    err_set(&err, ERR_INPUT, "bert.log:12: odd");
    assert_int_equal(out_error(&s.out, &err), EXIT_INPUT);
    assert_int_equal(out_usage(&s.out, "no %s", "tape"), EXIT_USAGE);
    flush_streams(&s);
    assert_string_equal(s.data_text, "7 guards\n");
    assert_string_equal(s.notes_text, "symtape: 2 damaged\nsymtape: bert.log:12: odd\n"
                                      "symtape: no tape\n");
    close_streams(&s);
}

static void test_quiet_drops_notes_not_errors(void **state)
{
    (void)state;
    struct streams s;
    open_streams(&s, COLOR_NEVER);
    s.out.quiet = true;
    out_note(&s.out, "hello");
    out_usage(&s.out, "wrong");
    flush_streams(&s);
    assert_string_equal(s.notes_text, "symtape: wrong\n");
    close_streams(&s);
}

static void test_messages_are_one_printable_line(void **state)
{
    (void)state;
    struct streams s;
    open_streams(&s, COLOR_NEVER);
    out_note(&s.out, "a\nb\033[31mc\177\xc2\x9b"
                     "d\xc3\xa9");
    flush_streams(&s);
    assert_string_equal(s.notes_text, "symtape: a\\nb\\x1b[31mc\\x7f\\u009bd\xc3\xa9\n");
    close_streams(&s);
}

static void test_text_is_harmless_everywhere(void **state)
{
    (void)state;
    struct streams s;
    struct buf text = BUF_INIT;
    open_streams(&s, COLOR_ALWAYS);
    out_text(&s.out, STR("a\033b\xe2\x80\xae\n"));
    out_printf(&s.out, "%s\tc\n", "\r\xc2\x9b");
    buf_puts(&text, "\033[31mno color\n");
    assert_int_equal(out_buf(&s.out, &text), EXIT_DONE);
    s.out.data_tty = true;
    out_text(&s.out, STR("a\033b\tc\n"));
    flush_streams(&s);
    assert_string_equal(s.data_text, "a\\x1bb\\u202e\n\\x0d\\u009b\tc\n\\x1b[31mno color\n"
                                     "a\\x1bb\tc\n");
    buf_release(&text);
    close_streams(&s);
}

static void test_bytes_are_exact_but_on_terminals(void **state)
{
    (void)state;
    struct streams s;
    open_streams(&s, COLOR_NEVER);
    out_exact(&s.out, STR("a\033b\xff\n"));
    s.out.data_tty = true;
    out_exact(&s.out, STR("a\033b\xff\n"));
    flush_streams(&s);
    assert_string_equal(s.data_text, "a\033b\xff\na\\x1bb\\xff\n");
    close_streams(&s);
}

static void test_a_report_in_a_file_is_harmless(void **state)
{
    (void)state;
    struct streams s;
    struct buf text = BUF_INIT;
    const char *path = temp_path("report.txt");
    open_streams(&s, COLOR_NEVER);
    buf_puts(&text, "a\033b\n");
    assert_int_equal(out_report(&s.out, path, false, &text), EXIT_DONE);
    struct buf file = read_file(path);
    assert_str_is(buf_str(&file), "a\\x1bb\n");
    assert_int_equal(out_report(&s.out, path, false, &text), EXIT_USAGE); /* exists already */
    assert_int_equal(out_report(&s.out, "-", false, &text), EXIT_DONE);
    flush_streams(&s);
    assert_string_equal(s.data_text, "a\\x1bb\n");
    buf_release(&file);
    buf_release(&text);
    close_streams(&s);
}

static void test_styles(void **state)
{
    (void)state;
    struct streams s;
    struct buf text = BUF_INIT, other = BUF_INIT;
    open_streams(&s, COLOR_ALWAYS);
    buf_puts(&text, "a ");
    style_mark(out_styles(&s.out), &text, STYLE_BOLD);
    style_mark(out_styles(&s.out), &other, STYLE_RED); /* of a text that is not printed */
    buf_puts(&text, "title");
    style_mark(out_styles(&s.out), &text, STYLE_NONE);
    out_buf(&s.out, &text);
    out_buf(&s.out, &text); /* styles hold once */
    out_usage(&s.out, "x");
    flush_streams(&s);
    assert_string_equal(s.data_text, "a \033[1mtitle\033[0ma title");
    assert_string_equal(s.notes_text, "\033[31msymtape:\033[0m x\n");
    out_finish(&s.out, EXIT_DONE);
    close_streams(&s);
    open_streams(&s, COLOR_NEVER);
    assert_null(out_styles(&s.out));
    buf_release(&text);
    close_streams(&s);
}

static void test_progress_is_for_terminals(void **state)
{
    (void)state;
    struct streams s;
    open_streams(&s, COLOR_NEVER);
    out_progress(&s.out, "%d MB", 1);
    out_progress_end(&s.out);
    flush_streams(&s);
    assert_string_equal(s.notes_text, "");
    s.out.notes_tty = true;
    out_progress(&s.out, "%d MB of \033", 1);
    out_progress(&s.out, "%d MB", 2); /* too soon */
    out_progress_end(&s.out);
    out_progress_end(&s.out);
    flush_streams(&s);
    assert_string_equal(s.notes_text, "\r\033[Ksymtape: 1 MB of \\x1b\r\033[K");
    close_streams(&s);
}

static void test_a_full_disk_is_found_at_the_end(void **state)
{
    (void)state;
    struct streams s;
    open_streams(&s, COLOR_NEVER);
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    out_init(&s.out, full, s.notes, COLOR_NEVER);
    out_printf(&s.out, "data");
    assert_int_equal(out_finish(&s.out, EXIT_DONE), EXIT_ENV);
    fclose(full);
    flush_streams(&s);
    assert_non_null(strstr(s.notes_text, "No space left on device"));
    close_streams(&s);
}

static void test_finish_keeps_the_code(void **state)
{
    (void)state;
    struct streams s;
    open_streams(&s, COLOR_NEVER);
    assert_int_equal(out_finish(&s.out, EXIT_DIFFERS), EXIT_DIFFERS);
    s.out.write_errno = EPIPE;
    assert_int_equal(out_finish(&s.out, EXIT_DONE), EXIT_BROKEN_PIPE);
    flush_streams(&s);
    assert_string_equal(s.notes_text, "");
    close_streams(&s);
}

static void test_a_failed_buffer_is_an_error(void **state)
{
    (void)state;
    struct streams s;
    struct buf good = BUF_INIT, bad = { .failed = true };
    open_streams(&s, COLOR_NEVER);
    buf_puts(&good, "{}\n");
    assert_int_equal(out_buf(&s.out, &good), EXIT_DONE);
    assert_int_equal(out_finish(&s.out, EXIT_DONE), EXIT_DONE);
    assert_int_equal(out_buf(&s.out, &bad), EXIT_ENV);
    assert_int_equal(out_finish(&s.out, EXIT_DONE), EXIT_ENV); /* also where nobody looked at it */
    assert_int_equal(out_finish(&s.out, EXIT_DIFFERS), EXIT_DIFFERS);
    flush_streams(&s);
    assert_string_equal(s.data_text, "{}\n");
    buf_release(&good);
    close_streams(&s);
}

static void test_codes_of_kinds(void **state)
{
    (void)state;
    assert_int_equal(exit_code_of(ERR_NONE), 0);
    assert_int_equal(exit_code_of(ERR_USAGE), 2);
    assert_int_equal(exit_code_of(ERR_INPUT), 3);
    assert_int_equal(exit_code_of(ERR_ENV), 4);
    assert_int_equal(exit_code_of(ERR_INTERRUPTED), 130);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_color_precedence),
        cmocka_unit_test(test_no_width_without_a_terminal),
        cmocka_unit_test(test_data_and_notes_are_apart),
        cmocka_unit_test(test_quiet_drops_notes_not_errors),
        cmocka_unit_test(test_messages_are_one_printable_line),
        cmocka_unit_test(test_text_is_harmless_everywhere),
        cmocka_unit_test(test_bytes_are_exact_but_on_terminals),
        cmocka_unit_test(test_a_report_in_a_file_is_harmless),
        cmocka_unit_test(test_styles),
        cmocka_unit_test(test_progress_is_for_terminals),
        cmocka_unit_test(test_a_full_disk_is_found_at_the_end),
        cmocka_unit_test(test_finish_keeps_the_code),
        cmocka_unit_test(test_a_failed_buffer_is_an_error),
        cmocka_unit_test(test_codes_of_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
