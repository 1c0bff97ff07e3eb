/*
 * An object has several artifacts.  Each is found, replaced and evicted by
 * itself; removing the object's key removes all of them.
 */
#include "store_kit.h"

#define MIB ((uint64_t) 1 << 20)
#define ID "0123456789ABCDEF0123456789ABCDEF1"


static sym_status_t
put_at(sym_store_t *w, const sym_module_key_t *key, sym_kind_t kind,
       const char *bytes)
{
    sym_object_record_t record = { .state = SYM_MODULE_READY,
                                   .kind_version = sym_kind_find(kind)->version,
                                   .quality = SYM_QUALITY_LINES,
                                   .path = SYM_STR("test") };
    sym_ingest_t *ingest;

    kit_err = (sym_error_t){ 0 };
    if (sym_ingest_begin_object(w, kind, &ingest, &kit_err) != SYM_OK) {
        return kit_err.status;
    }

    (void) sym_ingest_extent(ingest, 0, (const uint8_t *) bytes, strlen(bytes),
                             &kit_err);
    return kit_commit(ingest, key, &record, &kit_err);
}


static sym_status_t
put(sym_store_t *w, const char *name, sym_kind_t kind, const char *bytes)
{
    sym_module_key_t key = kit_key(name);

    return put_at(w, &key, kind, bytes);
}


/* The bytes of an artifact; "": it does not exist. */
static const char *
bytes_of(sym_store_t *store, const sym_module_key_t *key, sym_kind_t kind)
{
    static char out[64];
    sym_object_record_t record;
    sym_snapshot_t *s;
    sym_error_t err = { 0 };
    const uint8_t *data;
    size_t len;

    out[0] = '\0';
    if (sym_snapshot_begin(store, &s, &err) != SYM_OK) {
        return "no snapshot";
    }

    if (kit_find(s, key, kind, &record, &err) == SYM_OK && record.kind == kind
        && sym_snapshot_extent_checked(s, record.module_id, 0, &data, &len)
               == SYM_OK
        && len < sizeof(out))
    {
        memcpy(out, data, len);
        out[len] = '\0';
    }

    sym_snapshot_end(s);
    return out;
}


static void
has(sym_store_t *store, const char *name, sym_kind_t kind, const char *want,
    const char *what)
{
    sym_module_key_t key = kit_key(name);

    is_str(sym_cstr(bytes_of(store, &key, kind)), want, what);
}


static sym_status_t
list(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    char *out = ctx;
    size_t len = strlen(out);

    (void) scope;
    (void) snprintf(out + len, 128 - len, "%.*s:%s ",
                    (int) record->object.name.len, record->object.name.data,
                    sym_kind_name(record->kind));
    return SYM_OK;
}


static void
lists(sym_store_t *store, const char *want, const char *what)
{
    char out[128] = "";
    sym_snapshot_t *s;

    (void) sym_snapshot_begin(store, &s, &kit_err);
    (void) sym_snapshot_each(s, list, out, &kit_err);
    sym_snapshot_end(s);
    is_str(sym_cstr(out), want, what);
}


/* An id that begins with another id belongs to another object. */
static void
test_longer_id(sym_store_t *w)
{
    sym_module_key_t a = kit_key("a"), longer = a;

    longer.id = SYM_STR(ID "2");
    (void) put(w, "a", SYM_KIND_SYMCACHE, "symcache of a");
    (void) put(w, "a", SYM_KIND_SOURCES, "sources of a");
    (void) put_at(w, &longer, SYM_KIND_SYMCACHE, "of another age");
    (void) put_at(w, &longer, SYM_KIND_SOURCES, "sources of another age");
    lists(w, "a:symcache a:sources a:symcache a:sources ab:symcache ",
          "kinds are adjacent even if one id begins with another");
    (void) kit_remove(w, &a, SYM_KIND_ALL, &kit_err);
    lists(w, "a:symcache a:sources ab:symcache ", "one object's are removed");
    is_str(sym_cstr(bytes_of(w, &longer, SYM_KIND_SYMCACHE)), "of another age",
           "... and no other's");
    (void) kit_remove(w, &longer, SYM_KIND_ALL, &kit_err);
}


static void
test_kinds(void)
{
    sym_module_key_t a = kit_key("a"), by_id = kit_key("");
    sym_store_t *w;

    kit_folder();
    w = kit_writer(64 * MIB);
    (void) put(w, "a", SYM_KIND_SOURCES, "sources of a");
    (void) put(w, "ab", SYM_KIND_SYMCACHE, "symcache of ab");
    (void) put(w, "a", SYM_KIND_SYMCACHE, "symcache of a");
    lists(w, "a:symcache a:sources ab:symcache ",
          "the kinds of an object are adjacent");
    has(w, "a", SYM_KIND_SYMCACHE, "symcache of a", "one kind");
    has(w, "a", SYM_KIND_SOURCES, "sources of a", "the other");
    is_str(sym_cstr(bytes_of(w, &by_id, SYM_KIND_SOURCES)), "sources of a",
           "by the id alone");

    (void) put(w, "a", SYM_KIND_SOURCES, "newer sources");
    has(w, "a", SYM_KIND_SOURCES, "newer sources", "replaced");
    has(w, "a", SYM_KIND_SYMCACHE, "symcache of a", "... by its kind alone");
    is_u64(kit_faults(w), 0, "verify agrees");

    is_status(kit_remove(w, &a, SYM_KIND_SOURCES, &kit_err), SYM_OK, &kit_err,
              "one kind is removed");
    lists(w, "a:symcache ab:symcache ", "... and no other");
    is_status(kit_remove(w, &a, SYM_KIND_SOURCES, &kit_err), SYM_NOT_FOUND,
              &kit_err, "... once");
    (void) put(w, "a", SYM_KIND_SOURCES, "sources of a");
    is_status(kit_remove(w, &a, SYM_KIND_ALL, &kit_err), SYM_OK, &kit_err,
              "all kinds are removed");
    lists(w, "ab:symcache ", "... of this object");
    test_longer_id(w);

    (void) put(w, "ab", SYM_KIND_SOURCES, "sources of ab");
    is_status(kit_remove(w, &by_id, SYM_KIND_ALL, &kit_err), SYM_OK, &kit_err,
              "removed by the id alone");
    lists(w, "", "... all kinds");
    is_u64(kit_faults(w), 0, "nothing is left of it");

    sym_store_close(w);
    kit_clean();
}


int
main(void)
{
    test_kinds();
    return done_testing();
}
