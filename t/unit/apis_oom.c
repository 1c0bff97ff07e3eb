/*
 * Memory runs out at the 1st, 2nd, .. nth allocation of a request, in the
 * readers and answers of every API.  Each time the answer says so and never
 * blames the client, and all memory is freed (the leak check of the sanitizer
 * run sees that).
 */
#include <jansson.h>

#include "api/atos/atos.h"
#include "api/tecken/tecken.h"
#include "oom.h"
#include "store_kit.h"
#include "artifacts/symcache/write/writer.h"

#define ID "0123456789ABCDEF0123456789ABCDEF1"
#define SWEEP_MAX 5000


static sym_status_t
put_extent(void *ctx, uint32_t number, const uint8_t *data, size_t len,
           sym_error_t *err)
{
    return sym_ingest_extent(ctx, number, data, len, err);
}


/* A function with many inlined calls, and a name that must be escaped. */
static void
fill(sym_writer_t *w)
{
    sym_line_t line = { 0, 4096, 1, 0 };
    sym_inline_t inlines[200];
    sym_function_t f = { .size = 4096,
                         .lines = &line,
                         .n_lines = 1,
                         .inlines = inlines,
                         .n_inlines = 200 };
    char text[64];

    (void) sym_writer_string(w, SYM_STR("file \"\xc3\xa9\".c"), &line.file);
    for (uint32_t i = 0; i < 200; i++) {
        inlines[i] = (sym_inline_t){ i, 4096 - 2 * i, i, 0, i, line.file };
        (void) snprintf(text, sizeof(text), "inlined %u", i);
        (void) sym_writer_string(w, sym_cstr(text), &inlines[i].name);
    }
    (void) sym_writer_string(w, SYM_STR("outer\n"), &f.name);
    (void) sym_writer_function(w, &f);
}


static bool
make_store(void)
{
    sym_store_t *store = kit_writer((uint64_t) 64 << 20);
    sym_module_key_t key = { .scope = SYM_STR(""),
                             .name = SYM_STR("a.pdb"),
                             .id = SYM_STR(ID) };
    sym_object_record_t record = { .state = SYM_MODULE_READY,
                                   .kind_version = SYM_SYMCACHE_VERSION,
                                   .quality = SYM_QUALITY_LINES };
    sym_module_info_t info = { .code_file = SYM_STR("a \"1\".dll") };
    sym_ingest_t *ingest = NULL;
    sym_writer_t *w = sym_writer_create(&kit_err);

    if (store != NULL && w != NULL
        && sym_ingest_begin_object(store, SYM_KIND_SYMCACHE, &ingest, &kit_err)
               == SYM_OK)
    {
        fill(w);
        (void) sym_writer_finish(w, &info, put_extent, ingest, NULL);
        (void) kit_commit(ingest, &key, &record, &kit_err);
    }

    sym_writer_free(w);
    if (store != NULL) {
        sym_store_close(store);
    }
    return is_status(kit_err.status, SYM_OK, &kit_err, "a store");
}


/* --- a request --- */

typedef struct {
    unsigned version; /* 0: atos */
    bool general, is_query;
    sym_str_t body;
    sym_snapshot_t *snapshot;
    sym_store_t *store;
    sym_worker_cache_t *kept;
} ask_t;

/* Windows whose contents are not read; getting one may fail as well. */
typedef struct {
    char bytes[SYM_OUT_NEED_MAX];
    uint64_t len;
} windows_t;

static windows_t windows;


static bool
more(sym_out_t *out, size_t need)
{
    (void) need;

    if (out->pos != NULL) {
        windows.len += (uint64_t) (out->pos - windows.bytes);
    }

    out->pos = windows.bytes;
    out->end = windows.bytes + sizeof(windows.bytes);
    return may_allocate();
}


static double
clock_s(void)
{
    return 1;
}


static sym_status_t
answer(sym_request_t *t, const ask_t *ask)
{
    const sym_view_t view = { ask->snapshot, ask->kept, 1 };
    sym_out_t out = { .more = more };
    sym_status_t rc;

    do {
        rc = sym_request_answer(t, &view, &out, 50);
    } while (rc == SYM_AGAIN);

    (void) may_allocate();
    windows.len += out.pos != NULL ? (uint64_t) (out.pos - windows.bytes) : 0;
    return rc;
}


static sym_request_t *
create(const ask_t *ask, sym_arena_t *arena)
{
    const sym_tecken_options_t tecken = { .version = ask->version,
                                          .debug = true,
                                          .common.now_s = clock_s };
    const sym_atos_options_t atos = { .is_query = ask->is_query,
                                      .common.now_s = clock_s };

    return ask->version != 0 ? sym_tecken_create(arena, &tecken, ask->body)
                             : sym_atos_create(arena, &atos, ask->body);
}


/* *len: length of the answer or message. */
static sym_status_t
request(const ask_t *ask, uint64_t *len)
{
    sym_status_t rc = SYM_NOMEM;
    sym_arena_t arena;
    sym_request_t *t;

    windows.len = 0;
    *len = 0;
    sym_arena_init(&arena, 0);
    t = create(ask, &arena);

    if (t != NULL) {
        do {
            rc = ask->general ? sym_tecken_parse_general(t)
                              : sym_request_parse(t, 50);
        } while (rc == SYM_AGAIN);

        if (rc == SYM_OK) {
            rc = answer(t, ask);
            *len = windows.len;
        } else if (rc == SYM_MALFORMED) {
            *len = sym_request_message(t).len;
        }
    }

    sym_arena_drop(&arena);
    return rc;
}


