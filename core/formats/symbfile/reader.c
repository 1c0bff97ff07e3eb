#include "formats/symbfile/reader.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/protobuf.h"

#define MAGIC SYM_SYMBFILE_MAGIC
#define MAGIC_LEN (sizeof(MAGIC) - 1)

/* Limit on the length of a message, as in Elastic's reader. */
#define MESSAGE_MAX ((uint64_t) 16 << 20)

/* Limit on the length of a message's head. */
#define HEAD_MAX ((size_t) (2 * SYM_PB_VARINT_MAX))

enum { INVALID, HEADER, RANGE, PAD, STRINGS };

enum {
    RANGE_DELTA = 1,
    RANGE_LENGTH,
    RANGE_FUNC,
    RANGE_FILE,
    RANGE_CALL_LINE,
    RANGE_CALL_FILE,
    RANGE_DEPTH,
    RANGE_LINES,
    RANGE_FUNC_REF,
    RANGE_FILE_REF,
    RANGE_CALL_FILE_REF,
    RANGE_ADDR
};

enum { LINES_OFFSET = 1, LINES_NUMBER };
enum { PAD_DELTA = 1, PAD_FUNC, PAD_FILE, PAD_LINE, PAD_ADDR };

/* A repeated uint32 field. */
typedef struct {
    uint32_t *items;
    size_t n, size;
} column_t;

struct sym_symbfile_s {
    sym_symbfile_sink_t sink;
    sym_error_t *err;
    sym_symbfile_stats_t stats;

    bool has_magic, has_header, has_addr;
    uint64_t addr; /* address in the previous record */
    sym_buffer_t carry;
    uint64_t at; /* offset of the message in the file */

    uint32_t *strings; /* the current string table, as numbers of the sink */
    size_t n_strings, strings_size;

    column_t columns[3];
    sym_symbfile_line_t *lines;
    size_t lines_size;
    sym_symbfile_frame_t *frames;
    size_t frames_size;
};

sym_symbfile_t *
sym_symbfile_create(const sym_symbfile_sink_t *sink, sym_error_t *err)
{
    sym_symbfile_t *s = calloc(1, sizeof(*s));

    if (s == NULL) {
        (void) sym_fail(err, SYM_NOMEM, "no memory for a symbfile reader");
        return NULL;
    }

    s->sink = *sink;
    s->err = err;
    return s;
}


void
sym_symbfile_free(sym_symbfile_t *s)
{
    if (s == NULL) {
        return;
    }

    for (unsigned i = 0; i < 3; i++) {
        free(s->columns[i].items);
    }

    sym_buffer_free(&s->carry);
    free(s->strings);
    free(s->lines);
    free(s->frames);
    free(s);
}


const sym_symbfile_stats_t *
sym_symbfile_stats(const sym_symbfile_t *s)
{
    return &s->stats;
}


/* --- parts of records --- */

static void
out_of_memory(sym_cursor_t *c)
{
    sym_cursor_fail(c, SYM_NOMEM, "no memory for a record");
}


static void
add(sym_cursor_t *c, column_t *column, uint64_t value)
{
    if (!SYM_ARRAY_ROOM(column->items, column->n + 1, column->size)) {
        out_of_memory(c);
        return;
    }

    /* protobuf keeps the low bits of a larger number */
    column->items[column->n++] = (uint32_t) value;
}


/* Reads a repeated number, packed or not. */
static void
add_field(sym_cursor_t *c, const sym_pb_field_t *f, column_t *column)
{
    sym_cursor_t packed = *c;

    if (f->type == SYM_PB_VARINT) {
        add(c, column, f->value);
        return;
    }

    packed.pos = (const uint8_t *) f->bytes.data;
    packed.end = packed.pos + f->bytes.len;

    while (sym_left(&packed) != 0) {
        add(&packed, column, sym_pb_varint(&packed));
    }
}


static uint32_t
intern(sym_symbfile_t *s, sym_cursor_t *c, sym_str_t text)
{
    uint32_t id = SYM_SYMBFILE_NO_STRING;

    if (!sym_utf8_valid(text)) {
        sym_cursor_fail(c, SYM_MALFORMED, "a string is not UTF-8");
    } else if (s->sink.string(s->sink.ctx, text, &id, s->err) != SYM_OK) {
        c->pos = c->end;
    }

    return id;
}


static uint32_t
referred(const sym_symbfile_t *s, sym_cursor_t *c, uint64_t number)
{
    if (number < s->n_strings) {
        return s->strings[number];
    }

    sym_cursor_fail(c, SYM_MALFORMED, "no such string in the table");
    return SYM_SYMBFILE_NO_STRING;
}


