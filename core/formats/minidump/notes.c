/*
 * notes.c - facts for people, which no walk needs: Crashpad's annotations,
 * texts about Linux, crash information of macOS.
 */
#include "formats/minidump/minidump.h"

#include "base/hex.h"

/* Limit on the bytes that are read of a Linux text. */
#define LINUX_TEXT_MAX ((size_t) 1 << 20)

/* MinidumpModuleCrashpadInfo: the type of annotations that are strings. */
#define ANNOTATION_STRING 1

#define MISC_HAS_PID 1u

/* Mozilla's crash information for macOS. */
#define MAC_RECORDS_MAX 20

bool
minidump_note(minidump_t *d, sym_str_t key, sym_str_t value)
{
    sym_crash_t *crash = &d->crash;

    if (crash->notes == NULL) {
        crash->notes = sym_arena_calloc(&d->arena, SYM_CRASH_NOTES_MAX,
                                        sizeof(*crash->notes));
    }

    if (crash->notes == NULL) {
        return false;
    }

    if (value.len == 0 || key.data == NULL
        || crash->n_notes == SYM_CRASH_NOTES_MAX) {
        return true;
    }

    value.len = value.len < SYM_CRASH_TEXT_MAX ? value.len : SYM_CRASH_TEXT_MAX;
    crash->notes[crash->n_notes++] = (sym_crash_note_t){ key, value };
    return true;
}


static bool
has_room(const minidump_t *d)
{
    return d->crash.n_notes < SYM_CRASH_NOTES_MAX && !d->arena.is_over;
}


/* --- Crashpad --- */

/* MinidumpUTF8String */
static sym_str_t
narrow_string(const minidump_t *d, uint32_t at)
{
    sym_error_t unused;
    sym_cursor_t c;
    sym_str_t text;

    if (at > d->data.len) {
        return SYM_STR("");
    }

    c = minidump_cursor(d, sym_str(d->data.data + at, d->data.len - at),
                        &unused);
    text = sym_bytes(&c, sym_u32(&c));
    text.len = text.len < SYM_CRASH_TEXT_MAX ? text.len : SYM_CRASH_TEXT_MAX;
    return text.data != NULL && sym_utf8_valid(text) ? text : SYM_STR("");
}


/* module and name may be empty. */
static sym_str_t
annotation_key(minidump_t *d, sym_str_t module, sym_str_t name)
{
    return minidump_format(d, "crashpad%s%.*s%s%.*s",
                           module.len != 0 ? "." : "",
                           (int) (module.len < 128 ? module.len : 128),
                           module.data, name.len != 0 ? "." : "",
                           (int) (name.len < 256 ? name.len : 256), name.data);
}


/* MinidumpRVAList: texts without names, such as those of the dynamic linker of
 * macOS. */
static void
read_texts(minidump_t *d, minidump_place_t place, sym_str_t module)
{
    sym_error_t unused;
    sym_cursor_t c = minidump_cursor(d, minidump_bytes(d, place), &unused);
    uint32_t n = sym_u32(&c);

    for (; n != 0 && sym_left(&c) >= 4 && has_room(d); n--) {
        sym_str_t value = narrow_string(d, sym_u32(&c));

        (void) minidump_note(d, annotation_key(d, module, SYM_STR("")), value);
    }
}


/* MinidumpSimpleStringDictionary */
static void
read_dictionary(minidump_t *d, minidump_place_t place, sym_str_t module)
{
    sym_error_t unused;
    sym_cursor_t c = minidump_cursor(d, minidump_bytes(d, place), &unused);
    uint32_t n = sym_u32(&c);

    for (; n != 0 && sym_left(&c) >= 8 && has_room(d); n--) {
        sym_str_t name = narrow_string(d, sym_u32(&c));
        sym_str_t value = narrow_string(d, sym_u32(&c));

        (void) minidump_note(d, annotation_key(d, module, name), value);
    }
}


/* MinidumpAnnotationList */
static void
read_annotations(minidump_t *d, minidump_place_t place, sym_str_t module)
{
    sym_error_t unused;
    sym_cursor_t c = minidump_cursor(d, minidump_bytes(d, place), &unused);
    uint32_t n = sym_u32(&c);

    for (; n != 0 && sym_left(&c) >= 12 && has_room(d); n--) {
        sym_str_t name = narrow_string(d, sym_u32(&c));
        uint16_t type = sym_u16(&c);
        sym_str_t value;

        (void) sym_u16(&c); /* reserved */
        value = narrow_string(d, sym_u32(&c));
        if (type == ANNOTATION_STRING) {
            (void) minidump_note(d, annotation_key(d, module, name), value);
        }
    }
}


