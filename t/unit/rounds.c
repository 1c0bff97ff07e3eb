/*
 * A request in several rounds: symcaches first, then the sources of the modules
 * that gave frames, which were not known before.  The API here shows a source
 * line after each function.  Each round passes only new needs to the driver,
 * and the answer is the same as if all files had been there.
 */
#include "api/request.h"
#include "artifacts/symcache/write/writer.h"
#include "request_kit.h"
#include "store/write.h"
#include "store_kit.h"

#define ID "0123456789ABCDEF0123456789ABCDEF1"
#define ADDR 16
#define MODULES 40

/* --- the API --- */

typedef struct {
    sym_request_t base;
    sym_request_options_t options;
    uint32_t next;
    sym_question_t question;
    uint32_t sources[MODULES]; /* what each module needs; 0: nothing */
} outline_t;


/* The body is a list of names, separated by spaces. */
static sym_status_t
parse(sym_request_t *r, uint32_t budget)
{
    sym_object_ref_t *ref;
    size_t start = 0;

    (void) budget;
    r->needs = sym_arena_calloc(r->arena, MODULES, sizeof(*r->needs));
    ref = sym_arena_alloc(r->arena, MODULES * sizeof(*ref));
    if (r->needs == NULL || ref == NULL) {
        return SYM_NOMEM;
    }

    for (size_t i = 0; i <= r->body.len; i++) {
        if (i == r->body.len || r->body.data[i] == ' ') {
            sym_str_t name = sym_str(r->body.data + start, i - start);

            sym_object_ref_named(ref, name, SYM_STR(ID));
            r->needs[r->stats.modules++] = (sym_need_t){
                .ref = ref,
                .kind = SYM_KIND_SYMCACHE,
                .found = SYM_NEED_MISSING,
            };
            ref++;
            start = i + 1;
        }
    }

    r->stats.frames = r->stats.modules;
    return SYM_OK;
}


static bool
look_up(outline_t *o, uint32_t module, sym_answer_t *answer)
{
    if (o->base.needs[module].found != SYM_NEED_FOUND) {
        return false;
    }

    o->question = (sym_question_t){ module, ADDR };
    sym_resolver_ask(o->base.resolver, &o->question, 1);
    sym_resolver_answer(o->base.resolver, 0, answer);
    return answer->n_levels != 0;
}


static sym_status_t
need_source(sym_request_t *r, uint32_t module, uint32_t *need)
{
    return sym_request_need(r, module, SYM_KIND_SOURCES, need);
}


static void
write_source(outline_t *o, uint32_t module, sym_out_t *out)
{
    sym_need_t *need = &o->base.needs[o->sources[module]];
    const uint8_t *data;
    size_t len;

    if (o->sources[module] == 0) {
        sym_out_raw(out, SYM_STR(": no frame"));
    } else if (need->found == SYM_NEED_FOUND
               && sym_artifact_extent(&need->artifact, 0, &data, &len)
                      == SYM_OK)
    {
        sym_out_raw(out, SYM_STR(" = "));
        sym_out_raw(out, sym_str((const char *) data, len));
    } else {
        sym_out_raw(out, need->found == SYM_NEED_PENDING
                             ? SYM_STR(": later")
                             : SYM_STR(": no source"));
    }
}


static sym_status_t
write_lines(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    outline_t *o = (outline_t *) r;
    sym_answer_t answer;

    for (; o->next<r->stats.modules && * budget> 0 && !out->is_full;
         o->next++, --*budget)
    {
        sym_out_raw(out, r->needs[o->next].ref->debug_file);
        if (look_up(o, o->next, &answer)) {
            sym_out_raw(out, SYM_STR(" "));
            sym_resolver_write_name(r->resolver, o->next, &answer, 0, out);
        }
        write_source(o, o->next, out);
        sym_out_raw(out, SYM_STR("\n"));
    }

    r->step = o->next == r->stats.modules ? NULL : write_lines;
    return SYM_OK;
}


