/*
 * Any bytes as an entry of the store's tables: first the table ('o' objects,
 * 'p' paths, 'n' names), then the length of the key (u16), the key, the value.
 * A readable entry must be written again with the same bytes.  Reading an entry
 * ignores its checksum, so the fuzzer need not find it.
 */
#include <string.h>

#include "check.h"
#include "store/tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Positions of the checksums. */
#define PATH_CRC_AT (PATH_FIXED - CRC_BYTES)
#define OBJECT_CRC_AT (OBJECT_FIXED - CRC_BYTES)

static bool
is_same(const uint8_t *a, const MDB_val *b, size_t crc_at)
{
    const uint8_t *p = b->mv_data;
    size_t rest = crc_at + CRC_BYTES;

    return memcmp(a, p, crc_at) == 0
           && memcmp(a + rest, p + rest, b->mv_size - rest) == 0;
}


static void
check_paths(const MDB_val *k, const MDB_val *v)
{
    static sym_path_record_t record;
    uint8_t out[PATH_BYTES_MAX];
    sym_object_ref_t ref = { .debug_id = { .form = SYM_DEBUG_ID_UUID } };
    sym_asking_t asking = { .ref = &ref, .kind = SYM_KIND_SYMCACHE };
    sym_settling_t s = { .n = 0 };
    sym_path_shown_t shown;

    if (sym_path_record_key_read(k, &shown)) {
        check(shown.path.len != 0 && shown.path.len <= PATH_TEXT_MAX);
    }

    if (sym_path_record_read(v, &record) != SYM_OK) {
        return;
    }

    check(sym_path_record_write(k, &record, out) == v->mv_size);
    check(is_same(out, v, PATH_CRC_AT));
    sym_settling_add(&s, &record, &asking);
    check(sym_settling_end(&s).open <= 1);
}


static void
check_objects(const MDB_val *k, const MDB_val *v)
{
    uint8_t out[OBJECT_BYTES_MAX];
    char key[OBJECT_KEY_MAX], name[NAME_KEY_MAX], path[PATH_KEY_MAX];
    sym_object_record_t record;
    sym_object_entry_t entry;
    size_t len;

    if (!sym_object_key_parse(k, &entry)) {
        return;
    }

    len = sym_object_key_of_entry(&entry, key);
    check(len != 0 && len <= k->mv_size);
    if (entry.first.len != 0 || sym_object_read(k, v, &record) != SYM_OK) {
        return;
    }

    (void) sym_object_path_key(entry.scope, &record, path);
    len =
        sym_object_key_write(entry.scope, &record.object, record.kind, 0, key);
    if (len == k->mv_size && memcmp(key, k->mv_data, len) == 0) {
        MDB_val by_name = { sym_name_key_write(entry.scope, &record.object,
                                               record.kind, name),
                            name };

        check(sym_object_key_of_name(&by_name, key) == k->mv_size);
        check(memcmp(key, k->mv_data, k->mv_size) == 0);
        for (unsigned n = 1; sym_object_key_write(entry.scope, &record.object,
                                                  record.kind, n, key)
                             != 0;
             n++)
        {
            check(n < OBJECT_IDS_MAX);
        }
    }

    /* a name that no file can have is not written */
    if (record.object.name.len == 0 || sym_module_name_ok(record.object.name)) {
        check(sym_object_write(k, &record, out) == v->mv_size);
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char key[OBJECT_KEY_MAX];
    size_t len;
    MDB_val k, v;

    if (size < 3) {
        return 0;
    }

    len = (size_t) data[1] | (size_t) data[2] << 8;
    if (len > size - 3 || len == 0) {
        return 0;
    }

    k = (MDB_val){ len, (void *) (uintptr_t) (data + 3) };
    v = (MDB_val){ size - 3 - len, (void *) (uintptr_t) (data + 3 + len) };

    if (data[0] == 'p') {
        check_paths(&k, &v);
    } else if (data[0] == 'o') {
        check_objects(&k, &v);
    } else if (data[0] == 'n') {
        (void) sym_object_key_of_name(&k, key);
    }

    return 0;
}
