/* Copies JSON into a page: it is cut to a size, and cannot end the element that holds it. */
#ifndef SYMTAPE_PROFILE_PAGE_PAGE_REDUCE_H
#define SYMTAPE_PROFILE_PAGE_PAGE_REDUCE_H

#include "trace/base/buf.h"
#include "trace/base/text/json_write.h"
#include "trace/base/vec.h"

/* The most that is copied: elements of each array, characters of each text. */
struct page_limits {
    uint32_t rows, chars;
};

/* Elements of lists that were left out, by the list's path: "profile.guards". */
struct page_omission {
    char list[96];
    uint64_t n;
};
struct page_omitted {
    vec_of(struct page_omission)
    lists;
    uint64_t texts; /* texts that were cut */
};

/* Appends `json`, which a json_writer wrote, below the path `under` ("" for the whole document).
 * `<`, `>`, `&` and the line ends U+2028 and U+2029 become \u escapes, which are the same JSON but
 * neither markup nor an end of a script. Failures are those of the buffer. */
void page_reduce(struct str json, const char *under, const struct page_limits *limits,
                 struct buf *out, struct page_omitted *omitted);
/* Returns by how many bytes page_reduce() makes a character longer. */
size_t page_escape_growth(char c);
/* Adds to what was left out of a list. Returns false when memory ran out. */
bool page_omit(struct page_omitted *omitted, const char *list, uint64_t n);
/* Writes [{"list": "profile.guards", "left_out": 12}, ...]; the number of cut texts is that of the
 * list "texts". */
void page_omitted_json(const struct page_omitted *omitted, struct json_writer *w, const char *key);
void page_omitted_release(struct page_omitted *omitted);

#endif