/* Reads a string, as a text or as its number in the table. */
static uint32_t
text_of(sym_symbfile_t *s, sym_cursor_t *c, const sym_pb_field_t *f)
{
    return f->type == SYM_PB_BYTES ? intern(s, c, f->bytes)
                                   : referred(s, c, (uint32_t) f->value);
}


/* Reads the address of the current record. */
static uint64_t
next_addr(sym_symbfile_t *s, sym_cursor_t *c, const sym_pb_field_t *f,
          bool is_delta)
{
    if (is_delta && !s->has_addr) {
        sym_cursor_fail(c, SYM_MALFORMED,
                        "the first record has no absolute address");
    }

    return is_delta ? s->addr + (uint64_t) sym_pb_zigzag(f->value) : f->value;
}


static void
set_addr(sym_symbfile_t *s, sym_cursor_t *c, bool has_addr, uint64_t addr)
{
    if (!has_addr) {
        sym_cursor_fail(c, SYM_MALFORMED, "a record has no address");
    }

    s->has_addr = true;
    s->addr = addr;
}


/* --- ranges --- */

static void
read_lines(sym_symbfile_t *s, sym_cursor_t *c, sym_str_t bytes)
{
    sym_cursor_t in = *c;
    sym_pb_field_t f;

    in.pos = (const uint8_t *) bytes.data;
    in.end = in.pos + bytes.len;

    while (sym_pb_next(&in, &f)) {
        bool is_number = f.type == SYM_PB_VARINT || f.type == SYM_PB_BYTES;

        if (is_number && f.number == LINES_OFFSET) {
            add_field(&in, &f, &s->columns[0]);
        } else if (is_number && f.number == LINES_NUMBER) {
            add_field(&in, &f, &s->columns[1]);
        }
    }

    c->pos = sym_ok(c) ? c->pos : c->end;
}


static void
join_lines(sym_symbfile_t *s, sym_cursor_t *c, sym_symbfile_range_t *r)
{
    const column_t *offsets = &s->columns[0], *numbers = &s->columns[1];
    uint64_t offset = 0;

    if (offsets->n != numbers->n) {
        sym_cursor_fail(c, SYM_MALFORMED,
                        "a line table has more offsets than lines, or fewer");
        return;
    }

    if (!SYM_ARRAY_ROOM(s->lines, offsets->n, s->lines_size)) {
        out_of_memory(c);
        return;
    }

    for (size_t i = 0; i < offsets->n; i++) {
        offset += offsets->items[i];

        if (offset > UINT32_MAX) {
            sym_cursor_fail(c, SYM_MALFORMED,
                            "a line table goes beyond 32 bits");
            return;
        }

        s->lines[i] =
            (sym_symbfile_line_t){ (uint32_t) offset, numbers->items[i] };
    }

    r->lines = s->lines;
    r->n_lines = offsets->n;
}


static void
read_range_field(sym_symbfile_t *s, sym_cursor_t *c, const sym_pb_field_t *f,
                 sym_symbfile_range_t *r, bool *has_addr)
{
    const unsigned is = f->number << 3 | (unsigned) f->type;

#define IS(number, type) ((unsigned) (number) << 3 | (unsigned) (type))

    switch (is) {
    case IS(RANGE_DELTA, SYM_PB_VARINT):
    case IS(RANGE_ADDR, SYM_PB_VARINT):
        r->addr = next_addr(s, c, f, f->number == RANGE_DELTA);
        *has_addr = true;
        break;
    case IS(RANGE_LENGTH, SYM_PB_VARINT):
        if (f->value > UINT32_MAX) {
            sym_cursor_fail(c, SYM_MALFORMED,
                            "a range is longer than 32 bits can say");
        }
        r->size = (uint32_t) f->value;
        break;
    case IS(RANGE_FUNC, SYM_PB_BYTES):
    case IS(RANGE_FUNC_REF, SYM_PB_VARINT):
        r->name = text_of(s, c, f);
        break;
    case IS(RANGE_FILE, SYM_PB_BYTES):
    case IS(RANGE_FILE_REF, SYM_PB_VARINT):
        r->file = text_of(s, c, f);
        break;
    case IS(RANGE_CALL_FILE, SYM_PB_BYTES):
    case IS(RANGE_CALL_FILE_REF, SYM_PB_VARINT):
        r->call_file = text_of(s, c, f);
        break;
    case IS(RANGE_CALL_LINE, SYM_PB_VARINT):
        r->call_line = (uint32_t) f->value;
        break;
    case IS(RANGE_DEPTH, SYM_PB_VARINT):
        r->depth = (uint32_t) f->value;
        break;
    case IS(RANGE_LINES, SYM_PB_BYTES):
        read_lines(s, c, f->bytes);
        break;
    default:
        break;
    }
}