/* MinidumpModuleCrashpadInfoList */
static void
read_crashpad_modules(minidump_t *d, minidump_place_t place)
{
    sym_error_t unused;
    sym_cursor_t c = minidump_cursor(d, minidump_bytes(d, place), &unused);
    uint32_t n = sym_u32(&c);

    for (; n != 0 && sym_left(&c) >= 12 && has_room(d); n--) {
        sym_error_t inner;
        uint32_t module = sym_u32(&c);
        sym_cursor_t info =
            minidump_cursor(d, minidump_bytes(d, minidump_place(&c)), &inner);
        minidump_place_t texts, dictionary, objects;
        sym_str_t name = SYM_STR("?");

        if (module < d->crash.n_modules) {
            name = d->crash.modules[module].code_file;
        }

        (void) sym_u32(&info); /* version */
        texts = minidump_place(&info);
        dictionary = minidump_place(&info);
        objects = minidump_place(&info);
        if (sym_ok(&info)) {
            read_texts(d, texts, name);
            read_dictionary(d, dictionary, name);
            read_annotations(d, objects, name);
        }
    }
}


/* MinidumpCrashpadInfo */
static void
read_crashpad(minidump_t *d)
{
    sym_error_t unused;
    sym_cursor_t c = minidump_cursor(d, d->streams[MINIDUMP_CRASHPAD], &unused);
    minidump_place_t dictionary, modules;

    (void) sym_u32(&c);      /* version */
    (void) sym_take(&c, 32); /* ids of the report and of the client */
    dictionary = minidump_place(&c);
    modules = minidump_place(&c);
    if (sym_ok(&c)) {
        read_dictionary(d, dictionary, SYM_STR(""));
        read_crashpad_modules(d, modules);
    }
}


/* --- Linux --- */

static sym_str_t
next_line(sym_str_t *rest)
{
    const char *end = memchr(rest->data, '\n', rest->len);
    size_t len = end != NULL ? (size_t) (end - rest->data) : rest->len;
    sym_str_t line = sym_str(rest->data, len);

    len += end != NULL;
    *rest = sym_str(rest->data + len, rest->len - len);
    return line;
}


static sym_str_t
trim(sym_str_t s)
{
    while (s.len != 0 && strchr(" \t\"", s.data[0]) != NULL) {
        s = sym_str(s.data + 1, s.len - 1);
    }
    while (s.len != 0 && strchr(" \t\"\r", s.data[s.len - 1]) != NULL) {
        s.len--;
    }

    return s;
}


/* Splits "KEY=VALUE" or "KEY: VALUE".  False: the line has neither form. */
static bool
split(sym_str_t line, char mark, sym_str_t *key, sym_str_t *value)
{
    const char *at = memchr(line.data, mark, line.len);
    size_t len = at != NULL ? (size_t) (at - line.data) : 0;

    if (at == NULL) {
        return false;
    }

    *key = trim(sym_str(line.data, len));
    *value = trim(sym_str(at + 1, line.len - len - 1));
    return sym_utf8_valid(*value);
}


static sym_str_t
linux_text(const minidump_t *d, minidump_stream_t stream)
{
    sym_str_t text = d->streams[stream];

    text.len = text.len < LINUX_TEXT_MAX ? text.len : LINUX_TEXT_MAX;
    return text.data != NULL ? text : SYM_STR("");
}


/* A key that is noted, and the name of its note.  The first line with a key
 * wins. */
typedef struct {
    sym_str_t key, note;
} wanted_t;

static void
note_lines(minidump_t *d, minidump_stream_t stream, char mark,
           const wanted_t *wanted, unsigned n)
{
    sym_str_t rest = linux_text(d, stream), key, value;
    unsigned had = 0;

    while (rest.len != 0 && had != (1u << n) - 1) {
        if (!split(next_line(&rest), mark, &key, &value)) {
            continue;
        }
        for (unsigned i = 0; i < n; i++) {
            if ((had >> i & 1) == 0 && sym_str_eq(key, wanted[i].key)) {
                had |= 1u << i;
                (void) minidump_note(d, wanted[i].note, value);
            }
        }
    }
}


static void
count_lines(minidump_t *d, minidump_stream_t stream, sym_str_t note)
{
    sym_str_t rest = d->streams[stream];
    unsigned long n = 0;

    while (rest.data != NULL && rest.len != 0) {
        (void) next_line(&rest);
        n++;
    }

    if (n != 0) {
        (void) minidump_note(d, note, minidump_format(d, "%lu", n));
    }
}


