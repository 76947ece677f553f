/* The low-level calls are deprecated in OpenSSL 3 but available; they need no provider, whose
 * first use takes thousands of allocations (and crashes in libcrypto where one of them fails). */
#define OPENSSL_API_COMPAT 0x10100000L

#include "trace/base/md5.h"

#include <openssl/md5.h>
#include <stdlib.h>

bool md5_init(struct md5 *md5, struct err *err)
{
    *md5 = (struct md5){ .context = malloc(sizeof(MD5_CTX)) };
    if (!md5->context)
        return err_nomem(err);
    md5->failed = MD5_Init(md5->context) != 1;
    return true;
}

void md5_update(struct md5 *md5, struct str bytes)
{
    if (bytes.n > 0 && MD5_Update(md5->context, bytes.p, bytes.n) != 1)
        md5->failed = true;
}

bool md5_final(struct md5 *md5, unsigned char digest[MD5_BYTES], struct err *err)
{
    bool good = MD5_Final(digest, md5->context) == 1 && !md5->failed;
    md5->failed = MD5_Init(md5->context) != 1;
    return good || err_set(err, ERR_ENV, "libcrypto failed to compute an MD5");
}

void md5_release(struct md5 *md5)
{
    free(md5->context);
    *md5 = (struct md5){ 0 };
}

void md5_hex(const unsigned char digest[MD5_BYTES], char hex[MD5_HEX])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < MD5_BYTES; i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
}
