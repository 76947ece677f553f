/* SHA-256 (FIPS 180-4) of bytes, and HMAC (RFC 2104) with it: the former proves that content is
 * unchanged, the latter can be computed only with a key.
 *
 * libcrypto does the work. Nothing is allocated and nothing can fail. */
#ifndef SYMTAPE_TRACE_BASE_SHA256_H
#define SYMTAPE_TRACE_BASE_SHA256_H

#include <stdint.h>

#include "trace/base/str.h"

enum { SHA256_BYTES = 32, SHA256_MAX_KEY = 64 };

void sha256(struct str bytes, unsigned char digest[SHA256_BYTES]);

/* The hash of bytes that arrive in pieces: begin, add each piece, end. */
struct sha256_stream {
    uint64_t state[16]; /* libcrypto's */
};
void sha256_begin(struct sha256_stream *stream);
void sha256_add(struct sha256_stream *stream, struct str bytes);
void sha256_end(struct sha256_stream *stream, unsigned char digest[SHA256_BYTES]);

/* Computes the HMAC. The key has at most SHA256_MAX_KEY bytes. */
void hmac_sha256(struct str key, struct str bytes, unsigned char digest[SHA256_BYTES]);

#endif
