#include "catalogue.h"

#include "../bench.h"
#include "artifacts/kinds.h"
#include "random.h"
#include "sources/paths/plan.h"

/* As in t/lib/SymFleet.pm. */
#define SOURCE "symbols"
#define PEERS "/peers/"

#define PAGE 4096

/* Sizes and times of bench/RESULTS.md.  The shares are assumptions: most
 * modules are small, and few are of a large program. */
static const catalogue_class_t classes[] = {
    { "portable PDB, mean of 25", 2.9e6 / 25, 1130496.0 / 25, 0.0209 / 25,
      0.30 },
    { "PDB of a library, mean of 20", 89.4e6 / 20, 3321856.0 / 20, 0.12 / 20,
      0.40 },
    { "crash-client.sym", 4171369, 823296, 4.171369 / 83, 0.20 },
    { "large.pdb", 45.5e6, 4952064, 0.16, 0.07 },
    { "libjvm", 368.4e6, 12427264, 0.63, 0.02 },
    { "ceph-osd", 629.7e6, 23040000, 1.13, 0.01 },
};
#define N_CLASSES (sizeof(classes) / sizeof(classes[0]))

/* Bytes of crash-client's object in a bucket, and of its artifact. */
#define PACKED (498475.0 / 822687)

const catalogue_class_t *
catalogue_class(uint32_t id)
{
    random_t random = { catalogue_rank(id) };
    double at = random_unit(&random);
    size_t n = 0;

    while (n < N_CLASSES - 1 && at >= classes[n].share) {
        at -= classes[n++].share;
    }

    return &classes[n];
}


double
catalogue_packed_bytes(const catalogue_class_t *class)
{
    return class->artifact_bytes * PACKED;
}


static double
pages_of(const catalogue_class_t *class)
{
    return ceil(class->artifact_bytes / PAGE);
}


uint32_t
catalogue_pages(uint32_t id)
{
    return (uint32_t) pages_of(catalogue_class(id));
}


double
catalogue_mean_pages(void)
{
    double sum = 0;

    for (size_t i = 0; i < N_CLASSES; i++) {
        sum += classes[i].share * pages_of(&classes[i]);
    }

    return sum;
}


void
catalogue_texts(uint32_t id, catalogue_texts_t *texts)
{
    (void) snprintf(texts->id, sizeof(texts->id), "%016llX%016llX0",
                    (unsigned long long) random_mix(id + UINT64_C(1)),
                    (unsigned long long) random_mix(~(uint64_t) id));
    (void) snprintf(texts->name, sizeof(texts->name), "lib%u.so",
                    (unsigned) catalogue_rank(id));
}


/* A reference to the texts. */
static void
make_ref(uint32_t id, catalogue_texts_t *texts, sym_object_ref_t *ref)
{
    catalogue_texts(id, texts);
    sym_object_ref_mozilla(ref, sym_cstr(texts->name), sym_cstr(texts->id));
}


sym_str_t
catalogue_key(uint32_t id, char out[SYM_SHARE_KEY_MAX], unsigned *places)
{
    static sym_arena_t arena;
    sym_source_rules_t rules = { .layout = SYM_LAYOUT_BREAKPAD };
    sym_source_plan_t plan;
    sym_object_ref_t ref;
    catalogue_texts_t texts;
    size_t len = 0;

    rules.files = sym_layout_files(rules.layout);
    make_ref(id, &texts, &ref);
    sym_arena_reset(&arena);
    if (sym_source_plan(&arena, &ref, &rules,
                        sym_kind_files(SYM_KIND_SYMCACHE, ref.type),
                        SYM_DEBUG_FILES_FIRST, &plan)
            == SYM_OK
        && plan.n != 0)
    {
        len = sym_share_key(SYM_STR(SOURCE), plan.at[0].path, out);
    }

    if (len == 0) {
        die("a module has no key", NULL);
    }

    if (places != NULL) {
        *places = plan.n;
    }

    return sym_str(out, len);
}


sym_str_t
catalogue_peer_uri(uint32_t id, char out[SYM_SHARE_KEY_MAX])
{
    char debug_id[SYM_ID_TEXT_MAX];
    sym_object_ref_t ref;
    catalogue_texts_t texts;
    size_t len;

    make_ref(id, &texts, &ref);
    len = sym_debug_id_write_breakpad(&ref.debug_id, debug_id);
    return sym_str(out, (size_t) snprintf(out, SYM_SHARE_KEY_MAX,
                                          PEERS SOURCE "/%.*s", (int) len,
                                          debug_id));
}
