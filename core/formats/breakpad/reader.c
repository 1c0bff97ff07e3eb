#include "formats/breakpad/state.h"

#include <stdlib.h>

#include "formats/breakpad/fast_line.h"

/* Longest line, without its newline.  Compilers write no names of a
 * megabyte. */
#define LINE_MAX_BYTES ((size_t) 2 << 20)

#define MAGIC "MODULE "
#define MAGIC_LEN (sizeof(MAGIC) - 1)

sym_breakpad_t *
sym_breakpad_create(sym_writer_t *writer, sym_error_t *err)
{
    sym_breakpad_t *b = calloc(1, sizeof(*b));

    if (b == NULL) {
        (void) sym_fail(err, SYM_NOMEM, "no memory for a .sym reader");
        return NULL;
    }

    b->writer = writer;
    b->err = err;
    b->wants_symbols = true;
    sym_arena_init(&b->arena, 0);
    sym_current_init(&b->current, &b->stats.ignored, err);
    return b;
}


void
sym_breakpad_free(sym_breakpad_t *b)
{
    if (b == NULL) {
        return;
    }

    sym_arena_drop(&b->arena);
    sym_numbers_free(&b->files);
    sym_numbers_free(&b->origins);
    sym_numbers_free(&b->pending);
    sym_numbers_free(&b->origin_files);
    sym_current_free(&b->current);
    sym_stack_free(&b->stack);
    sym_cfi_writer_free(b->cfi);
    free(b->carry);
    free(b);
}


sym_status_t
sym_breakpad_locate(sym_breakpad_t *b, const char *section, size_t where)
{
    if (b->err->section == NULL) {
        b->err->section = section;
        b->err->offset = b->line_offset + where;
        b->err->line = b->stats.lines;
    }

    return b->err->status;
}


/* --- lines --- */

void
sym_breakpad_want(sym_breakpad_t *b, bool symbols, bool unwind_rules)
{
    b->wants_symbols = symbols;
    b->wants_rules = unwind_rules;
}


sym_cfi_writer_t *
sym_breakpad_cfi(const sym_breakpad_t *b)
{
    return b->cfi;
}


/* The size of the input is unknown.  The number of lines is known, and a line
 * has one range. */
static sym_status_t
begin_rules(sym_breakpad_t *b)
{
    const sym_unwind_arch_t arch = sym_unwind_arch_named(b->module.arch);
    const bool is_windows = sym_str_eq(b->module.os, SYM_STR("windows"));

    b->cfi = sym_cfi_writer_create(arch, is_windows ? SYM_CFI_FLAG_WINDOWS : 0,
                                   UINT32_MAX, b->err);
    sym_stack_init(&b->stack, b->cfi, arch, b->err);
    return b->err->status;
}


static sym_status_t
read_stack(sym_breakpad_t *b, sym_str_t line)
{
    if (sym_str_starts(line, SYM_STR("STACK CFI"))) {
        b->stats.stack_cfi++;
    } else if (sym_str_starts(line, SYM_STR("STACK WIN"))) {
        b->stats.stack_win++;
    } else {
        b->stats.ignored += line.len != 0;
        return SYM_OK;
    }

    if (!b->wants_rules || (b->cfi == NULL && begin_rules(b) != SYM_OK)
        || sym_stack_line(&b->stack, line) != SYM_OK)
    {
        return b->err->status;
    }

    return SYM_OK;
}


/* Handles records that end a function's data; *taken is false for others. */
static sym_status_t
read_boundary(sym_breakpad_t *b, sym_str_t line, bool *taken)
{
    sym_status_t (*apply)(sym_breakpad_t *, sym_str_t) = NULL;

    if (sym_str_starts(line, SYM_KEY_FUNC)) {
        *taken = true;
        return sym_apply_func(b, line);
    }

    if (sym_str_starts(line, SYM_KEY_PUBLIC)) {
        apply = sym_apply_public;
    } else if (sym_str_starts(line, SYM_KEY_STACK)) {
        b->is_done = true;
        apply = read_stack;
    } else {
        *taken = false;
        return SYM_OK;
    }

    *taken = true;
    if (sym_apply_function_end(b) != SYM_OK || apply == NULL) {
        return b->err->status;
    }

    return apply(b, line);
}