/* Frames determine whose sources are needed. */
static sym_status_t
need_sources(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    outline_t *o = (outline_t *) r;
    sym_answer_t answer;

    (void) out;
    for (; o->next < r->stats.modules; o->next++, --*budget) {
        if (*budget == 0) {
            return SYM_AGAIN;
        }
        if (look_up(o, o->next, &answer)
            && need_source(r, o->next, &o->sources[o->next]) != SYM_OK)
        {
            return SYM_NOMEM;
        }
    }

    o->next = 0;
    r->step = write_lines;
    return SYM_OK;
}


static sym_status_t
begin(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    (void) out;
    (void) budget;
    ((outline_t *) r)->next = 0;
    r->step = need_sources;
    return SYM_OK;
}


static sym_request_t *
create(sym_arena_t *arena, bool tells_missing, const char *body)
{
    static const sym_request_ops_t ops = { .parse = parse, .begin = begin };
    outline_t *o = sym_arena_calloc(arena, 1, sizeof(*o));

    if (o == NULL) {
        return NULL;
    }

    o->options = (sym_request_options_t){ .tells_missing = tells_missing,
                                          .now_s = kit_clock };
    o->base = (sym_request_t){ .ops = &ops,
                               .arena = arena,
                               .body = sym_cstr(body),
                               .options = &o->options };
    return &o->base;
}


/* --- a store --- */

static sym_store_t *store;
static sym_snapshot_t *snapshot;

static sym_status_t
put_extent(void *ctx, uint32_t number, const uint8_t *data, size_t len,
           sym_error_t *err)
{
    return sym_ingest_extent(ctx, number, data, len, err);
}


static sym_status_t
put_symcache(sym_ingest_t *ingest, sym_str_t name)
{
    sym_writer_t *w = sym_writer_create(&kit_err);
    sym_module_info_t info = { .code_file = name };
    sym_line_t line = { 0, 4096, 1, 0 };
    sym_function_t f = { .size = 4096, .lines = &line, .n_lines = 1 };
    char text[64];

    (void) snprintf(text, sizeof(text), "%.*s_main", (int) name.len, name.data);
    (void) sym_writer_string(w, SYM_STR("file.c"), &line.file);
    (void) sym_writer_string(w, sym_cstr(text), &f.name);
    (void) sym_writer_function(w, &f);
    (void) sym_writer_finish(w, &info, put_extent, ingest, NULL);
    sym_writer_free(w);
    return kit_err.status;
}


static sym_status_t
put_source(sym_ingest_t *ingest, sym_str_t name)
{
    char text[64];
    int len =
        snprintf(text, sizeof(text), "int %.*s;", (int) name.len, name.data);

    return sym_ingest_extent(ingest, 0, (const uint8_t *) text, (size_t) len,
                             &kit_err);
}


static void
close_store(void)
{
    if (snapshot != NULL) {
        sym_snapshot_end(snapshot);
        snapshot = NULL;
    }
    if (store != NULL) {
        sym_store_close(store);
        store = NULL;
    }
}


static bool
open_view(sym_view_t *view)
{
    close_store();
    store = kit_reader();
    if (store == NULL
        || sym_snapshot_begin(store, &snapshot, &kit_err) != SYM_OK) {
        return false;
    }

    *view = (sym_view_t){ .snapshot = snapshot, .now_s = 1000 };
    return true;
}


/* The end of a fetch. */
static void
bring(sym_str_t name, sym_kind_t kind)
{
    sym_module_key_t key = { .scope = SYM_STR(""),
                             .name = name,
                             .id = SYM_STR(ID) };
    sym_object_record_t record = {
        .state = SYM_MODULE_READY,
        .kind_version = sym_kind_find(kind)->version,
        .quality = sym_kind_find(kind)->good,
        .path = SYM_STR("test"),
    };
    sym_ingest_t *ingest = NULL;
    sym_store_t *writer;

    close_store();
    writer = kit_writer((uint64_t) 64 << 20);

    if (writer == NULL
        || sym_ingest_begin_object(writer, kind, &ingest, &kit_err) != SYM_OK
        || (kind == SYM_KIND_SYMCACHE ? put_symcache(ingest, name)
                                      : put_source(ingest, name))
               != SYM_OK
        || kit_commit(ingest, &key, &record, &kit_err) != SYM_OK)
    {
        ok(false, "stored: %s", kit_err.what);
    }

    if (writer != NULL) {
        sym_store_close(writer);
    }
}


