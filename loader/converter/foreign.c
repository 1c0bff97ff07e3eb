#include "converter/foreign.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MODULE "MODULE "
#define READ "; Breakpad's .sym, ELF and Mach-O files are read"

typedef struct {
    size_t len;
    const char *bytes, *reason;
} magic_t;

#define MAGIC(bytes, what)                                                     \
    {                                                                          \
        sizeof(bytes) - 1, bytes, what READ                                    \
    }

/* Longer ones first where one begins with the other. */
static const magic_t magics[] = {
    MAGIC("Microsoft C/C++ MSF 7.00\r\n\x1a\x44S", "a PDB file"),
    MAGIC("Microsoft C/C++ program database ", "a PDB file (of Visual C++ 6)"),
    MAGIC("BSJB", "a portable PDB file (.NET)"),
    MAGIC("\0asm", "a WebAssembly file"),
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

/* PE/COFF, 3.1: at 0x3c is where the signature "PE\0\0" stands. */
#define PE_AT 0x3c

/* Text has no NUL among these. */
#define TEXT_BYTES ((size_t) 512)


static bool
begins_with(const char *data, size_t len, const char *bytes, size_t n)
{
    return len >= n && memcmp(data, bytes, n) == 0;
}


static bool
is_pe(const char *data, size_t len)
{
    const uint8_t *p = (const uint8_t *) data + PE_AT;
    uint32_t at;

    if (!begins_with(data, len, "MZ", 2) || len < PE_AT + 4) {
        return false;
    }

    at = (uint32_t) p[0] | (uint32_t) p[1] << 8 | (uint32_t) p[2] << 16
         | (uint32_t) p[3] << 24;
    return at < len && begins_with(data + at, len - at, "PE\0\0", 4);
}


sym_status_t
foreign_check(const char *data, size_t len, sym_error_t *err)
{
    if (begins_with(data, len, MODULE, sizeof(MODULE) - 1)) {
        return SYM_OK;
    }

    if (len == 0) {
        return sym_fail(err, SYM_MALFORMED, "the file is empty");
    }

    if (is_pe(data, len)) {
        return sym_fail(err, SYM_UNSUPPORTED,
                        "a PE file (.exe, .dll, .sys)" READ);
    }

    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
        if (begins_with(data, len, magics[i].bytes, magics[i].len)) {
            return sym_fail(err, SYM_UNSUPPORTED, magics[i].reason);
        }
    }

    return sym_fail(err, SYM_MALFORMED,
                    memchr(data, '\0', len < TEXT_BYTES ? len : TEXT_BYTES)
                            != NULL
                        ? "no format that is known" READ
                        : "text that does not begin with a MODULE record" READ);
}
