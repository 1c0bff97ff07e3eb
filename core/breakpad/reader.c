#include "breakpad/state.h"

#include <stdlib.h>

#include "breakpad/fast_line.h"

/* Without its newline.  Names of a megabyte are made by no compiler. */
#define LINE_MAX_BYTES ((size_t) 1 << 20)

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

static void
count_stack(sym_breakpad_t *b, sym_str_t line)
{
    if (sym_str_starts(line, SYM_STR("STACK CFI"))) {
        b->stats.stack_cfi++;
    } else if (sym_str_starts(line, SYM_STR("STACK WIN"))) {
        b->stats.stack_win++;
    } else if (line.len != 0) {
        b->stats.ignored++;
    }
}


/* Records that end a function's data; *taken is false for others. */
static sym_status_t
read_boundary(sym_breakpad_t *b, sym_str_t line, bool *taken)
{
    sym_status_t (*apply)(sym_breakpad_t *, sym_str_t) = NULL;

    if (sym_str_starts(line, SYM_KEY_FUNC)) {
        apply = sym_apply_func;
    } else if (sym_str_starts(line, SYM_KEY_PUBLIC)) {
        apply = sym_apply_public;
    } else if (sym_str_starts(line, SYM_KEY_STACK)) {
        b->is_done = true;
        count_stack(b, line);
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


/* One line without its newline, whole. */
static sym_status_t
take_line(sym_breakpad_t *b, const char *data, size_t len)
{
    sym_str_t line = { data, len };
    sym_status_t rc;

    b->stats.lines++;

    if (len > LINE_MAX_BYTES) {
        (void) sym_fail(b->err, SYM_LIMIT, "line is longer than 1 MiB");
        return sym_breakpad_locate(b, "line", 0);
    }

    if (len != 0 && data[len - 1] == '\r') {
        line.len--;
    }

    if (b->stats.lines == 1) {
        rc = sym_apply_module(b, line);
    } else if (b->is_done) {
        count_stack(b, line);
        rc = SYM_OK;
    } else {
        rc = read_record(b, line);
    }

    b->line_offset += len + 1;
    return rc;
}


#ifdef SYM_HAS_FAST_LINE

/* Takes ordinary line records as long as there are; returns what follows. */
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
            break; /* the slow way meets the same failure, and locates it */
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

#else

static const char *
take_fast_lines(sym_breakpad_t *b, const char *p, const char *end)
{
    (void) b;
    (void) end;
    return p;
}

#endif


/* --- pieces --- */

/* Adds to the line that earlier pieces began. */
static sym_status_t
carry(sym_breakpad_t *b, const char *data, size_t len)
{
    size_t need = b->carry_len + len;

    if (need > LINE_MAX_BYTES) {
        b->stats.lines++;
        (void) sym_fail(b->err, SYM_LIMIT, "line is longer than 1 MiB");
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


/* Anything else is told at its first byte, not after a megabyte. */
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


/* The end of the line that earlier pieces began, if it is here. */
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
            p = take_fast_lines(b, p, end);
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
    if (len != 0 && take_line(b, b->carry, len) != SYM_OK) {
        return b->err->status;
    }

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
