/*
 * libcrypto.c - libcrypto, loaded at run time by the first digest.
 *
 * A program linked with it takes 1 ms longer to start, half the time of a short
 * command, and few commands need a digest.  So symloader does not link it: this
 * file defines the functions that core/base/sha256.c calls, as libcrypto's
 * headers declare them.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include <openssl/evp.h>

#define TEXT(number) #number
#define TEXT_OF(number) TEXT(number)

/* The interface that libcrypto's headers declare. */
#define SONAME "libcrypto.so." TEXT_OF(OPENSSL_SHLIB_VERSION)

/* ISO C cannot convert a pointer to an object to one to a function; POSIX
 * guarantees that both have the same representation. */
_Static_assert(sizeof(void *) == sizeof(void (*)(void)), "POSIX, dlsym()");

/* NULL: loading failed. */
static __typeof__(EVP_sha256) *sha256_of_library;
static __typeof__(EVP_Digest) *digest_of_library;

static void
load(void)
{
    void *library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
    void *sha256, *digest;

    if (library == NULL) {
        return;
    }

    sha256 = dlsym(library, "EVP_sha256");
    digest = dlsym(library, "EVP_Digest");

    if (sha256 != NULL && digest != NULL) {
        memcpy(&sha256_of_library, &sha256, sizeof(sha256));
        memcpy(&digest_of_library, &digest, sizeof(digest));
    }
}


const EVP_MD *
EVP_sha256(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void) pthread_once(&once, load);
    return sha256_of_library != NULL ? sha256_of_library() : NULL;
}


/* `type` comes from the function above. */
int
EVP_Digest(const void *data, size_t count, unsigned char *md,
           unsigned int *size, const EVP_MD *type, ENGINE *impl)
{
    return type != NULL ? digest_of_library(data, count, md, size, type, impl)
                        : 0;
}
