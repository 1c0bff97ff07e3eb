#include "ledger/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libdeflate.h>

/* Length of magic, version and checksum. */
#define UNCHECKED (8 + 4 + 4)

uint32_t
sym_ledger_crc(const uint8_t *data, size_t len)
{
    return libdeflate_crc32(0, data + UNCHECKED, len - UNCHECKED);
}


sym_status_t
sym_ledger_open(const void *data, size_t len, sym_ledger_reader_t *r,
                sym_error_t *err)
{
    sym_cursor_t *c = &r->cursor;
    uint64_t *totals[SYM_LEDGER_TOTALS] = {
        &r->totals.requests,    &r->totals.frames,      &r->totals.refused,
        &r->totals.evicted,     &r->totals.came,        &r->totals.told,
        &r->totals.told_failed, &r->totals.told_dropped
    };
    uint32_t version, crc;

    *r =
        (sym_ledger_reader_t){ .cursor = sym_cursor(data, len, "ledger", err) };
    if (len == 0) {
        return SYM_OK;
    }

    if (len < SYM_LEDGER_HEAD
        || !sym_str_eq(sym_bytes(c, SYM_LEDGER_MAGIC.len), SYM_LEDGER_MAGIC))
    {
        return sym_fail(err, SYM_DAMAGED, "not a ledger");
    }

    version = sym_u32(c);
    crc = sym_u32(c);
    if (version != SYM_LEDGER_VERSION) {
        return sym_fail(err, SYM_VERSION, "another version of the ledger");
    }

    if (crc != sym_ledger_crc(data, len)) {
        return sym_fail(err, SYM_DAMAGED, "the checksum is wrong");
    }

    r->n = sym_u32(c);
    r->written_s = (int64_t) sym_u64(c);
    for (unsigned i = 0; i < SYM_LEDGER_TOTALS; i++) {
        *totals[i] = sym_u64(c);
    }

    if (r->n > SYM_LEDGER_ENTRIES_MAX) {
        return sym_fail(err, SYM_DAMAGED, "too many records");
    }

    if (r->n > sym_left(c) / SYM_LEDGER_RECORD_MIN) {
        return sym_fail(err, SYM_DAMAGED, "more records than bytes");
    }

    return SYM_OK;
}


static sym_str_t
take_text(sym_cursor_t *c, size_t max)
{
    uint16_t len = sym_u16(c);

    if (len > max) {
        sym_cursor_fail(c, SYM_DAMAGED, "a text is too long");
        return SYM_STR("");
    }

    return sym_bytes(c, len);
}


/* Checks a record by the writer's rules.  NULL: it is valid. */
static const char *
fault_of(const sym_ledger_entry_t *e)
{
    char id[SYM_ID_MAX];

    if (!sym_module_name_ok(e->key.name)) {
        return "no name of a module";
    }

    if (e->key.id.len == 0
        || !sym_str_eq(sym_str(id, sym_debug_id_canonical(e->key.id, id)),
                       e->key.id))
    {
        return "no debug id";
    }

    if ((unsigned) e->type > SYM_OBJECT_WASM) {
        return "unknown type of object";
    }

    if (sym_kind_find(e->kind) == NULL) {
        return "unknown kind of artifact";
    }

    if ((unsigned) e->state > SYM_MODULE_MALFORMED
        || e->state == SYM_MODULE_READY) {
        return "not a state of a missing module";
    }

    if ((unsigned) e->told > SYM_LEDGER_GIVEN_UP) {
        return "unknown state of the webhook";
    }

    if (e->first_s < 0 || e->last_s < 0 || e->came_s < 0) {
        return "a time before 1970";
    }

    return NULL;
}