static void
read_linux(minidump_t *d)
{
    static const wanted_t lsb[] = {
        { SYM_STR("DISTRIB_ID"), SYM_STR("lsb_release.id") },
        { SYM_STR("DISTRIB_RELEASE"), SYM_STR("lsb_release.release") },
        { SYM_STR("DISTRIB_CODENAME"), SYM_STR("lsb_release.codename") },
        { SYM_STR("DISTRIB_DESCRIPTION"), SYM_STR("lsb_release.description") },
        { SYM_STR("ID"), SYM_STR("lsb_release.id") },
        { SYM_STR("VERSION_ID"), SYM_STR("lsb_release.release") },
        { SYM_STR("VERSION_CODENAME"), SYM_STR("lsb_release.codename") },
        { SYM_STR("PRETTY_NAME"), SYM_STR("lsb_release.description") },
    };
    static const wanted_t cpu[] = {
        { SYM_STR("model name"), SYM_STR("cpuinfo.model_name") },
        { SYM_STR("Hardware"), SYM_STR("cpuinfo.hardware") },
        { SYM_STR("microcode"), SYM_STR("cpuinfo.microcode") },
    };
    sym_str_t command = linux_text(d, MINIDUMP_COMMAND_LINE);
    size_t auxv = d->streams[MINIDUMP_AUXV].len;

    note_lines(d, MINIDUMP_LSB_RELEASE, '=', lsb, sizeof(lsb) / sizeof(lsb[0]));
    note_lines(d, MINIDUMP_CPUINFO, ':', cpu, sizeof(cpu) / sizeof(cpu[0]));
    count_lines(d, MINIDUMP_MAPS, SYM_STR("linux.maps"));

    if (auxv != 0) {
        (void) minidump_note(d, SYM_STR("linux.auxv_bytes"),
                             minidump_format(d, "%zu", auxv));
    }

    /* arguments end in NULs */
    command.len = strnlen(command.data, command.len);
    if (sym_utf8_valid(command)) {
        (void) minidump_note(d, SYM_STR("linux.command"), command);
    }
}


static void
read_pid(minidump_t *d)
{
    sym_error_t unused;
    sym_cursor_t c = minidump_cursor(d, d->streams[MINIDUMP_MISC], &unused);
    uint32_t flags, pid;
    sym_str_t rest = linux_text(d, MINIDUMP_PROC_STATUS), key, value;
    uint64_t number;

    (void) sym_u32(&c); /* its size */
    flags = sym_u32(&c);
    pid = sym_u32(&c);
    if (sym_ok(&c)) {
        d->crash.has_pid = (flags & MISC_HAS_PID) != 0;
        d->crash.pid = d->crash.has_pid ? pid : 0;
        return;
    }

    while (rest.len != 0 && !d->crash.has_pid) {
        if (split(next_line(&rest), ':', &key, &value)
            && sym_str_eq(key, SYM_STR("Pid")) && sym_dec_read(value, &number)
            && number <= UINT32_MAX)
        {
            d->crash.has_pid = true;
            d->crash.pid = (uint32_t) number;
        }
    }
}


/* --- macOS --- */

static void
read_mac_record(minidump_t *d, minidump_place_t place, uint32_t start,
                unsigned number)
{
    static const char *const names[] = { "module", "message",
                                         "signature_string", "backtrace",
                                         "message2" };
    sym_str_t rest = minidump_bytes(d, place);

    if (rest.data == NULL || start > rest.len) {
        return;
    }

    rest = sym_str(rest.data + start, rest.len - start);

    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t len = strnlen(rest.data, rest.len);
        sym_str_t text = sym_str(rest.data, len);

        if (len == rest.len) {
            return; /* the list is truncated */
        }
        if (sym_utf8_valid(text)) {
            (void) minidump_note(
                d, minidump_format(d, "mac_crash_info.%u.%s", number, names[i]),
                text);
        }
        rest = sym_str(rest.data + len + 1, rest.len - len - 1);
    }
}


static void
read_mac(minidump_t *d)
{
    sym_error_t unused;
    sym_cursor_t c =
        minidump_cursor(d, d->streams[MINIDUMP_MAC_CRASH], &unused);
    uint32_t n, start;
    sym_str_t text;

    (void) sym_u32(&c); /* its type */
    n = sym_u32(&c);
    start = sym_u32(&c);

    for (uint32_t i = 0; i < n && i < MAC_RECORDS_MAX && sym_left(&c) >= 8; i++)
    {
        read_mac_record(d, minidump_place(&c), start, i);
    }

    c = minidump_cursor(d, d->streams[MINIDUMP_MAC_BOOT], &unused);
    (void) sym_u32(&c); /* its type */
    text = minidump_text(d, sym_u64(&c));
    if (sym_ok(&c) && text.data != NULL) {
        (void) minidump_note(d, SYM_STR("mac_boot_args"), text);
    }
}


sym_status_t
minidump_read_notes(minidump_t *d, sym_error_t *err)
{
    sym_str_t comment = linux_text(d, MINIDUMP_COMMENT);

    read_pid(d);
    comment.len = strnlen(comment.data, comment.len);
    if (sym_utf8_valid(comment)) {
        (void) minidump_note(d, SYM_STR("comment"), comment);
    }
    if (d->streams[MINIDUMP_COMMENT_WIDE].data != NULL) {
        sym_str_t wide = minidump_units(d, d->streams[MINIDUMP_COMMENT_WIDE]);

        (void) minidump_note(d, SYM_STR("comment"),
                             wide.data != NULL ? wide : SYM_STR(""));
    }

    read_linux(d);
    read_mac(d);
    read_crashpad(d);
    return d->arena.is_over
               ? sym_fail(err, SYM_LIMIT, "the dump's texts are too long")
               : SYM_OK;
}
