/* SHA-256 (FIPS 180-4) of bytes, and HMAC (RFC 2104) with it: the former proves that content is
 * unchanged, the latter can be computed only with a key.
 *
 * libcrypto does the work. Nothing is allocated and nothing can fail. */
#ifndef SYMTAPE_TRACE_BASE_SHA256_H
#define SYMTAPE_TRACE_BASE_SHA256_H

#include "trace/base/str.h"

enum { SHA256_BYTES = 32, SHA256_MAX_KEY = 64 };

void sha256(struct str bytes, unsigned char digest[SHA256_BYTES]);
/* Computes the HMAC. The key has at most SHA256_MAX_KEY bytes. */
void hmac_sha256(struct str key, struct str bytes, unsigned char digest[SHA256_BYTES]);

#endif
