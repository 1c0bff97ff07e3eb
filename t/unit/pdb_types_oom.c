/*
 * Memory runs out while types of a PDB are opened and a name is written: each
 * allocation in turn fails.
 */
#include "formats/pdb/records.h"
#include "oom.h"
#include "pdb_kit.h"
#include "tap.h"

/* f(D (&)[3]): D is declared, and defined later with 24 bytes */
static uint32_t
make_types(kit_stream_t *t)
{
    uint32_t declared =
        kit_record(t, SYM_LF_CLASS, "hhwwwhs", 0U, 0x80U, 0U, 0U, 0U, 0U, "D");
    uint32_t array =
        kit_record(t, SYM_LF_ARRAY, "wwhs", declared, 0x23U, 72U, "");
    uint32_t reference = kit_record(t, SYM_LF_POINTER, "ww", array, 0x1002cU);
    uint32_t list = kit_record(t, SYM_LF_ARGLIST, "ww", 1U, reference);
    uint32_t f = kit_record(t, SYM_LF_PROCEDURE, "whhw", 3U, 0U, 1U, list);

    (void) kit_record(t, SYM_LF_CLASS, "hhwwwhs", 0U, 0U, 0U, 0U, 0U, 24U, "D");
    return f;
}


/* SYM_OK with the name in name, or the error. */
static sym_status_t
run(sym_str_t tpi, uint32_t f, char *name, size_t size)
{
    sym_error_t err = { 0 };
    sym_pdb_types_t types;
    sym_pdb_scratch_t *s = NULL;
    sym_str_t got = { NULL, 0 };
    const sym_pdb_type_stream_t both = { .records = tpi };
    sym_status_t rc = sym_pdb_types_open(&types, &both, &both, NULL, &err);

    if (rc == SYM_OK) {
        s = sym_pdb_scratch_create(&types);
        rc = s == NULL
                 ? SYM_NOMEM
                 : sym_pdb_types_function_name(s, SYM_STR("f"), f, false, &got);
    }

    (void) snprintf(name, size, "%.*s", rc == SYM_OK ? (int) got.len : 0,
                    got.data);
    sym_pdb_scratch_free(s);
    sym_pdb_types_close(&types);
    return rc;
}


int
main(void)
{
    kit_stream_t t = { 0 };
    uint32_t f = make_types(&t);
    sym_str_t tpi = kit_stream(&t);
    sym_status_t rc = SYM_NOMEM;
    unsigned long n = 0;
    char name[64];

    for (; rc == SYM_NOMEM && n < 100; n++) {
        allocations_left = n;
        rc = run(tpi, f, name, sizeof(name));
        allocations_left = (unsigned long) -1;
    }

    ok(rc == SYM_OK, "with enough memory it succeeds");
    ok(n > 4, "... each allocation failed once");
    is_str(sym_cstr(name), "f(D[3]&)", "the name");
    free((char *) (uintptr_t) tpi.data);
    sym_buffer_free(&t.bytes);
    return done_testing();
}