static void
sweep(const ask_t *ask, sym_status_t want, const char *name)
{
    uint64_t want_len, len;
    unsigned long n = 0;
    bool honest = true;
    sym_status_t rc;

    allocations_left = (unsigned long) -1;
    rc = request(ask, &want_len);
    ok(rc == want && want_len > 0, "%s: with enough memory", name);

    do {
        allocations_left = n++;
        rc = request(ask, &len);
        /* allocations that only speed things up may fail: the answer is the
         * same */
        honest = honest && (rc == SYM_NOMEM || (rc == want && len == want_len));
    } while ((rc == SYM_NOMEM || allocations_left == 0) && n < SWEEP_MAX);

    allocations_left = (unsigned long) -1;
    ok(rc == want && n > 3, "%s: after %lu failures", name, n - 1);
    ok(honest, "%s: out of memory each time, or complete", name);
}


/* --- bodies --- */

static char body[200000];


/* Addresses of the module's inlined calls, and of images that do not exist. */
static sym_str_t
atos_body(uint32_t frames, const char *last)
{
    size_t n = (size_t) snprintf(body, sizeof(body),
                                 "{\"inline\":\"all\",\"images\":[");

    for (uint32_t i = 0; i < 50; i++) {
        n += (size_t) snprintf(body + n, sizeof(body) - n,
                               "{\"uuid\":\"" ID "\",\"image\":\"%s\","
                               "\"slide\":\"%x\"},",
                               i % 2 == 0 ? "a.pdb" : "other", i);
    }

    n +=
        (size_t) snprintf(body + n - 1, sizeof(body) - n, "],\"frames\":[") - 1;
    for (uint32_t i = 0; i < frames; i++) {
        n += (size_t) snprintf(body + n, sizeof(body) - n, "[%u,\"0x%x\"],",
                               i % 50, i + 50);
    }

    n += (size_t) snprintf(body + n, sizeof(body) - n, "%s]}", last);
    return sym_str(body, n);
}


static sym_str_t
body_of(uint32_t frames, const char *last)
{
    size_t n = (size_t) snprintf(body, sizeof(body),
                                 "{\"memoryMap\":[[\"a.pdb\",\"" ID "\"]");

    for (uint32_t i = 0; i < 100; i++) {
        n += (size_t) snprintf(body + n, sizeof(body) - n,
                               ",[\"other%u\",\"" ID "\"]", i);
    }

    n += (size_t) snprintf(body + n, sizeof(body) - n, "],\"stacks\":[[");
    for (uint32_t i = 0; i < frames; i++) {
        n += (size_t) snprintf(body + n, sizeof(body) - n, "[%u,%" PRIu64 "],",
                               i % 7 == 0 ? i % 100 : 0,
                               i % 50 == 49 ? (uint64_t) i << 32 : i);
    }

    n += (size_t) snprintf(body + n, sizeof(body) - n, "%s]],\"x\":\"y\"}",
                           last);
    return sym_str(body, n);
}


int
main(void)
{
    ask_t ask = { .version = 5 };

    kit_folder();
    /* the linker cannot wrap jansson's allocations */
    json_set_alloc_funcs(__wrap_malloc, free);
    json_object_seed(1);

    if (make_store() && ok((ask.store = kit_reader()) != NULL, "opened")
        && is_status(sym_snapshot_begin(ask.store, &ask.snapshot, &kit_err),
                     SYM_OK, &kit_err, "a snapshot"))
    {
        ask.body = body_of(4500, "[-1,-1]");
        sweep(&ask, SYM_OK, "direct");

        ask.kept = sym_worker_cache_create(0);
        ok(ask.kept != NULL, "room for an answer cache");
        sweep(&ask, SYM_OK, "direct, with the cache");
        sym_worker_cache_free(ask.kept);
        ask.kept = NULL;


        ask.body = body_of(60, "[0,123456789012345678901234567890]");
        ask.general = true;
        sweep(&ask, SYM_OK, "general");

        ask.version = 4;
        ask.body =
            body_of(60, "[0,1.5],[0,[\"x\\\"y\",{\"k\":1e3}]],[0,\"t\"]");
        sweep(&ask, SYM_OK, "v4");

        ask.body = body_of(10, "[0,-7]");
        sweep(&ask, SYM_MALFORMED, "a message");

        ask.general = false;
        ask.version = 0;
        ask.body = atos_body(300, "[0,0]");
        sweep(&ask, SYM_OK, "atos");
        ask.body = atos_body(10, "[0,-7]");
        sweep(&ask, SYM_MALFORMED, "a message of atos");

        ask.is_query = true;
        ask.body = SYM_STR("uuid=" ID "&image=%61.pdb&inline=all&slide=0"
                           "&address=0x1&address=0x40&full_path=true");
        sweep(&ask, SYM_OK, "atos, a query");
        ask.body = SYM_STR("uuid=" ID "&image=a.pdb&address=1&uuid=" ID);
        sweep(&ask, SYM_MALFORMED, "a message about a query");

        ask.body = body_of(10, "[0,,]");
        sweep(&ask, SYM_MALFORMED, "no JSON");
        sym_snapshot_end(ask.snapshot);
    }

    if (ask.store != NULL) {
        sym_store_close(ask.store);
    }
    kit_clean();
    return done_testing();
}
