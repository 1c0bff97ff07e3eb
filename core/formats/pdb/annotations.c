#include "formats/pdb/annotations.h"

#include <stdbool.h>

/* BinaryAnnotationOpcode (cvinfo.h): BA_OP_* */
enum {
    OP_END,
    OP_CODE_OFFSET, /* sets the offset */
    OP_CHUNK,       /* switches to another chunk of code */
    OP_MOVE,        /* moves the offset, and adds a range */
    OP_SIZE,        /* sets the size of the last range */
    OP_FILE,        /* sets the file */
    OP_LINE,        /* moves the line */
    OP_LINES,       /* number of lines, ignored */
    OP_RANGE_KIND,  /* statement or expression, ignored */
    OP_COLUMN,      /* column, ignored */
    OP_COLUMN_END_MOVE,
    OP_MOVE_AND_LINE, /* moves offset and line, and adds a range */
    OP_SIZE_AND_MOVE, /* moves the offset, and adds a range with a size */
    OP_COLUMN_END
};


/*
 * Effects of the frequent operations on an operand, as numbers.  The next
 * operation is unpredictable, so a branch on it would cost more than the work
 * itself.
 */
#define PLAIN                                                                  \
    (1u << OP_MOVE | 1u << OP_SIZE | 1u << OP_LINE | 1u << OP_MOVE_AND_LINE)
#define NO_LINE 31

typedef struct {
    uint16_t moves;    /* mask: bits of the operand that move the offset */
    uint8_t line_from; /* the operand's bits from this one on move the line */
    bool begins;       /* a range */
    uint32_t no_size;  /* 0: the operand is the size of the last range */
} operation_t;

static const operation_t operations[] = {
    [OP_MOVE] = { 0xffff, NO_LINE, true, SYM_PDB_UNSIZED },
    [OP_SIZE] = { 0xffff, NO_LINE, false, 0 },
    [OP_LINE] = { 0, 0, false, SYM_PDB_UNSIZED },
    [OP_MOVE_AND_LINE] = { 0x000f, 4, true, SYM_PDB_UNSIZED },
};

typedef struct {
    const uint8_t *pos, *end;
    sym_pdb_place_t place;
    uint32_t offset, line;
    sym_pdb_range_t *last;
} walk_t;


/* CVUncompressData (cvinfo.h): one, two or four bytes.  False: invalid. */
static bool
read_number(walk_t *w, uint32_t *value)
{
    const uint8_t *p = w->pos;
    const uint32_t first = p != w->end ? *p : 0xff;
    const unsigned n = first < 0x80 ? 1 : first < 0xc0 ? 2 : 4;

    if (first >= 0xe0 || (uint64_t) (w->end - p) < n) {
        return false;
    }

    *value = n == 1   ? first
             : n == 2 ? (first & 0x3f) << 8 | p[1]
                      : (first & 0x1f) << 24 | (uint32_t) p[1] << 16
                            | (uint32_t) p[2] << 8 | p[3];
    w->pos += n;
    return true;
}


/* DecodeSignedInt32 (cvinfo.h): the lowest bit is the sign. */
static uint32_t
signed_of(uint32_t value)
{
    const uint32_t sign = 0u - (value & 1);

    return ((value >> 1) ^ sign) - sign;
}


/* Executes plain operations whose operands have one or two bytes. */
static void
read_plain(walk_t *w)
{
    const uint8_t *const bytes = w->pos;
    const size_t len = (size_t) (w->end - bytes);
    const sym_pdb_place_t place = w->place;
    uint32_t offset = w->offset, line = w->line, size = w->last->size;
    sym_pdb_range_t *last = w->last;
    size_t at = 0, after;

    for (; at + 1 < len; at = after) {
        const uint32_t code = bytes[at], low = bytes[at + 1], two = low >> 7;
        const operation_t *op;
        uint32_t v;

        after = at + 2 + two;
        if (code > OP_COLUMN_END || (PLAIN >> code & 1) == 0 || low >= 0xc0
            || after > len)
        {
            break;
        }

        op = &operations[code];
        v = bytes[after - 1] | ((low & 0x3f) << 8 & (0u - two));
        size = sym_pdb_size_or(size, v | op->no_size);
        last->size = size;
        size = op->begins ? SYM_PDB_UNSIZED : size;
        offset += v & op->moves;
        line += signed_of(v >> op->line_from);

        /* the slot after the last range may be overwritten */
        last[1] = (sym_pdb_range_t){ place, offset, line, SYM_PDB_UNSIZED };
        last += op->begins;
    }

    w->pos += at;
    w->offset = offset;
    w->line = line;
    w->last = last;
}


static void
begin_range(walk_t *w, uint32_t size)
{
    *++w->last = (sym_pdb_range_t){ w->place, w->offset, w->line, size };
}


/* Executes any operation.  False: there are no more bytes. */
static bool
step(walk_t *w)
{
    uint32_t op, v, move;

    if (!read_number(w, &op) || op == OP_END || op > OP_COLUMN_END
        || !read_number(w, &v))
    {
        return false;
    }

    switch (op) {
    case OP_CODE_OFFSET:
        w->offset = v;
        break;
    case OP_CHUNK:
        w->place.chunk = v;
        w->offset = 0;
        break;
    case OP_MOVE:
        w->offset += v;
        begin_range(w, SYM_PDB_UNSIZED);
        break;
    case OP_SIZE:
        w->last->size = sym_pdb_size_or(w->last->size, v);
        w->offset += v;
        break;
    case OP_FILE:
        w->place.file = v;
        break;
    case OP_LINE:
        w->line += signed_of(v);
        break;
    case OP_MOVE_AND_LINE:
        w->offset += v & 0xf;
        w->line += signed_of(v >> 4);
        begin_range(w, SYM_PDB_UNSIZED);
        break;
    case OP_SIZE_AND_MOVE:
        if (!read_number(w, &move)) {
            return false;
        }
        w->offset += move;
        begin_range(w, v);
        break;
    default:
        break;
    }

    return true;
}


size_t
sym_pdb_annotations_read(sym_str_t bytes, uint32_t file, uint32_t line,
                         sym_pdb_range_t *ranges)
{
    const uint8_t *p = (const uint8_t *) bytes.data;
    walk_t w = { .pos = p,
                 .end = p + bytes.len,
                 .place.file = file,
                 .line = line,
                 .last = ranges };

    ranges[0].size = 0; /* not a range */
    do {
        read_plain(&w);
    } while (w.pos != w.end && *w.pos != OP_END && step(&w));

    w.last[1] = (sym_pdb_range_t){ .place.chunk = SYM_PDB_NO_CHUNK };
    return (size_t) (w.last - ranges);
}
