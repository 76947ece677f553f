/* What the unit tests share: cmocka and its ceremony, files, expectations about strings and errors,
 * and allocations that fail on purpose.
 *
 * A test binary is a plain cmocka main. One whose every case needs the recordings of ../shared
 * begins with require_shared(), which ends the process with exit code 77 ("skipped" to meson) where
 * they are absent. */
#ifndef SYMTAPE_TESTS_HARNESS_H
#define SYMTAPE_TESTS_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/str.h"

/* An error that is not set. */
#define ERR_INIT ((struct err){ .kind = ERR_NONE })

/* Path of a file below the project's root, or below ../shared (SYMTAPE_SHARED overrides where that
 * is; NULL where the file does not exist). Valid until the eighth next call. */
const char *source_path(const char *below);
const char *shared_path(const char *below);
void require_shared(void);

/* Is it among the names in $SYMTAPE_NEED ("nvrtc")? Then a test that finds none fails. */
bool is_needed(const char *what);

/* The whole file; fails the test when it cannot be read. The caller releases. */
struct buf read_file(const char *path);

/* A fresh folder, and a path in it; the folder and what it holds go when the process ends. */
const char *temp_path(const char *name);

/* The same bytes; both are shown where they differ. */
#define assert_str_is(actual, expected) \
    check_str((actual), str_of(expected), #actual, __FILE__, __LINE__)
#define assert_str_eq(actual, expected) check_str((actual), (expected), #actual, __FILE__, __LINE__)
void check_str(struct str actual, struct str expected, const char *what, const char *file,
               int line);

/* The error is of this kind and its text holds `part`; then it is cleared. */
#define assert_err(err, kind, part) check_err((err), (kind), (part), __FILE__, __LINE__)
void check_err(struct err *err, enum err_kind kind, const char *part, const char *file, int line);
#define assert_no_err(err) assert_err((err), ERR_NONE, "")

/* Bitwise, so that -0.0 is not 0.0 (cmocka 1.1.5 compares floats only). */
#define assert_double_is(actual, expected)                         \
    do {                                                           \
        double actual_ = (actual), expected_ = (expected);         \
        assert_memory_equal(&actual_, &expected_, sizeof actual_); \
    } while (0)

/* 1 in a build with the address sanitizer, where a long test takes a part of its cases: the same
 * tests run without sanitizers with all of them. */
#if defined __SANITIZE_ADDRESS__
#define TESTS_SAMPLE 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define TESTS_SAMPLE 1
#endif
#endif
#ifndef TESTS_SAMPLE
#define TESTS_SAMPLE 0
#endif

/* Makes the n-th allocation from here on fail, and every later one too if `onwards`; n = 0 stops
 * it. Only code linked into the test is meant: allocations inside shared libraries never fail. */
void alloc_fail_at(size_t n, bool onwards);
/* Whether one did since alloc_fail_at(). */
bool alloc_has_failed(void);

/* Calls attempt() with the first, the second, ... allocation failing, once and onwards, until it
 * runs without a failure; then, and only then, it has to return true. attempt() releases what it
 * made in either case: the leak checker of a sanitizer build sees to that. A sanitizer build tries
 * the first 200 allocations and then fewer and fewer, since long attempts fail in the same places
 * again and again. */
void check_alloc_failures(bool (*attempt)(void *arg), void *arg);

#endif
