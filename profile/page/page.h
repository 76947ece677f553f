/* The manual of the page: one HTML file that shows everything that a profile has.
 *
 *     struct buf page = BUF_INIT;
 *     if (page_write(&what, &page, &err)) write(page);
 *
 * The page is page.html with page.css, page.js and one block of data in it, the JSON document
 * "symtape.report/1". Nothing is loaded: a Content-Security-Policy allows only the page's own
 * script and style, by their hashes. No text of a tape becomes markup: the data stands escaped in a
 * script element of type application/json, and the script makes text nodes of it only.
 *
 * Several traces are compared with each other: as the ranks of a job if their recordings have
 * numbers of ranks, each another one, otherwise as runs of one program, the first one with each of
 * the others.
 *
 * The data is at most about PAGE_DATA bytes: long lists and texts are cut, the graphs of attempts
 * that were thrown away come last; the member "omitted" says what was left out. */
#ifndef SYMTAPE_PROFILE_PAGE_PAGE_H
#define SYMTAPE_PROFILE_PAGE_PAGE_H

#include "profile/diagnosis/diagnosis.h"
#include "profile/model/profile.h"
#include "trace/base/buf.h"

#define PAGE_SCHEMA "symtape.report/1"

enum { PAGE_DATA = 4600000 };

struct page_input {
    const struct profile *profile;       /* with its stacks and modules (profile_options.by) */
    const struct diagnosis *diagnosis;   /* of this profile */
    const struct diagnosis *const *each; /* of each trace by itself; NULL: one, or a job */
    const char *version;                 /* of symtape */
};

/* Returns whether the recordings have numbers of ranks, each another one: they are one job. */
bool page_is_job(const struct profile *profile);
/* Appends the data, one line. Returns false with err set when memory ran out or a tape could not be
 * read. */
bool page_data(const struct page_input *input, struct buf *out, struct err *err);
/* Appends the page, in the same way. */
bool page_write(const struct page_input *input, struct buf *out, struct err *err);

#endif
