/*
 * Whole pages of data.mdb contain something else: noise, zeros, another page of
 * the same file.  In every case a reader under the guard survives, returns in
 * bounded time, and shows no wrong byte unless verify can detect it.
 */
#include "tables_kit.h"

#define PAGE 4096
#define MODULES 300

static uint64_t state;

static uint32_t
random_u32(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t) (z >> 32);
}


/* Replaces some pages; LMDB's two meta pages only rarely, so that others are
 * reached. */
static bool
spoil(int fd, uint32_t pages)
{
    uint32_t n = 1 + random_u32() % 6, how = random_u32() % 4;
    uint8_t page[PAGE];

    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = random_u32() % 16 == 0 ? random_u32() % 2
                                             : 2 + random_u32() % (pages - 2);
        uint32_t from = random_u32() % pages;

        if (pread(fd, page, PAGE, (off_t) at * PAGE) != PAGE) {
            return false;
        }

        if (how == 0) {
            for (size_t b = 0; b < PAGE; b++) {
                page[b] = (uint8_t) random_u32();
            }
        } else if (how == 1) {
            memset(page, 0, PAGE);
        } else if (how == 2) {
            /* a branch that leads back up, a leaf of another tree */
            if (pread(fd, page, PAGE, (off_t) from * PAGE) != PAGE) {
                return false;
            }
            memcpy(page, &at, sizeof(at)); /* with its own page number */
        } else {
            for (unsigned b = 0; b < 24; b++) {
                page[random_u32() % 200] = (uint8_t) random_u32();
            }
        }

        if (pwrite(fd, page, PAGE, (off_t) at * PAGE) != PAGE) {
            return false;
        }
    }

    return true;
}


/* An object with an artifact at one path; another path is absent. */
static sym_object_ref_t
object_at(unsigned i, char name[16], char path[24])
{
    static const char digits[] = "0123456789abcdef";
    char id[] = ID_A;

    id[0] = digits[i % 16];
    id[1] = digits[i / 16 % 16];
    id[2] = digits[i / 256];
    (void) snprintf(name, 16, "o%u", i);
    (void) snprintf(path, 24, "path/%u", i);
    return ref_of(name, id, BUILD_A);
}


static void
read_all(void *arg)
{
    sym_object_record_t record;
    char name[16], path[24];

    for (unsigned i = 0; i < MODULES; i++) {
        sym_str_t paths[2] = { SYM_STR("no/such"), sym_str(path, 0) };
        sym_places_t places = { SYM_STR("one"), SYM_STR(""), paths, 2 };
        sym_object_ref_t ref = object_at(i, name, path);
        sym_asking_t asking = { .ref = &ref, .kind = SYM_KIND_SYMCACHE };
        sym_error_t err = { 0 };
        sym_settled_t settled;

        paths[1].len = strlen(path);
        (void) sym_snapshot_object(arg, SYM_STR("one"), &ref, SYM_KIND_SYMCACHE,
                                   &record, &err);
        (void) sym_snapshot_settle(arg, &places, &asking, &settled, &err);
    }

    for (unsigned i = 0; i < MODULES; i++) {
        (void) snprintf(name, sizeof(name), "d%u", i);
        (void) kit_is_whole(arg, name, i % 8 != 0, 1 + i * 7);
    }
}


/* Paths of 300 objects, and artifacts of some of them. */
static void
put_objects(sym_store_t *w)
{
    sym_path_record_t absent = path_of(SYM_PATH_ABSENT, 0);
    sym_path_ticket_t ticket;
    char name[16], path[24];
    sym_error_t err = { 0 };

    for (unsigned i = 0; i < MODULES; i++) {
        sym_object_ref_t ref = object_at(i, name, path);
        artifact_t a = { .scope = "one",
                         .path = path,
                         .kind = SYM_KIND_SYMCACHE,
                         .is_named = i % 3 == 0 };
        sym_path_key_t key = { SYM_STR("one"), sym_cstr(path), SYM_STR("") };

        if (i % 10 == 0) {
            (void) put_artifact(w, &ref, &a, NULL, NULL);
        } else {
            (void) sym_store_put_path(w, &key, &absent, &ticket, &err);
        }
    }
}


