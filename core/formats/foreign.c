#include "formats/foreign.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MODULE "MODULE "

typedef struct {
    size_t len;
    const char *bytes, *name;
} magic_t;

#define MAGIC(bytes, what)                                                     \
    {                                                                          \
        sizeof(bytes) - 1, bytes, what                                         \
    }

/* If a magic begins with another magic, the longer one comes first. */
static const magic_t magics[] = {
    MAGIC("!<arch>\n", "an archive of object files (.a, .lib, .deb)"),
    MAGIC("!<thin>\n", "an archive of object files (.a)"),
    MAGIC("BC\xc0\xde", "LLVM bitcode"),
    MAGIC("\xde\xc0\x17\x0b", "LLVM bitcode"),
    MAGIC("MDMP", "a minidump, which has no symbols"),
    MAGIC("SYMC", "a symcache of Sentry"),
    MAGIC("CMYS", "a symcache of Sentry"),
    MAGIC("GSYM", "a GSYM file"),
    MAGIC("MYSG", "a GSYM file"),
    MAGIC("dyld_v", "a shared cache of dyld"),
    MAGIC("dex\n", "a DEX file"),
    MAGIC("BZh", "compressed by bzip2, which is not unpacked"),
    MAGIC("7z\xbc\xaf\x27\x1c", "a 7z archive, which is not unpacked"),
    MAGIC("Rar!\x1a\x07", "a RAR archive, which is not unpacked"),
    MAGIC("\x04\x22\x4d\x18", "compressed by lz4, which is not unpacked"),
    MAGIC("\xed\xab\xee\xdb", "an RPM package, which is not unpacked"),
    MAGIC("version https://git-lfs", "a pointer of Git LFS, not the file"),
    MAGIC("\xef\xbb\xbf" MODULE, "text with a byte order mark before MODULE"),
    MAGIC("<!DOCTYPE", "a web page"),
    MAGIC("<!doctype", "a web page"),
    MAGIC("<html", "a web page"),
    MAGIC("<?xml", "an XML document"),
    MAGIC("{", "JSON"),
};

/* A text contains no NUL in these bytes. */
#define TEXT_BYTES ((size_t) 512)


static bool
begins_with(const char *data, size_t len, const char *bytes, size_t n)
{
    return len >= n && memcmp(data, bytes, n) == 0;
}


sym_status_t
sym_foreign_name(const char *data, size_t len, const char **name)
{
    if (len == 0) {
        *name = "the file is empty";
        return SYM_MALFORMED;
    }

    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
        if (begins_with(data, len, magics[i].bytes, magics[i].len)) {
            *name = magics[i].name;
            return SYM_UNSUPPORTED;
        }
    }

    *name = memchr(data, '\0', len < TEXT_BYTES ? len : TEXT_BYTES) != NULL
                ? "unknown format"
                : "text that does not begin with a MODULE record";
    return SYM_MALFORMED;
}
