#include "formats/minidump/minidump.h"

#include "base/hex.h"

#define SYSTEM_BYTES 56

static const struct {
    uint16_t processor; /* PROCESSOR_ARCHITECTURE_*; values from 0x8000 on are
                      Breakpad's */
    uint8_t arch;
    const char *name;
} processors[] = {
    { 0, SYM_UNWIND_X86, "x86" },
    { 1, SYM_UNWIND_MIPS, "mips" },
    { 3, SYM_UNWIND_UNKNOWN, "ppc" },
    { 5, SYM_UNWIND_ARM, "arm" },
    { 9, SYM_UNWIND_X86_64, "x86_64" },
    { 10, SYM_UNWIND_X86, "x86" }, /* on Win64 */
    { 12, SYM_UNWIND_ARM64, "arm64" },
    { 0x8001, SYM_UNWIND_UNKNOWN, "sparc" },
    { 0x8002, SYM_UNWIND_UNKNOWN, "ppc64" },
    { 0x8003, SYM_UNWIND_ARM64, "arm64" }, /* older form of contexts */
    { 0x8004, SYM_UNWIND_MIPS64, "mips64" },
};

/* VER_PLATFORM_* and Breakpad's. */
static const struct {
    uint32_t platform;
    sym_os_t os;
} platforms[] = {
    { 2, SYM_OS_WINDOWS },      { 3, SYM_OS_WINDOWS },
    { 0x8101, SYM_OS_MACOS },   { 0x8102, SYM_OS_IOS },
    { 0x8201, SYM_OS_LINUX },   { 0x8202, SYM_OS_SOLARIS },
    { 0x8203, SYM_OS_ANDROID }, { 0x8204, SYM_OS_PS3 },
    { 0x8205, SYM_OS_NACL },
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))


static sym_str_t
trim(sym_str_t s)
{
    while (s.len != 0 && (s.data[0] == ' ' || s.data[0] == '\t')) {
        s = sym_str(s.data + 1, s.len - 1);
    }
    while (s.len != 0
           && (s.data[s.len - 1] == ' ' || s.data[s.len - 1] == '\t')) {
        s.len--;
    }

    return s;
}


static sym_str_t
next_word(sym_str_t *rest)
{
    const char *space = memchr(rest->data, ' ', rest->len);
    size_t len = space != NULL ? (size_t) (space - rest->data) : rest->len;
    sym_str_t word = sym_str(rest->data, len);

    len += space != NULL;
    *rest = sym_str(rest->data + len, rest->len - len);
    return word;
}


/* Removes and returns the last word. */
static sym_str_t
cut_word(sym_str_t *text)
{
    const char *space = memrchr(text->data, ' ', text->len);
    size_t keep = space != NULL ? (size_t) (space - text->data) : 0;
    size_t skip = space != NULL ? keep + 1 : 0;
    sym_str_t word = sym_str(text->data + skip, text->len - skip);

    text->len = keep;
    return word;
}


/* On Linux Breakpad writes no version numbers, but the output of `uname
 * -srvmo`: the system's name, the version, the build, the processor, and
 * perhaps "GNU/Linux". */
static void
read_uname(sym_crash_t *crash, sym_str_t text)
{
    sym_str_t rest = text, version;

    if (text.len == 0) {
        return;
    }

    (void) next_word(&rest);
    version = next_word(&rest);
    if (version.len == 0 || sym_str_eq(version, SYM_STR("0.0.0"))) {
        return;
    }

    if (sym_str_eq(cut_word(&rest), SYM_STR("Linux/GNU"))) {
        (void) cut_word(&rest);
    }

    crash->os_version = version;
    crash->os_build = rest;
}


static void
find_names(minidump_t *d)
{
    d->crash.cpu = SYM_STR("unknown");

    for (size_t i = 0; i < COUNT(processors); i++) {
        if (processors[i].processor == d->processor) {
            d->crash.arch = (sym_unwind_arch_t) processors[i].arch;
            d->crash.cpu = sym_cstr(processors[i].name);
        }
    }

    for (size_t i = 0; i < COUNT(platforms); i++) {
        if (platforms[i].platform == d->platform) {
            d->crash.os = platforms[i].os;
        }
    }
}


static void
describe_processor(minidump_t *d, unsigned level, unsigned revision,
                   sym_str_t vendor)
{
    bool is_plain = vendor.len == 12;

    for (size_t i = 0; i < vendor.len; i++) {
        is_plain = is_plain && vendor.data[i] > ' ' && vendor.data[i] < 0x7f;
    }

    if (d->crash.arch != SYM_UNWIND_X86 && d->crash.arch != SYM_UNWIND_X86_64) {
        return;
    }

    d->crash.cpu_info = minidump_format(
        d, "%.*s%sfamily %u model %u stepping %u",
        is_plain && d->crash.arch == SYM_UNWIND_X86 ? 12 : 0, vendor.data,
        is_plain && d->crash.arch == SYM_UNWIND_X86 ? " " : "", level,
        revision >> 8 & 0xff, revision & 0xff);
}


sym_status_t
minidump_read_system(minidump_t *d, sym_error_t *err)
{
    sym_error_t unused;
    sym_cursor_t c = minidump_cursor(d, d->streams[MINIDUMP_SYSTEM], &unused);
    unsigned level, revision, major, minor, build;
    sym_str_t text;

    if (sym_left(&c) < SYSTEM_BYTES) {
        return sym_fail(err, SYM_MALFORMED,
                        "The system information stream was not found");
    }

    d->processor = sym_u16(&c);
    level = sym_u16(&c);
    revision = sym_u16(&c);
    d->crash.n_cpus = sym_u8(&c);
    (void) sym_u8(&c); /* product type */
    major = sym_u32(&c);
    minor = sym_u32(&c);
    build = sym_u32(&c);
    d->platform = sym_u32(&c);
    find_names(d);

    text = minidump_text(d, sym_u32(&c)); /* service pack, build, or uname */
    text = text.data != NULL ? text : SYM_STR("");
    (void) sym_u32(&c); /* suite mask, reserved */
    describe_processor(d, level, revision, sym_bytes(&c, 12));

    d->crash.os_version = minidump_format(d, "%u.%u.%u", major, minor, build);
    d->crash.os_build = trim(text);
    if (d->crash.os == SYM_OS_LINUX
        && sym_str_eq(d->crash.os_version, SYM_STR("0.0.0")))
    {
        read_uname(&d->crash, text);
    }

    return SYM_OK;
}