sym_status_t
sym_ledger_next(sym_ledger_reader_t *r, sym_ledger_entry_t *e, sym_error_t *err)
{
    sym_cursor_t *c = &r->cursor;
    const char *fault;
    uint8_t flags;

    if (r->at == r->n) {
        if (sym_left(c) == 0) {
            return SYM_NOT_FOUND;
        }

        sym_cursor_fail(c, SYM_DAMAGED, "bytes after the last record");
        return SYM_DAMAGED;
    }

    *e = (sym_ledger_entry_t){ .key = { .scope = SYM_STR("") } };
    e->type = (sym_object_type_t) sym_u8(c);
    e->kind = (sym_kind_t) sym_u8(c);
    e->state = (sym_module_state_t) sym_u8(c);
    flags = sym_u8(c);
    e->told = (sym_ledger_told_t) (flags & 0x7f);
    e->is_known = (flags & 0x80) != 0;
    e->requests = sym_u64(c);
    e->frames = sym_u64(c);
    e->first_s = (int64_t) sym_u64(c);
    e->last_s = (int64_t) sym_u64(c);
    e->came_s = (int64_t) sym_u64(c);
    e->key.name = take_text(c, SYM_NAME_MAX);
    e->key.id = take_text(c, SYM_ID_MAX);
    e->key.code_id = take_text(c, SYM_CODE_ID_MAX);
    e->reason = take_text(c, SYM_LEDGER_REASON_MAX);
    e->sources = take_text(c, SYM_LEDGER_SOURCES_MAX);
    e->from = take_text(c, SYM_SCOPE_MAX);

    fault = sym_ok(c) ? fault_of(e) : NULL;
    if (fault != NULL) {
        sym_cursor_fail(c, SYM_DAMAGED, fault);
    }

    if (!sym_ok(c)) {
        r->at = r->n;
        err->status = SYM_DAMAGED;
        return SYM_DAMAGED;
    }

    r->at++;
    return SYM_OK;
}


bool
sym_ledger_source(sym_str_t *sources, sym_str_t *source)
{
    const char *end;

    if (sources->len == 0) {
        return false;
    }

    end = memchr(sources->data, '\n', sources->len);
    source->data = sources->data;
    source->len = end != NULL ? (size_t) (end - sources->data) : sources->len;
    end = end != NULL ? end + 1 : sources->data + sources->len;
    sources->len -= (size_t) (end - sources->data);
    sources->data = end;
    return true;
}


/* --- the file --- */

static sym_status_t
read_all(int fd, uint8_t **data, size_t *len, sym_error_t *err)
{
    struct stat st;
    ssize_t n = 0;

    if (fstat(fd, &st) != 0) {
        return sym_fail_sys(err, SYM_IO, "cannot read the ledger", errno);
    }

    if (!S_ISREG(st.st_mode) || st.st_size < 0
        || (uint64_t) st.st_size > SYM_LEDGER_HEAD + SYM_LEDGER_BYTES_MAX)
    {
        return sym_fail(err, SYM_DAMAGED, "no loader wrote this ledger");
    }

    *data = malloc((size_t) st.st_size + 1);
    if (*data == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    /* the file is only ever replaced atomically, never modified */
    while (*len < (size_t) st.st_size
           && (n = read(fd, *data + *len, (size_t) st.st_size - *len)) > 0)
    {
        *len += (size_t) n;
    }

    return n < 0 ? sym_fail_sys(err, SYM_IO, "cannot read the ledger", errno)
                 : SYM_OK;
}


sym_status_t
sym_ledger_load(const char *store, uint8_t **data, size_t *len,
                sym_error_t *err)
{
    char path[PATH_MAX];
    int fd, n = snprintf(path, sizeof(path), "%s/" SYM_LEDGER_FILE, store);

    *data = NULL;
    *len = 0;

    if (n < 0 || (size_t) n >= sizeof(path)) {
        return sym_fail(err, SYM_LIMIT, "the path of the store is too long");
    }

    /* prevents blocking if it is not a regular file */
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return errno == ENOENT
                   ? SYM_OK
                   : sym_fail_sys(err, SYM_IO, "cannot open the ledger", errno);
    }

    if (read_all(fd, data, len, err) != SYM_OK) {
        free(*data);
        *data = NULL;
        *len = 0;
    }

    (void) close(fd);
    return err->status;
}
