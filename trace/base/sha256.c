/* The low-level calls are used for the reasons in md5.c: EVP's first use takes a millisecond and
 * thousands of allocations, and libcrypto crashes where one of them fails. */
#define OPENSSL_API_COMPAT 0x10100000L

#include "trace/base/sha256.h"

#include <openssl/sha.h>

enum { INNER = 0x36, OUTER = 0x5c };

_Static_assert(SHA256_BYTES == SHA256_DIGEST_LENGTH, "a digest of libcrypto");
_Static_assert(SHA256_MAX_KEY == SHA256_CBLOCK, "a key of one block is used as it is");

static void update(SHA256_CTX *context, struct str bytes)
{
    if (bytes.n > 0)
        SHA256_Update(context, bytes.p, bytes.n);
}

void sha256(struct str bytes, unsigned char digest[SHA256_BYTES])
{
    SHA256_CTX context;
    SHA256_Init(&context);
    update(&context, bytes);
    SHA256_Final(digest, &context);
}

_Static_assert(sizeof(SHA256_CTX) <= sizeof(struct sha256_stream), "a stream holds the context");
_Static_assert(_Alignof(SHA256_CTX) <= _Alignof(struct sha256_stream), "and is aligned as it is");

void sha256_begin(struct sha256_stream *stream)
{
    SHA256_Init((SHA256_CTX *)stream);
}

void sha256_add(struct sha256_stream *stream, struct str bytes)
{
    update((SHA256_CTX *)stream, bytes);
}

void sha256_end(struct sha256_stream *stream, unsigned char digest[SHA256_BYTES])
{
    SHA256_Final(digest, (SHA256_CTX *)stream);
}

/* Hashes a message that begins with a block of the key, each byte of which is XORed with `pad`. */
static void hash_keyed(struct str key, unsigned char pad, struct str bytes,
                       unsigned char digest[SHA256_BYTES])
{
    unsigned char block[SHA256_MAX_KEY];
    SHA256_CTX context;
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = (unsigned char)((i < key.n ? (unsigned char)key.p[i] : 0) ^ pad);
    SHA256_Init(&context);
    SHA256_Update(&context, block, sizeof block);
    update(&context, bytes);
    SHA256_Final(digest, &context);
}

void hmac_sha256(struct str key, struct str bytes, unsigned char digest[SHA256_BYTES])
{
    unsigned char inner[SHA256_BYTES];
    hash_keyed(key, INNER, bytes, inner);
    hash_keyed(key, OUTER, (struct str){ (const char *)inner, sizeof inner }, digest);
}