static sym_status_t
count_path(void *ctx, const sym_path_shown_t *key,
           const sym_path_record_t *record)
{
    unsigned *n = ctx;

    (void) key;
    (void) record;
    return ++*n <= MODULES ? SYM_OK : SYM_MALFORMED;
}


static sym_status_t
count(void *ctx, sym_str_t scope, const sym_object_record_t *record)
{
    unsigned *n = ctx;

    (void) scope;
    (void) record;
    return ++*n <= 2 * MODULES ? SYM_OK : SYM_MALFORMED;
}


typedef struct {
    sym_snapshot_t *snapshot;
    sym_status_t status;
    sym_store_t *store;
} list_t;

static void
list_all(void *arg)
{
    list_t *l = arg;
    sym_error_t err = { 0 };
    sym_store_stat_t stat;
    sym_store_mark_t paths = { .len = 0 };
    uint64_t records = UINT64_MAX;
    unsigned n = 0, n_paths = 0;

    l->status = sym_snapshot_each(l->snapshot, count, &n, &err);
    if (l->status != SYM_MALFORMED) {
        l->status = sym_snapshot_paths(l->snapshot, SYM_STR("one"), &paths,
                                       &records, count_path, &n_paths, &err);
    }
    (void) sym_store_stat(l->store, &stat, &err);
}


/* All operations of a reader on the damaged file. */
static void
live(void)
{
    sym_store_t *r = kit_reader();
    sym_error_t err = { 0 };
    list_t l = { .store = r };

    if (r == NULL) {
        return;
    }

    if (sym_snapshot_begin(r, &l.snapshot, &err) == SYM_OK
        && sym_store_guarded(r, read_all, l.snapshot, &err) == SYM_OK
        && sym_store_guarded(r, list_all, &l, &err) == SYM_OK)
    {
        sym_snapshot_end(l.snapshot);
        (void) kit_faults(r);
        if (l.status == SYM_MALFORMED) {
            _exit(2); /* more modules than there are: the scan wraps around */
        }
    }

    sym_store_close(r);
}


static int
child(unsigned seed)
{
    char file[128];
    struct stat st;
    int fd;

    kit_file(file, "data.mdb");
    fd = open(file, O_RDWR);
    state = (uint64_t) seed * 7919u;
    if (fd == -1 || fstat(fd, &st) != 0
        || !spoil(fd, (uint32_t) (st.st_size / PAGE)))
    {
        return 1;
    }

    (void) alarm(30);
    live();
    live();
    return 0;
}


static bool
copy_file(const char *from, const char *to)
{
    char buf[1 << 16];
    int in = open(from, O_RDONLY);
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ssize_t n = -1;

    while (in != -1 && out != -1 && (n = read(in, buf, sizeof(buf))) > 0) {
        if (write(out, buf, (size_t) n) != n) {
            n = -1;
            break;
        }
    }

    (void) close(in);
    (void) close(out);
    return n == 0;
}


int
main(void)
{
    unsigned survived = 0, seeds = 400;
    char file[128], good[128], name[16];
    sym_store_t *w;

    kit_folder();
    w = kit_writer((uint64_t) 64 << 20);
    for (unsigned i = 0; i < MODULES; i++) {
        (void) snprintf(name, sizeof(name), "d%u", i);
        (void) kit_put(w, name, i % 8 != 0, 1 + i * 7);
    }
    put_objects(w);
    (void) kit_put(w, "d0", 0, 1); /* commits */
    sym_store_close(w);

    kit_file(file, "data.mdb");
    kit_file(good, "good");
    ok(copy_file(file, good), "an intact store is kept aside");

    for (unsigned seed = 1; seed <= seeds; seed++) {
        int status = 1;
        pid_t pid;

        if (!copy_file(good, file) || (pid = fork()) < 0) {
            ok(false, "copy and fork");
            break;
        }
        if (pid == 0) {
            /* LMDB reports its assertion; we only count */
            if (freopen("/dev/null", "w", stdout) == NULL) {
                _exit(3);
            }
            _exit(child(seed));
        }
        (void) waitpid(pid, &status, 0);
        survived += status == 0;
        if (status != 0) {
            printf("# seed %u: wait status 0x%x\n", seed, (unsigned) status);
        }
    }

    is_u64(survived, seeds, "no foreign page crashes a reader");
    kit_clean();
    return done_testing();
}
