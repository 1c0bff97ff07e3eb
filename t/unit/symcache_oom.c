/*
 * Memory runs out at the 1st, 2nd, .. nth allocation of writing a module: each
 * time the writer says so and frees everything (the leak check of the sanitizer
 * run sees that).
 */
#include <stdlib.h>

#include "oom.h"
#include "artifacts/symcache/write/shard.h"
#include "tap.h"


static sym_status_t
discard(void *ctx, uint32_t number, const uint8_t *data, size_t len,
        sym_error_t *err)
{
    (void) ctx;
    (void) number;
    (void) data;
    (void) len;
    (void) err;
    return SYM_OK;
}


/* Functions with statements, from a part. */
static sym_status_t
join_part(sym_writer_t *w)
{
    const sym_flat_node_t node = { .name = SYM_NO_STRING,
                                   .call_file = SYM_NO_STRING };
    sym_shard_t part;
    sym_status_t rc = SYM_OK;

    sym_shard_init(&part);
    for (uint32_t i = 0; i < 300 && rc == SYM_OK; i++) {
        sym_segment_t segment = { 100000 + i * 8, 0, SYM_NO_STRING, 0 };
        sym_statement_t s = { segment.addr, 4, SYM_NO_STRING, 0 };

        rc = sym_shard_function(&part,
                                &(sym_flat_function_t){ .addr = segment.addr,
                                                        .size = 8,
                                                        .nodes = &node,
                                                        .n_nodes = 1,
                                                        .segments = &segment,
                                                        .n_segments = 1,
                                                        .statements = &s,
                                                        .n_statements = 1 });
    }

    rc = rc == SYM_OK ? sym_writer_join(w, &part) : rc;
    sym_shard_free(&part);
    return rc;
}


/* Functions that overlap, inline ranges that are cut, names of all kinds. */
static sym_status_t
write_module(sym_error_t *err)
{
    sym_writer_t *w = sym_writer_create(err);
    sym_module_info_t info = { .debug_file = SYM_STR("module") };
    uint32_t id = 0, late = 0;
    sym_status_t rc = SYM_OK;
    char text[100];

    if (w == NULL) {
        return err->status;
    }

    if (sym_writer_reserve(w, &late) != SYM_OK) {
        goto done;
    }

    for (uint32_t i = 0; i < 300; i++) {
        sym_line_t lines[] = { { i * 64 + 32, 8, i, late },
                               { i * 64, 32, i + 1, late } };
        sym_inline_t inlines[40];

        (void) snprintf(text, sizeof(text), "a_function_called_%u_%u", i * 7,
                        i);
        if (sym_writer_string(w, sym_cstr(text), &id) != SYM_OK) {
            goto done;
        }

        for (uint32_t k = 0; k < 40; k++) {
            inlines[k] = (sym_inline_t){ i * 64 + k, 30, k % 3, id, k, late };
        }

        sym_function_t f = { .addr = i * 64,
                             .size = i % 10 == 0 ? 100 : 64,
                             .name = id,
                             .lines = lines,
                             .n_lines = 2,
                             .inlines = inlines,
                             .n_inlines = i % 5 == 0 ? 40 : 0 };
        if (sym_writer_function(w, &f) != SYM_OK
            || sym_writer_public(w, 40000 + i, id) != SYM_OK)
        {
            goto done;
        }
    }

    rc = join_part(w);
    if (rc == SYM_OK && sym_writer_define(w, late, SYM_STR("file.c")) == SYM_OK)
    {
        (void) sym_writer_finish(w, &info, discard, NULL, NULL);
    }

done:
    sym_writer_free(w);
    return rc != SYM_OK ? rc : err->status;
}


int
main(void)
{
    unsigned long n = 0;
    bool honest = true;
    sym_status_t rc;

    do {
        sym_error_t err = { 0 };

        allocations_left = n++;
        rc = write_module(&err);
        allocations_left = (unsigned long) -1;
        honest = honest && (rc == SYM_OK || rc == SYM_NOMEM);
    } while (rc != SYM_OK && n < 100000);

    is_u64(rc, SYM_OK, "with enough memory it succeeds");
    ok(n > 30, "after %lu failures", n - 1);
    ok(honest, "each is reported as out of memory");
    return done_testing();
}
