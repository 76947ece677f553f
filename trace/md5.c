#include "trace/md5.h"

#include <openssl/evp.h>

static bool begin(struct md5 *md5)
{
    md5->failed = EVP_DigestInit_ex(md5->context, md5->algorithm, NULL) != 1;
    return !md5->failed;
}

bool md5_init(struct md5 *md5, struct err *err)
{
    *md5 = (struct md5){ .algorithm = EVP_MD_fetch(NULL, "MD5", NULL) };
    if (!md5->algorithm)
        return err_set(err, ERR_ENV, "libcrypto offers no MD5");
    md5->context = EVP_MD_CTX_new();
    if (md5->context && begin(md5))
        return true;
    md5_release(md5);
    return err_nomem(err);
}

void md5_update(struct md5 *md5, struct str bytes)
{
    if (bytes.n > 0 && EVP_DigestUpdate(md5->context, bytes.p, bytes.n) != 1)
        md5->failed = true;
}

bool md5_final(struct md5 *md5, unsigned char digest[MD5_BYTES], struct err *err)
{
    bool good = EVP_DigestFinal_ex(md5->context, digest, NULL) == 1 && !md5->failed;
    if (begin(md5) && good)
        return true;
    return err_set(err, ERR_ENV, "libcrypto failed to compute an MD5");
}

void md5_release(struct md5 *md5)
{
    EVP_MD_CTX_free(md5->context);
    EVP_MD_free(md5->algorithm);
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
