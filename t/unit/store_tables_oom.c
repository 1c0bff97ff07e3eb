/*
 * Memory runs out at the 1st, 2nd, .. nth allocation of all operations on
 * objects and paths: each says so, nothing is half done, and all memory is
 * freed (the leak check of the sanitizer run sees that).
 */
#include "oom.h"
#include "tables_kit.h"

static sym_object_ref_t a, b;

static const artifact_t of_a = { .scope = "one",
                                 .path = "p/a",
                                 .kind = SYM_KIND_SYMCACHE,
                                 .quality = 2,
                                 .source_bytes = 1 };
static const artifact_t of_b = { .scope = "one",
                                 .path = "p/b",
                                 .kind = SYM_KIND_SYMCACHE,
                                 .quality = 2,
                                 .source_bytes = 2,
                                 .is_named = true };

static sym_status_t
remove_all(sym_store_t *w)
{
    sym_store_mark_t mark = { .len = 0 };
    uint64_t n = 0;
    sym_status_t status =
        sym_store_clear_path(w, SYM_STR("one"), SYM_STR("x/p/a"), &n, &kit_err);

    if (status == SYM_OK) {
        status = sym_store_remove_objects(w, &SYM_STR("one"), &b, SYM_KIND_ALL,
                                          &kit_err);
    }
    return status != SYM_OK
               ? status
               : sym_store_forget_part(w, NULL, &a, &mark, 100, &n, &kit_err);
}


static sym_status_t
work(void)
{
    sym_path_record_t absent = path_of(SYM_PATH_ABSENT, 0);
    sym_store_t *w = kit_writer((uint64_t) 16 << 20);
    sym_status_t status;
    uint64_t n = 0;

    if (w == NULL) {
        return kit_err.status;
    }

    status = put_path(w, "one", "a.so/" ID_A, "sum", &absent);
    status = status != SYM_OK ? status : put_artifact(w, &a, &of_a, NULL, NULL);
    status = status != SYM_OK ? status : put_artifact(w, &b, &of_b, NULL, NULL);
    status = status != SYM_OK
                 ? status
                 : sym_store_verify(w, kit_note, NULL, &n, &kit_err);
    status = status != SYM_OK ? status : remove_all(w);
    status = status != SYM_OK ? status : put_artifact(w, &b, &of_b, NULL, NULL);
    status = status != SYM_OK ? status : sym_store_evict(w, 0, &n, &kit_err);
    sym_store_close(w);
    return status;
}


int
main(void)
{
    unsigned failures = 0, odd = 0, unwell = 0;

    a = ref_of("a.so", ID_A, BUILD_A);
    b = ref_of("b.so", ID_B, NULL);
    for (unsigned long n = 0; n < 1000; n++) {
        sym_status_t status;
        sym_store_t *w;

        kit_folder();
        allocations_left = n;
        status = work();
        allocations_left = (unsigned long) -1;

        w = kit_writer((uint64_t) 16 << 20);
        unwell += w == NULL || kit_faults(w) != 0
                  || put_artifact(w, &a, &of_a, NULL, NULL) != SYM_OK;
        sym_store_close(w);
        kit_clean();

        if (status == SYM_OK) {
            break;
        }
        failures++;
        odd += status != SYM_NOMEM;
    }

    ok(failures > 10 && failures < 1000, "%u allocations failed in turn",
       failures);
    is_u64(odd, 0, "each time it says that it is out of memory");
    is_u64(unwell, 0, "and the store keeps working");
    return done_testing();
}