static void
read_range(sym_symbfile_t *s, sym_cursor_t *c)
{
    sym_symbfile_range_t r = { .name = SYM_SYMBFILE_NO_STRING,
                               .file = SYM_SYMBFILE_NO_STRING,
                               .call_file = SYM_SYMBFILE_NO_STRING };
    bool has_addr = false;
    sym_pb_field_t f;

    while (sym_pb_next(c, &f)) {
        read_range_field(s, c, &f, &r, &has_addr);
    }

    set_addr(s, c, has_addr, r.addr);

    if (r.name == SYM_SYMBFILE_NO_STRING) {
        sym_cursor_fail(c, SYM_MALFORMED, "a range has no function");
    }

    join_lines(s, c, &r);
    s->stats.ranges++;

    if (sym_ok(c)) {
        (void) s->sink.range(s->sink.ctx, &r, s->err);
    }
}


/* --- return pads --- */

static void
join_frames(sym_symbfile_t *s, sym_cursor_t *c, sym_symbfile_pad_t *pad)
{
    const column_t *columns = s->columns;

    if (columns[0].n != columns[1].n || columns[0].n != columns[2].n) {
        sym_cursor_fail(c, SYM_MALFORMED,
                        "the columns of a return pad differ in length");
        return;
    }

    if (!SYM_ARRAY_ROOM(s->frames, columns[0].n, s->frames_size)) {
        out_of_memory(c);
        return;
    }

    for (size_t i = 0; i < columns[0].n && sym_ok(c); i++) {
        s->frames[i] =
            (sym_symbfile_frame_t){ referred(s, c, columns[0].items[i]),
                                    referred(s, c, columns[1].items[i]),
                                    columns[2].items[i] };
    }

    pad->frames = s->frames;
    pad->n_frames = columns[0].n;
}


static void
read_pad(sym_symbfile_t *s, sym_cursor_t *c)
{
    sym_symbfile_pad_t pad = { 0 };
    bool has_addr = false;
    sym_pb_field_t f;

    while (sym_pb_next(c, &f)) {
        if (f.type == SYM_PB_VARINT
            && (f.number == PAD_DELTA || f.number == PAD_ADDR)) {
            pad.addr = next_addr(s, c, &f, f.number == PAD_DELTA);
            has_addr = true;

        } else if ((f.type == SYM_PB_VARINT || f.type == SYM_PB_BYTES)
                   && f.number >= PAD_FUNC && f.number <= PAD_LINE)
        {
            add_field(c, &f, &s->columns[f.number - PAD_FUNC]);
        }
    }

    set_addr(s, c, has_addr, pad.addr);
    join_frames(s, c, &pad);
    s->stats.pads++;

    if (sym_ok(c)) {
        (void) s->sink.pad(s->sink.ctx, &pad, s->err);
    }
}


/* --- messages --- */

static void
read_strings(sym_symbfile_t *s, sym_cursor_t *c)
{
    sym_pb_field_t f;

    s->n_strings = 0;
    s->stats.tables++;

    while (sym_pb_next(c, &f)) {
        if (f.number != 1 || f.type != SYM_PB_BYTES) {
            continue;
        }

        if (!SYM_ARRAY_ROOM(s->strings, s->n_strings + 1, s->strings_size)) {
            out_of_memory(c);
            return;
        }

        s->strings[s->n_strings++] = intern(s, c, f.bytes);
    }
}


static sym_status_t
read_message(sym_symbfile_t *s, uint64_t type, const uint8_t *data, size_t len)
{
    static const char *const names[] = { "message", "header", "range",
                                         "return pad", "string table" };
    sym_cursor_t c =
        sym_cursor(data, len, names[type <= STRINGS ? type : INVALID], s->err);

    if (type == INVALID || (type == HEADER) == s->has_header) {
        sym_cursor_fail(&c, SYM_MALFORMED,
                        type == INVALID  ? "a message of type 0"
                        : type == HEADER ? "a second header"
                                         : "the first message is not a header");
    }

    s->has_header = true;
    s->columns[0].n = s->columns[1].n = s->columns[2].n = 0;

    switch (type) {
    case RANGE:
        read_range(s, &c);
        break;
    case PAD:
        read_pad(s, &c);
        break;
    case STRINGS:
        read_strings(s, &c);
        break;
    default:
        break; /* written by a later version */
    }

    if (s->err->status != SYM_OK && s->err->section != NULL) {
        s->err->offset += s->at;
    }

    return s->err->status;
}