static void
evict(sym_str_t name, sym_kind_t kind)
{
    sym_module_key_t key = { .scope = SYM_STR(""),
                             .name = name,
                             .id = SYM_STR(ID) };
    sym_store_t *writer;

    close_store();
    writer = kit_writer((uint64_t) 64 << 20);
    ok(writer != NULL && kit_remove(writer, &key, kind, &kit_err) == SYM_OK,
       "evicted");
    if (writer != NULL) {
        sym_store_close(writer);
    }
}


/* --- a driver --- */

typedef struct {
    const char *brings; /* "a/symcache a/sources": files at its sources */
    const char *evicts; /* a symcache that is removed in the second round */
    char rounds[512];   /* what it had to fetch: "a/symcache; a/sources" */
    uint32_t budget;
} driver_t;


/* Fetches what the store lacks; the rest is settled as absent.  True: a file
 * arrived. */
static bool
settle(driver_t *d, sym_request_t *r)
{
    size_t len = strlen(d->rounds);
    bool has_come = false;
    uint32_t n;
    sym_need_t *needs = sym_request_needs(r, &n);

    for (uint32_t i = 0; i < n; i++) {
        sym_str_t name = needs[i].ref->debug_file;
        char word[64];

        if (needs[i].found == SYM_NEED_FOUND || needs[i].is_settled) {
            continue;
        }

        (void) snprintf(word, sizeof(word), "%.*s/%s", (int) name.len,
                        name.data, sym_kind_name(needs[i].kind));
        len += (size_t) snprintf(d->rounds + len, sizeof(d->rounds) - len,
                                 "%s ", word);
        if (strstr(d->brings, word) != NULL) {
            bring(name, needs[i].kind);
            sym_request_fetched(r, i);
            has_come = true;
        } else {
            needs[i].is_settled = true;
        }
    }

    (void) snprintf(d->rounds + len, sizeof(d->rounds) - len, "; ");
    return has_come;
}


static void
run(driver_t *d, sym_request_t *r, kit_result_t *result)
{
    sym_view_t view;
    unsigned rounds = 0;

    result->status = sym_request_parse(r, 1);
    if (result->status != SYM_OK || !open_view(&view)) {
        return;
    }

    while ((result->status = kit_write(r, &view, d->budget, 0, result))
           == SYM_NOT_FOUND)
    {
        if (!settle(d, r)) {
            continue; /* in the same view */
        }

        if (d->evicts != NULL && ++rounds == 2) {
            evict(sym_cstr(d->evicts), SYM_KIND_SYMCACHE);
        }
        if (!open_view(&view)) {
            break;
        }
        sym_request_reopen(r);
    }

    close_store();
    result->stats = *sym_request_stats(r);
}


static void
check(const char *body, driver_t *d, const char *rounds, const char *text,
      const char *what)
{
    kit_result_t result = { 0 };
    sym_arena_t arena;
    sym_request_t *r;

    sym_arena_init(&arena, 0);
    r = create(&arena, d->brings != NULL, body);
    run(d, r, &result);
    ok(result.status == SYM_OK, "%s: answered", what);
    is_str(sym_cstr(d->rounds), rounds, what);
    is_str(sym_str(result.text, result.len), text, what);
    free(result.text);
    sym_arena_drop(&arena);
}


/* --- tests --- */

static void
test_two_rounds(void)
{
    driver_t d = { .brings = "a/symcache a/sources b/symcache" };

    check("a b c", &d,
          "a/symcache b/symcache c/symcache ; a/sources b/sources ; ",
          "a a_main = int a;\n"
          "b b_main: no source\n"
          "c: no frame\n",
          "frames, then the sources of those that exist");
}


