#include "formats/pdb/frames.h"

#include "formats/pdb/le.h"
#include "formats/unwind/postfix.h"

#define FRAME_BYTES 32
#define FPO_BYTES 16

/* In an image that was reordered, a function may have many ranges. */
#define STRETCHES_MAX 64

typedef struct {
    const sym_pdb_t *pdb;
    sym_cfi_writer_t *w;
    sym_buffer_t code;
    uint64_t broken;
    sym_error_t *err;
} frames_t;


/* Passes on a program for each range to which OMAP moved the code. */
static void
pass(frames_t *f, uint32_t rva, uint32_t size, const sym_frame_sizes_t *sizes,
     bool is_fpo)
{
    const sym_cfi_rules_t rules = {
        .program = { (const char *) f->code.data, f->code.len },
        .parameter_bytes = sizes->parameters,
    };
    sym_pdb_stretch_t s;
    uint32_t number, end;

    if (size > UINT32_MAX - rva || f->code.failed
        || sym_cfi_writer_rules(f->w, &rules, &number) != SYM_OK)
    {
        f->broken++;
        return;
    }

    end = rva + size;
    for (unsigned i = 0;
         i < STRETCHES_MAX
         && sym_pdb_next_stretch(&f->pdb->addresses, &rva, end, &s);
         i++)
    {
        (void) (is_fpo ? sym_cfi_writer_fallback : sym_cfi_writer_range)(
            f->w, s.addr, (uint64_t) s.addr + s.size, number);
    }
}


static void
read_frame(frames_t *f, const char *at)
{
    const sym_frame_sizes_t sizes = { .locals = sym_le32(at + 8),
                                      .parameters = sym_le32(at + 12),
                                      .saved_registers = sym_le16(at + 26) };
    const sym_str_t program = sym_pdb_name(f->pdb, sym_le32(at + 20));

    f->code.len = 0;
    if (sym_postfix_program(program, &sizes, &f->code)) {
        pass(f, sym_le32(at), sym_le32(at + 4), &sizes, false);
    } else {
        f->broken++;
    }
}


/* FPO_DATA: counts are of words of 4 bytes. */
static void
read_fpo(frames_t *f, const char *at)
{
    const unsigned bits = sym_le16(at + 14);
    const sym_frame_sizes_t sizes = {
        .locals = 4 * sym_le32(at + 8),
        .parameters = 4u * sym_le16(at + 12),
        .saved_registers = 4 * (bits >> 8 & 7), /* cbRegs */
    };

    f->code.len = 0;
    sym_postfix_fpo(&sizes, (bits >> 12 & 1) != 0 /* fUseBP */, &f->code);
    pass(f, sym_le32(at), sym_le32(at + 4), &sizes, true);
}


static sym_status_t
read_stream(frames_t *f, uint32_t stream, uint32_t each,
            void (*read)(frames_t *f, const char *at))
{
    sym_buffer_t copy = { 0 };
    sym_str_t bytes;
    sym_status_t rc = sym_msf_read(&f->pdb->msf, stream, &copy, &bytes, f->err);

    if (rc == SYM_OK) {
        /* an address, which relocations need, may precede the records */
        size_t at = bytes.len % each == 4 ? 4 : 0;

        for (; bytes.len - at >= each && f->err->status == SYM_OK; at += each) {
            read(f, bytes.data + at);
        }
    }

    sym_buffer_free(&copy);
    return f->err->status;
}


sym_status_t
sym_pdb_frames(const sym_pdb_t *pdb, sym_cfi_writer_t *w, uint64_t *broken,
               sym_error_t *err)
{
    frames_t f = { .pdb = pdb, .w = w, .err = err };
    sym_status_t rc =
        read_stream(&f, pdb->frame_stream, FRAME_BYTES, read_frame);

    rc = rc != SYM_OK ? rc
                      : read_stream(&f, pdb->fpo_stream, FPO_BYTES, read_fpo);
    sym_buffer_free(&f.code);
    *broken = f.broken;
    return rc;
}
