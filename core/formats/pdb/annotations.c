#include "formats/pdb/annotations.h"

/* BinaryAnnotationOpcode (cvinfo.h): BA_OP_* */
enum {
    OP_END,
    OP_CODE_OFFSET, /* sets the offset */
    OP_CHUNK,       /* goes to another chunk of the code */
    OP_MOVE,        /* moves the offset; emits */
    OP_SIZE,        /* gives the last range its size */
    OP_FILE,        /* sets the file */
    OP_LINE,        /* moves the line */
    OP_LINES,       /* number of lines: ignored */
    OP_RANGE_KIND,  /* statement or expression: ignored */
    OP_COLUMN,      /* columns are ignored, too */
    OP_COLUMN_END_MOVE,
    OP_MOVE_AND_LINE, /* moves offset and line; emits */
    OP_SIZE_AND_MOVE, /* moves the offset; emits with a size */
    OP_COLUMN_END
};


/* CVUncompressData (cvinfo.h): one, two or four bytes.  False: invalid. */
static bool
read_long_number(sym_pdb_annotations_t *a, uint32_t *value)
{
    const uint8_t *p = a->pos;
    const uint32_t first = p != a->end ? *p : 0xff;
    const unsigned n = first < 0x80 ? 1 : first < 0xc0 ? 2 : 4;

    if (first >= 0xe0 || (uint64_t) (a->end - p) < n) {
        a->pos = a->end;
        return false;
    }

    *value = n == 1   ? first
             : n == 2 ? (first & 0x3f) << 8 | p[1]
                      : (first & 0x1f) << 24 | (uint32_t) p[1] << 16
                            | (uint32_t) p[2] << 8 | p[3];
    a->pos += n;
    return true;
}


static inline bool
read_number(sym_pdb_annotations_t *a, uint32_t *value)
{
    if (a->pos == a->end || *a->pos >= 0x80) {
        return read_long_number(a, value);
    }

    *value = *a->pos++;
    return true;
}


/* DecodeSignedInt32 (cvinfo.h): the lowest bit is the sign. */
static uint32_t
signed_of(uint32_t value)
{
    return (value & 1) != 0 ? 0u - (value >> 1) : value >> 1;
}


void
sym_pdb_annotations_begin(sym_pdb_annotations_t *a, sym_str_t bytes,
                          uint32_t file, uint32_t line)
{
    const uint8_t *p = (const uint8_t *) bytes.data;

    *a = (sym_pdb_annotations_t){
        .pos = p, .end = p + bytes.len, .file = file, .line = line
    };
}


static void
set_size(sym_pdb_annotations_t *a, uint32_t size)
{
    if (a->has_pending && !a->is_sized) {
        a->pending.size = size;
        a->is_sized = true;
    }
}


/* A range without a size extends to the next one of its chunk. */
static bool
emit(sym_pdb_annotations_t *a, uint32_t size, bool is_sized,
     sym_pdb_range_t *range)
{
    const bool has_range = a->has_pending;

    if (a->pending.chunk == a->chunk) {
        set_size(a, a->offset > a->pending.offset
                        ? a->offset - a->pending.offset
                        : 0);
    }

    *range = a->pending;
    a->pending =
        (sym_pdb_range_t){ a->chunk, a->offset, size, a->file, a->line };
    a->has_pending = true;
    a->is_sized = is_sized;
    return has_range;
}


/* Carries out one operation.  False: the bytes end here. */
static bool
step(sym_pdb_annotations_t *a, sym_pdb_range_t *range, bool *has_range)
{
    uint32_t op, v = 0, move = 0;

    *has_range = false;
    if (!read_number(a, &op) || op == OP_END || op > OP_COLUMN_END
        || !read_number(a, &v))
    {
        return false;
    }

    switch (op) {
    case OP_CODE_OFFSET:
        a->offset = v;
        break;
    case OP_CHUNK:
        a->chunk = v;
        a->offset = 0;
        break;
    case OP_MOVE:
        a->offset += v;
        *has_range = emit(a, 1, false, range);
        break;
    case OP_SIZE:
        set_size(a, v);
        a->offset += v;
        break;
    case OP_FILE:
        a->file = v;
        break;
    case OP_LINE:
        a->line += signed_of(v);
        break;
    case OP_MOVE_AND_LINE:
        a->offset += v & 0xf;
        a->line += signed_of(v >> 4);
        *has_range = emit(a, 1, false, range);
        break;
    case OP_SIZE_AND_MOVE:
        if (!read_number(a, &move)) {
            return false;
        }
        a->offset += move;
        *has_range = emit(a, v, true, range);
        break;
    default:
        break;
    }

    return true;
}


bool
sym_pdb_annotations_next(sym_pdb_annotations_t *a, sym_pdb_range_t *range)
{
    bool has_range;

    while (step(a, range, &has_range)) {
        if (has_range) {
            return true;
        }
    }

    a->pos = a->end;
    has_range = a->has_pending;
    *range = a->pending;
    a->has_pending = false;
    return has_range;
}