static void
test_all_there(void)
{
    driver_t d = { .brings = "" };

    check("a", &d, "", "a a_main = int a;\n", "nothing to wait for");
}


static void
test_second_only(void)
{
    driver_t d = { .brings = "b/sources" };

    check("b a", &d, "b/sources ; ", "b b_main = int b;\na a_main = int a;\n",
          "only the second round waits");
}


static void
test_nothing_comes(void)
{
    driver_t d = { .brings = "" };

    bring(SYM_STR("n"), SYM_KIND_SYMCACHE);
    check("n none", &d, "none/symcache ; n/sources ; ",
          "n n_main: no source\nnone: no frame\n",
          "settled without waiting, the answer goes on in both rounds");
}


/* Offset of a source's text. */
static bool
spoil(const char *text)
{
    kit_lmdb_t l;
    MDB_cursor *cursor = NULL;
    MDB_val key, val;
    bool is_done = false;

    close_store();
    if (!kit_lmdb_open(&l) || mdb_cursor_open(l.txn, l.extents, &cursor) != 0) {
        return false;
    }

    while (!is_done && mdb_cursor_get(cursor, &key, &val, MDB_NEXT) == 0) {
        if (val.mv_size >= strlen(text)
            && memcmp(val.mv_data, text, strlen(text)) == 0) {
            is_done = kit_lmdb_flip(l.txn, l.extents, key, 1, 1);
        }
    }

    mdb_cursor_close(cursor);
    return kit_lmdb_close(&l) && is_done;
}


static void
test_damaged(void)
{
    driver_t d = { .brings = "d/sources" }, other = { .brings = "" };

    bring(SYM_STR("d"), SYM_KIND_SYMCACHE);
    bring(SYM_STR("d"), SYM_KIND_SOURCES);
    ok(spoil("int d;"), "a byte of a source is another");
    check("d", &other, "d/sources ; ", "d d_main: no source\n",
          "damaged sources are missing");
    check("d", &d, "d/sources ; ", "d d_main = int d;\n",
          "and are fetched again");
}


static void
test_no_driver(void)
{
    driver_t d = { .brings = NULL };

    bring(SYM_STR("lone"), SYM_KIND_SYMCACHE);
    check("lone none a", &d, "",
          "lone lone_main: no source\nnone: no frame\na a_main = int a;\n",
          "without a driver that fetches, it does not pause");
}


static void
test_evicted_between(void)
{
    driver_t d = { .brings = "e/symcache e/sources", .evicts = "e" };

    check("e", &d, "e/symcache ; e/sources ; e/symcache ; ",
          "e e_main = int e;\n",
          "a symcache evicted after the second round: fetched again");
}


static void
test_slices(void)
{
    for (uint32_t budget = 1; budget < 5; budget++) {
        char names[3][8], brings[128], rounds[128], text[256], body[32];
        driver_t d = { .budget = budget, .brings = brings };

        for (unsigned i = 0; i < 3; i++) {
            (void) snprintf(names[i], sizeof(names[i]), "s%u%u",
                            (unsigned) budget, i);
        }
        (void) snprintf(body, sizeof(body), "%s %s %s", names[0], names[1],
                        names[2]);
        (void) snprintf(brings, sizeof(brings),
                        "%s/symcache %s/symcache %s/sources %s/sources",
                        names[0], names[2], names[0], names[2]);
        (void) snprintf(rounds, sizeof(rounds),
                        "%s/symcache %s/symcache %s/symcache ; "
                        "%s/sources %s/sources ; ",
                        names[0], names[1], names[2], names[0], names[2]);
        (void) snprintf(text, sizeof(text),
                        "%s %s_main = int %s;\n%s: no frame\n"
                        "%s %s_main = int %s;\n",
                        names[0], names[0], names[0], names[1], names[2],
                        names[2], names[2]);
        check(body, &d, rounds, text, "in slices");
    }
}