static sym_status_t
read_record(sym_breakpad_t *b, sym_str_t line)
{
    bool taken;
    sym_status_t rc = read_boundary(b, line, &taken);

    if (taken) {
        return rc;
    }

    if (sym_str_starts(line, SYM_KEY_ORIGIN)) {
        return sym_apply_origin(b, line);
    }

    if (b->current.is_open) {
        if (sym_str_starts(line, SYM_KEY_INLINE)) {
            return sym_apply_inline(b, line);
        }

        return line.len != 0 ? sym_apply_line(b, line) : SYM_OK;
    }

    if (sym_str_starts(line, SYM_KEY_FILE)) {
        return sym_apply_file(b, line);
    }

    if (sym_str_starts(line, SYM_KEY_INFO)) {
        return sym_apply_info(b, line);
    }

    b->stats.ignored += line.len != 0;
    return SYM_OK;
}


/* Used when only unwind rules are wanted. */
static sym_status_t
read_other(sym_breakpad_t *b, sym_str_t line)
{
    b->is_done = sym_str_starts(line, SYM_KEY_STACK);
    b->has_symbols |= sym_str_starts(line, SYM_KEY_FILE)
                      || sym_str_starts(line, SYM_KEY_FUNC)
                      || sym_str_starts(line, SYM_KEY_PUBLIC);

    return b->is_done                           ? read_stack(b, line)
           : sym_str_starts(line, SYM_KEY_INFO) ? sym_apply_info(b, line)
                                                : SYM_OK;
}


/* Handles one complete line, without its newline. */
static sym_status_t
take_line(sym_breakpad_t *b, const char *data, size_t len)
{
    sym_str_t line = { data, len };
    sym_status_t rc;

    b->stats.lines++;

    if (len > LINE_MAX_BYTES) {
        (void) sym_fail(b->err, SYM_LIMIT, "line is longer than 2 MiB");
        return sym_breakpad_locate(b, "line", 0);
    }

    if (len != 0 && data[len - 1] == '\r') {
        line.len--;
    }

    if (b->stats.lines == 1) {
        rc = sym_apply_module(b, line);
    } else if (b->is_done) {
        rc = read_stack(b, line);
    } else if (b->wants_symbols) {
        rc = read_record(b, line);
    } else {
        rc = read_other(b, line);
    }

    b->line_offset += len + 1;
    return rc;
}


#ifdef SYM_HAS_FAST_LINE

/* Reads ordinary line records; returns the position after the last one. */
static const char *
take_fast_lines(sym_breakpad_t *b, const char *p, const char *end)
{
    sym_current_t *c = &b->current;
    const char *start = p;
    uint64_t n = 0;

    while (end - p >= SYM_FAST_LINE_BYTES) {
        sym_fast_line_t l;
        const char *next = sym_fast_line(p, &l);
        uint32_t file;

        if (next == NULL || l.size == 0 || l.size > UINT32_MAX - l.addr
            || !c->is_kept) {
            break;
        }

        if (c->function.n_lines == c->lines_size
            && sym_current_room(c) != SYM_OK) {
            break; /* the slow reader fails in the same way, and reports the
                      position */
        }

        file = sym_numbers_dense(&b->files, l.file);
        if (file == SYM_NO_NUMBER) {
            file = sym_numbers_get(&b->files, l.file);
        }

        c->lines[c->function.n_lines++] =
            (sym_line_t){ l.addr, l.size, l.line, file };
        n++;
        p = next;
    }

    b->stats.lines += n;
    b->stats.line_records += n;
    b->line_offset += (uint64_t) (p - start);
    return p;
}


