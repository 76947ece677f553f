/* Private to the page: the parts of its document, each a member or several of the open object. */
#ifndef SYMTAPE_PROFILE_PAGE_PAGE_PARTS_H
#define SYMTAPE_PROFILE_PAGE_PAGE_PARTS_H

#include "profile/model/profile.h"
#include "profile/page/page_reduce.h"

/* The compile of each attempt of a trace: an index into the profile's, or PROFILE_NONE. Returns
 * NULL when memory ran out; the caller frees it. */
uint32_t *page_compiles_of(const struct profile *profile, uint32_t trace);

/* "attempts" and "spans": when each attempt and each phase ran. */
void page_timeline_json(const struct profile *profile, struct json_writer *w);
/* "symbols": the symbols of the compiles that the profile shows. Returns false with err set. */
bool page_symbols_json(const struct profile *profile, struct json_writer *w, struct err *err);
/* "kernels": what Inductor generated or called. "calls": those that were recorded. Both return
 * false with err set. */
bool page_kernels_json(const struct profile *profile, struct json_writer *w, struct err *err);
bool page_calls_json(const struct profile *profile, struct json_writer *w, struct err *err);
/* "replay": for each trace, how far the replay agrees with the record. Returns false with err
 * set. */
bool page_replay_json(const struct profile *profile, struct json_writer *w, struct err *err);
/* Writes an object: "differences", for each tape but the first what symtape diff finds between the
 * first and it, and "ranks", what symtape ranks finds between the ranks of a job, or null. Returns
 * false with err set. */
bool page_compared_json(const struct profile *profile, struct json_writer *w, struct err *err);
/* "graphs", an array that begins at the end of `out` and is at most about `bytes` long: graphs of
 * kept attempts first; what does not fit is counted. Returns false with err set. */
bool page_graphs_json(const struct profile *profile, size_t bytes, struct buf *out,
                      struct page_omitted *omitted, struct err *err);

/* The page's own text, made from page.html, page.css and page.js when symtape is built. */
struct page_asset {
    const char *name, *text;
};
extern const struct page_asset page_assets[];

#endif