/* More needs than there is room for at first; none is reported twice. */
static void
test_many(void)
{
    char body[256] = "", text[1024] = "";
    driver_t d = { .brings = "" };
    kit_result_t result = { 0 };
    sym_arena_t arena;
    sym_request_t *r;
    uint32_t n;

    for (unsigned i = 0; i < MODULES; i++) {
        char name[8];

        (void) snprintf(name, sizeof(name), "m%u", i);
        bring(sym_cstr(name), SYM_KIND_SYMCACHE);
        bring(sym_cstr(name), SYM_KIND_SOURCES);
        (void) snprintf(body + strlen(body), sizeof(body) - strlen(body),
                        i == 0 ? "%s" : " %s", name);
        (void) snprintf(text + strlen(text), sizeof(text) - strlen(text),
                        "%s %s_main = int %s;\n", name, name, name);
    }

    sym_arena_init(&arena, 0);
    r = create(&arena, true, body);
    run(&d, r, &result);
    is_str(sym_str(result.text, result.len), text, "many");
    (void) sym_request_needs(r, &n);
    is_u64(n, UINT64_C(2) * MODULES, "two kinds of each");
    (void) sym_request_modules(r, &n);
    is_u64(n, MODULES, "sources are not counted as modules");
    is_u64(result.stats.missing, 0, "nor in the statistics");

    ok(need_source(r, 3, &n) == SYM_OK && n == MODULES + 3,
       "a need is known again");
    ok(sym_request_need(r, 3, SYM_KIND_SYMCACHE, &n) == SYM_OK && n == 3,
       "so is a need of the first round");
    (void) sym_request_needs(r, &n);
    is_u64(n, UINT64_C(2) * MODULES, "and add no needs");
    ok(sym_request_need(r, 3, SYM_KIND_PPDB, &n) == SYM_OK && n == 2 * MODULES
           && sym_request_needs(r, &(uint32_t){ 0 })[n].kind == SYM_KIND_PPDB,
       "a third kind of the module is another need");
    free(result.text);
    sym_arena_drop(&arena);
}


/* While the client reads the first line, the sources of the second are evicted. */
static void
test_paused(void)
{
    kit_result_t result = { 0 };
    kit_window_t w = { &result, NULL, 1, true };
    sym_out_t out = { .more = kit_more, .ctx = &w };
    sym_status_t rc = SYM_NOMEM;
    sym_view_t view;
    sym_arena_t arena;
    sym_request_t *r;
    unsigned pauses = 0;

    sym_arena_init(&arena, 0);
    r = create(&arena, true, "m1 m2");

    if (sym_request_parse(r, 1) == SYM_OK && open_view(&view)) {
        while ((rc = sym_request_answer(r, &view, &out, 100)) == SYM_AGAIN) {
            out.is_full = false;
            if (++pauses == 1) {
                evict(SYM_STR("m2"), SYM_KIND_SOURCES);
            }
            if (!open_view(&view) || !sym_request_resume(r, &view)) {
                break;
            }
        }
    }

    kit_take(&out, &w);
    ok(rc == SYM_OK && pauses != 0, "answered after %u pauses", pauses);
    is_str(sym_str(result.text, result.len),
           "m1 m1_main = int m1;\nm2 m2_main: later\n",
           "evicted sources are pending");
    is_u64(sym_request_stats(r)->lost, 1, "and counted as lost");
    close_store();
    free(w.window);
    free(result.text);
    sym_arena_drop(&arena);
}


int
main(void)
{
    sym_store_t *writer;

    kit_folder();
    writer = kit_writer((uint64_t) 64 << 20);
    if (ok(writer != NULL, "a store")) {
        sym_store_close(writer);
        test_two_rounds();
        test_all_there();
        test_second_only();
        test_nothing_comes();
        test_damaged();
        test_no_driver();
        test_evicted_between();
        test_slices();
        test_many();
        test_paused();
    }

    kit_clean();
    return done_testing();
}