/* Reads ordinary INLINE records and returns the position after them, or after a
 * failure the invalid record. */
static const char *
take_fast_inlines(sym_breakpad_t *b, const char *p, const char *end)
{
    const sym_str_t key = SYM_KEY_INLINE;

    while ((size_t) (end - p) >= key.len + SYM_FAST_INLINE_BYTES
           && memcmp(p, key.data, key.len) == 0)
    {
        sym_fast_inline_t in;
        const char *next = sym_fast_inline(p + key.len, &in);

        if (next == NULL) {
            break;
        }

        b->stats.lines++;
        if (sym_apply_fast_inline(b, &in) != SYM_OK) {
            break;
        }

        b->line_offset += (uint64_t) (next - p);
        p = next;
    }

    return p;
}


/* Reads ordinary records of a function; returns the position after the last
 * one. */
static const char *
take_fast_records(sym_breakpad_t *b, const char *p, const char *end)
{
    const char *start;

    do {
        start = p;
        p = take_fast_lines(b, p, end);
        p = take_fast_inlines(b, p, end);
    } while (p != start && b->err->status == SYM_OK);

    return p;
}

#else

static const char *
take_fast_records(sym_breakpad_t *b, const char *p, const char *end)
{
    (void) b;
    (void) end;
    return p;
}

#endif


/* Number of records that are read before the first name is looked up. */
#define ORIGINS_AHEAD 16

typedef struct {
    sym_origin_record_t record;
    uint32_t hash; /* hash of the name */
    size_t len;    /* length of the line with its newline */
} ahead_t;

/* Reads ordinary INLINE_ORIGIN records at p; returns their number. */
static unsigned
read_origins(const sym_breakpad_t *b, const char *p, const char *end,
             ahead_t ahead[ORIGINS_AHEAD])
{
    const sym_str_t key = SYM_KEY_ORIGIN;
    unsigned n = 0;

    while (n < ORIGINS_AHEAD && (size_t) (end - p) > key.len
           && memcmp(p, key.data, key.len) == 0)
    {
        const char *newline = memchr(p, '\n', (size_t) (end - p));
        size_t len = newline != NULL ? (size_t) (newline - p) : SIZE_MAX;
        sym_fields_t f;

        if (len > LINE_MAX_BYTES) {
            break;
        }

        f = sym_fields(sym_str(p, len), key.len);
        ahead[n].record = sym_read_origin(&f);
        if (!sym_fields_ok(&f)) {
            break;
        }

        ahead[n].hash = sym_writer_expect(b->writer, ahead[n].record.name);
        ahead[n].len = len + 1;
        p += ahead[n++].len;
    }

    return n;
}


/*
 * Reads INLINE_ORIGIN records in groups.  They come in long runs, and each
 * lookup of a name waits for memory; a group waits once.  Returns the position
 * after the records, or after a failure the invalid record.
 */
static const char *
take_origins(sym_breakpad_t *b, const char *p, const char *end)
{
    ahead_t ahead[ORIGINS_AHEAD];
    unsigned n;

    do {
        n = read_origins(b, p, end, ahead);

        for (unsigned i = 0; i < n; i++) {
            b->stats.lines++;
            if (sym_apply_origin_record(b, &ahead[i].record, ahead[i].hash)
                != SYM_OK) {
                return p;
            }
            b->line_offset += ahead[i].len;
            p += ahead[i].len;
        }
    } while (n == ORIGINS_AHEAD);

    return p;
}


/* --- pieces --- */

