/* MD5 of payloads, as TORCH_TRACE writes it into "has_payload". It tells damage apart; it proves
 * nothing against somebody who wants to deceive.
 *
 *     struct md5 md5;
 *     if (!md5_init(&md5, err))
 *         return false;
 *     md5_update(&md5, chunk);                      as often as it takes
 *     if (!md5_final(&md5, digest, err)) ...        and the next message may begin
 *     md5_release(&md5);
 *
 * libcrypto does the work; a message costs no allocation. */
#ifndef SYMTAPE_TRACE_BASE_MD5_H
#define SYMTAPE_TRACE_BASE_MD5_H

#include <stdbool.h>

#include "trace/base/err.h"
#include "trace/base/str.h"

enum { MD5_BYTES = 16, MD5_HEX = 32 };

struct md5 {
    void *context; /* libcrypto's; NULL after md5_release */
    bool failed;   /* failed since the message began */
};

/* Initializes a context. Returns false when memory ran out; it needs no release then. */
bool md5_init(struct md5 *md5, struct err *err);
void md5_update(struct md5 *md5, struct str bytes); /* md5_final reports a failure */
/* Computes the digest of what was added since md5_init or the last md5_final. */
bool md5_final(struct md5 *md5, unsigned char digest[MD5_BYTES], struct err *err);
void md5_release(struct md5 *md5);

/* Writes 32 lower-case digits without a NUL. */
void md5_hex(const unsigned char digest[MD5_BYTES], char hex[MD5_HEX]);

#endif
