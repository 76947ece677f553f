/* What the pages share that symtape writes: texts that are built into the program, the hashes by
 * which a page allows them, and text that cannot become markup. */
#ifndef SYMTAPE_PROFILE_PAGE_PAGE_FRAME_H
#define SYMTAPE_PROFILE_PAGE_PAGE_FRAME_H

#include "trace/base/buf.h"

/* Returns a file of this room, "page/page.css"; "" if there is none of that name. */
struct str page_asset_text(const char *name);
/* Appends "'sha256-BASE64'", as a Content-Security-Policy names the text of an element. */
void page_put_hash(struct buf *out, struct str text);
/* Appends a text as HTML, within an element or an attribute in quotes; what is not printable is
 * replaced as printable_put() does. */
void page_put_text(struct buf *out, struct str text);

#endif