/* Appends to a line that earlier pieces began. */
static sym_status_t
carry(sym_breakpad_t *b, const char *data, size_t len)
{
    size_t need = b->carry_len + len;

    if (need > LINE_MAX_BYTES) {
        b->stats.lines++;
        (void) sym_fail(b->err, SYM_LIMIT, "line is longer than 2 MiB");
        return sym_breakpad_locate(b, "line", 0);
    }

    if (need > b->carry_size) {
        size_t size = need < 256 ? 256 : 2 * need;
        char *grown = realloc(b->carry, size);

        if (grown == NULL) {
            return sym_fail(b->err, SYM_NOMEM, "no memory for a line");
        }
        b->carry = grown;
        b->carry_size = size;
    }

    if (len != 0) {
        memcpy(b->carry + b->carry_len, data, len);
    }

    b->carry_len = need;
    return SYM_OK;
}


static sym_status_t
no_module(sym_breakpad_t *b)
{
    (void) sym_fail(b->err, SYM_MALFORMED,
                    "the file does not begin with a MODULE record");
    b->stats.lines = 1;
    return sym_breakpad_locate(b, "MODULE record", 0);
}


/* Rejects other files at their first byte, not after a megabyte. */
static sym_status_t
check_magic(sym_breakpad_t *b, const char *data, size_t len)
{
    for (size_t i = 0; i < len && b->stats.bytes + i < MAGIC_LEN; i++) {
        if (data[i] != MAGIC[b->stats.bytes + i]) {
            return no_module(b);
        }
    }

    return SYM_OK;
}


/* Completes the line that earlier pieces began, if this piece contains its
 * end. */
static sym_status_t
finish_carried(sym_breakpad_t *b, const char **p, const char *end)
{
    const char *newline = memchr(*p, '\n', (size_t) (end - *p));
    const char *stop = newline != NULL ? newline : end;
    size_t len;

    if (carry(b, *p, (size_t) (stop - *p)) != SYM_OK) {
        return b->err->status;
    }

    *p = stop;
    if (newline == NULL) {
        return SYM_OK;
    }

    *p += 1;
    len = b->carry_len;
    b->carry_len = 0;
    return take_line(b, b->carry, len);
}


sym_status_t
sym_breakpad_feed(sym_breakpad_t *b, const char *data, size_t len)
{
    const char *p = data, *end = data + len;

    if (len == 0 || b->err->status != SYM_OK
        || check_magic(b, data, len) != SYM_OK) {
        return b->err->status;
    }

    b->stats.bytes += len;

    if (b->carry_len != 0 && finish_carried(b, &p, end) != SYM_OK) {
        return b->err->status;
    }

    while (p < end) {
        const char *newline;

        if (b->current.is_open) {
            p = take_fast_records(b, p, end);
        }

        if (b->stats.lines != 0 && !b->is_done && b->wants_symbols) {
            p = take_origins(b, p, end);
        }

        if (b->err->status != SYM_OK) {
            return b->err->status;
        }

        newline = memchr(p, '\n', (size_t) (end - p));
        if (newline == NULL) {
            return carry(b, p, (size_t) (end - p));
        }

        if (take_line(b, p, (size_t) (newline - p)) != SYM_OK) {
            return b->err->status;
        }
        p = newline + 1;
    }

    return SYM_OK;
}


sym_status_t
sym_breakpad_end(sym_breakpad_t *b)
{
    size_t len = b->carry_len;

    if (b->err->status != SYM_OK) {
        return b->err->status;
    }

    if (b->stats.bytes < MAGIC_LEN) {
        return no_module(b);
    }

    b->carry_len = 0;
    b->stats.is_cut = len != 0;
    if (len != 0 && take_line(b, b->carry, len) != SYM_OK) {
        return b->err->status;
    }

    if (b->cfi != NULL && sym_stack_end(&b->stack) != SYM_OK) {
        return b->err->status;
    }

    b->stats.stack_dropped = b->stack.dropped;
    return sym_apply_function_end(b);
}


const sym_breakpad_module_t *
sym_breakpad_module(const sym_breakpad_t *b)
{
    return &b->module;
}


const sym_breakpad_stats_t *
sym_breakpad_stats(const sym_breakpad_t *b)
{
    return &b->stats;
}