/* The length of the message at data, including its head.  0: more bytes are
 * needed to know it, or the head is invalid. */
static size_t
message_size(sym_symbfile_t *s, const uint8_t *data, size_t len, uint64_t *type,
             size_t *head)
{
    sym_error_t err = { 0 };
    sym_cursor_t c =
        sym_cursor(data, len < HEAD_MAX ? len : HEAD_MAX, "message", &err);
    uint64_t body = sym_pb_varint(&c);

    *type = sym_pb_varint(&c);
    *head = (size_t) (c.pos - data);

    if (err.status == SYM_TRUNCATED && len < HEAD_MAX) {
        return 0;
    }

    if (err.status == SYM_OK && body > MESSAGE_MAX) {
        sym_cursor_fail(&c, SYM_MALFORMED, "a message of more than 16 MiB");
    }

    if (err.status != SYM_OK) {
        *s->err = err;
        s->err->offset = s->at;
        return 0;
    }

    return *head + (size_t) body;
}


/* Reads the complete messages at *data. */
static sym_status_t
read_messages(sym_symbfile_t *s, const uint8_t **data, size_t *len,
              size_t *wanted)
{
    *wanted = 0;

    if (!s->has_magic) {
        *wanted = MAGIC_LEN;

        if (*len < MAGIC_LEN) {
            return SYM_OK;
        }

        if (memcmp(*data, MAGIC, MAGIC_LEN) != 0) {
            return sym_fail(s->err, SYM_MALFORMED, "not a symbfile");
        }

        s->has_magic = true;
        *data += MAGIC_LEN;
        *len -= MAGIC_LEN;
        s->at += MAGIC_LEN;
    }

    while (*len != 0) {
        size_t head;
        uint64_t type;

        *wanted = message_size(s, *data, *len, &type, &head);

        if (s->err->status != SYM_OK) {
            return s->err->status;
        }

        if (*wanted == 0 || *wanted > *len) {
            return SYM_OK;
        }

        s->at += head;
        if (read_message(s, type, *data + head, *wanted - head) != SYM_OK) {
            return s->err->status;
        }

        s->at += *wanted - head;
        *data += *wanted;
        *len -= *wanted;
    }

    return SYM_OK;
}


/* Completes the message whose first bytes are kept. */
static sym_status_t
feed_carry(sym_symbfile_t *s, const uint8_t **data, size_t *len)
{
    size_t wanted = s->carry.len + 1;

    while (s->carry.len != 0 && *len != 0) {
        const uint8_t *p;
        size_t left, more = wanted - s->carry.len;

        more = more < *len ? more : *len;
        sym_buffer_put(&s->carry, *data, more);

        if (s->carry.failed) {
            return sym_fail(s->err, SYM_NOMEM, "no memory for a message");
        }

        *data += more;
        *len -= more;

        if (s->carry.len < wanted) {
            break;
        }

        p = s->carry.data;
        left = s->carry.len;

        if (read_messages(s, &p, &left, &wanted) != SYM_OK) {
            return s->err->status;
        }

        if (left != s->carry.len) {
            s->carry.len = left; /* 0: it contained one message only */
        }

        wanted = wanted > s->carry.len ? wanted : s->carry.len + 1;
    }

    return SYM_OK;
}


sym_status_t
sym_symbfile_feed(sym_symbfile_t *s, const void *data, size_t len)
{
    const uint8_t *p = data;
    size_t wanted;

    s->stats.bytes += len;

    if (feed_carry(s, &p, &len) != SYM_OK
        || (s->carry.len == 0 && read_messages(s, &p, &len, &wanted) != SYM_OK))
    {
        return s->err->status;
    }

    sym_buffer_put(&s->carry, p, len);
    return s->carry.failed
               ? sym_fail(s->err, SYM_NOMEM, "no memory for a message")
               : SYM_OK;
}


sym_status_t
sym_symbfile_end(sym_symbfile_t *s)
{
    if (s->carry.len != 0 || !s->has_magic || !s->has_header) {
        (void) sym_fail(s->err, SYM_TRUNCATED,
                        s->has_header ? "the file ends inside a message"
                                      : "the file has no header");
        s->err->offset = s->at;
    }

    return s->err->status;
}
