/*
 * The table of jobs: ids, results in blocks, limits, expiry, processes that
 * exit, and a table that a process left in the middle of a change.
 */
#include <stdlib.h>

#include "tap.h"
#include "jobs/jobs.h"

#define SIZE ((size_t) 1 << 20)

static uint8_t counter;


static sym_job_id_t
new_id(void)
{
    sym_job_id_t id = { { 0 } };

    id.bytes[0] = ++counter;
    sym_job_id_make(&id);
    return id;
}


static sym_jobs_t *
table(size_t size)
{
    void *memory = aligned_alloc(64, size);

    sym_jobs_t *jobs = memory != NULL ? sym_jobs_create(memory, size) : NULL;

    if (jobs == NULL) {
        free(memory);
    }

    return jobs;
}


static const sym_jobs_limits_t no_limits = { 0 };


static sym_status_t
add(sym_jobs_t *jobs, uint32_t process, uint64_t client, sym_job_ref_t *ref)
{
    const sym_job_t job = { .id = new_id(),
                            .process = process,
                            .client = client,
                            .bytes = 1000,
                            .expires_at = 100000 };

    const sym_jobs_limits_t limits = { .per_client = client != 0 ? 2 : 0 };

    return sym_jobs_add(jobs, &job, &limits, ref);
}


static sym_job_state_t
state(sym_jobs_t *jobs, const sym_job_ref_t *ref, uint64_t now)
{
    sym_job_ref_t found;

    return sym_jobs_find(jobs, &ref->id, now, &found);
}


static void
test_ids(void)
{
    static const char text[] = "00112233-4455-4677-8899-aabbccddeeff";
    sym_job_id_t id, again;
    char written[SYM_JOB_ID_TEXT];

    ok(sym_job_id_read(sym_cstr(text), &id), "an id is read");
    sym_job_id_write(&id, written);
    is_str(sym_str(written, sizeof(written)), text, "... and written");
    ok(sym_job_id_read(sym_cstr("00112233445546778899AABBCCDDEEFF"), &again)
           && memcmp(&id, &again, sizeof(id)) == 0,
       "without hyphens, in capitals");
    ok(!sym_job_id_read(sym_cstr(""), &id), "no id: empty");
    ok(!sym_job_id_read(sym_cstr("00112233-4455-4677-8899-aabbccddeef"), &id),
       "no id: too short");
    ok(!sym_job_id_read(sym_cstr("00112233-4455-4677-8899-aabbccddeefg"), &id),
       "no id: not hexadecimal");
    ok(!sym_job_id_read(sym_cstr("0011223-34455-4677-8899-aabbccddeeff"), &id),
       "no id: a hyphen elsewhere");

    memset(&id, 0xff, sizeof(id));
    sym_job_id_make(&id);
    sym_job_id_write(&id, written);
    is_str(sym_str(written, sizeof(written)),
           "ffffffff-ffff-4fff-bfff-ffffffffffff", "version 4, variant 1");
}


/* Reads all of a result; NULL: it is gone.  The caller frees it. */
static char *
read_all(sym_jobs_t *jobs, const sym_job_ref_t *ref, size_t *len)
{
    sym_job_cursor_t cursor = { 0 };
    char *text = malloc(SIZE);
    sym_str_t piece;

    for (*len = 0; text != NULL; *len += piece.len) {
        if (sym_jobs_read(jobs, ref, &cursor, &piece) != SYM_OK) {
            free(text);
            return NULL;
        }

        if (piece.len == 0) {
            break;
        }

        memcpy(text + *len, piece.data, piece.len);
    }

    return text;
}


static void
test_results(sym_jobs_t *jobs)
{
    static char text[10000];
    static const size_t lengths[] = { 1, 4095, 4096, 1, 9999, 0, 4096 };
    uint64_t max = sym_jobs_stat(jobs).max_bytes;
    char *got, *want = malloc(SIZE);
    sym_job_ref_t ref;
    sym_status_t rc;
    size_t n = 0, len;

    ok(add(jobs, 0, 0, &ref) == SYM_OK, "a job is added");
    ok(state(jobs, &ref, 1) == SYM_JOB_RUNNING, "... and runs");
    ok(sym_jobs_is_running(jobs, &ref),
       "... which is visible without the lock");
    ok(read_all(jobs, &ref, &len) == NULL, "... has no result yet");

    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        memset(text, 'a' + (int) i, lengths[i]);
        memcpy(want + n, text, lengths[i]);
        n += lengths[i];
        rc = sym_jobs_append(jobs, &ref, sym_str(text, lengths[i]));
        ok(rc == SYM_OK, "%zu bytes are appended", lengths[i]);
    }

    sym_jobs_finish(jobs, &ref, SYM_JOB_COMPLETED, 500);
    ok(state(jobs, &ref, 499) == SYM_JOB_COMPLETED, "it is completed");
    ok(!sym_jobs_is_running(jobs, &ref),
       "... which is visible without the lock");
    is_u64(sym_jobs_stat(jobs).bytes, n, "... bytes");
    got = read_all(jobs, &ref, &len);
    ok(got != NULL && len == n && memcmp(got, want, n) == 0,
       "the result is the appended bytes");
    free(got);
    ok(sym_jobs_append(jobs, &ref, SYM_STR("x")) == SYM_NOT_FOUND,
       "nothing more is appended to it");

    ok(state(jobs, &ref, 500) == SYM_JOB_UNKNOWN, "then it expires");
    sym_jobs_expire(jobs, 550, 60);
    got = read_all(jobs, &ref, &len);
    ok(got != NULL && len == n, "a reader may continue for a while");
    free(got);
    sym_jobs_expire(jobs, 560, 60);
    ok(read_all(jobs, &ref, &len) == NULL, "... but not longer");
    is_u64(sym_jobs_stat(jobs).bytes, 0, "its bytes are freed");
    is_u64(sym_jobs_stat(jobs).expired, 1, "... and counted");

    ok(add(jobs, 0, 0, &ref) == SYM_OK, "another job");
    for (n = 0, rc = SYM_OK; rc == SYM_OK; n += sizeof(text)) {
        rc = sym_jobs_append(jobs, &ref, sym_str(text, sizeof(text)));
    }
    ok(rc == SYM_LIMIT && n > max / 5 && n <= max / 4 + 2 * sizeof(text),
       "a result takes a quarter of the room at most");
    sym_jobs_finish(jobs, &ref, SYM_JOB_TIMEOUT, 1000);
    ok(state(jobs, &ref, 999) == SYM_JOB_TIMEOUT, "it was refused");
    is_u64(sym_jobs_stat(jobs).bytes, 0, "... and uses no bytes");
    sym_jobs_expire(jobs, 2000, 0);
    is_u64(sym_jobs_stat(jobs).results, 0, "nothing is left");
    free(want);
}


/* Adds results until there is no room; dropping one makes room again. */
static void
test_full(sym_jobs_t *jobs)
{
    static char text[4096];
    sym_job_ref_t ref, first = { .record = 0 };
    uint32_t n = 0;

    while (add(jobs, 0, 0, &ref) == SYM_OK
           && sym_jobs_append(jobs, &ref, sym_str(text, sizeof(text)))
                  == SYM_OK)
    {
        first = n++ == 0 ? ref : first;
        sym_jobs_finish(jobs, &ref, SYM_JOB_COMPLETED, 100 + n);
    }
    ok(n > 200 && (uint64_t) n * 4096 <= sym_jobs_stat(jobs).max_bytes,
       "%u results of a block", n);
    ok(add(jobs, 0, 0, &ref) == SYM_FULL, "no other job starts");
    sym_jobs_expire(jobs, 101, 0);
    ok(state(jobs, &first, 50) == SYM_JOB_UNKNOWN, "the first one expires");
    ok(add(jobs, 0, 0, &ref) == SYM_OK, "and another one starts");
    sym_jobs_finish(jobs, &ref, SYM_JOB_COMPLETED, 1);
    sym_jobs_expire(jobs, 100000, 0);
    is_u64(sym_jobs_stat(jobs).results, 0, "all expire");
}


static void
test_limits(sym_jobs_t *jobs)
{
    sym_job_t large = { .id = new_id(), .expires_at = 100000 };
    sym_job_ref_t one, two, other, ref;
    unsigned n;

    ok(add(jobs, 0, 7, &one) == SYM_OK && add(jobs, 1, 7, &two) == SYM_OK,
       "two jobs of a client");
    ok(add(jobs, 0, 7, &ref) == SYM_LIMIT, "the third is refused");
    ok(add(jobs, 0, 8, &other) == SYM_OK, "another client's is not");
    sym_jobs_finish(jobs, &one, SYM_JOB_COMPLETED, 100);
    ok(add(jobs, 0, 7, &one) == SYM_OK, "one that has ended does not count");

    sym_jobs_finish(jobs, &other, SYM_JOB_COMPLETED, 100);
    large.expected = UINT64_MAX;
    for (n = 0; n < 4; n++) {
        large.id = new_id();
        large.process = 1;
        if (sym_jobs_add(jobs, &large, &no_limits, &ref) != SYM_OK) {
            break;
        }
    }
    ok(n == 3, "three jobs with large results leave no room for a fourth");
    sym_jobs_finish(jobs, &ref, SYM_JOB_TIMEOUT, 100);
    ok(sym_jobs_add(jobs, &large, &no_limits, &ref) == SYM_OK,
       "... until one has ended");
    sym_jobs_join(jobs, 1, 4711, 100);
    sym_jobs_expire(jobs, 100, 0);

    large.id = new_id();
    large.expected = 0;
    large.bytes = sym_jobs_stat(jobs).max_bytes;
    ok(sym_jobs_add(jobs, &large, &no_limits, &ref) == SYM_FULL,
       "waiting requests take memory, too");
    sym_jobs_finish(jobs, &one, SYM_JOB_COMPLETED, 100);
    sym_jobs_finish(jobs, &two, SYM_JOB_COMPLETED, 100);
    ok(sym_jobs_add(jobs, &large, &no_limits, &ref) == SYM_OK,
       "... which is free when they have ended");
    sym_jobs_finish(jobs, &ref, SYM_JOB_COMPLETED, 100);

    ok(sym_jobs_enter(jobs, 0, 2) && sym_jobs_enter(jobs, 1, 2),
       "two requests at work");
    ok(!sym_jobs_enter(jobs, 1, 2), "a third is too many");
    is_u64(sym_jobs_stat(jobs).running, 2, "... and not counted");
    sym_jobs_leave(jobs, 0);
    ok(sym_jobs_enter(jobs, 1, 2), "one may follow another");
    sym_jobs_leave(jobs, 1);
    sym_jobs_leave(jobs, 1);
    sym_jobs_expire(jobs, 100000, 0);
}


static void
test_processes(sym_jobs_t *jobs)
{
    sym_job_ref_t one, two, done;
    uint64_t lost = sym_jobs_stat(jobs).lost;

    (void) add(jobs, 0, 0, &one);
    (void) add(jobs, 1, 0, &two);
    (void) add(jobs, 1, 0, &done);
    (void) sym_jobs_append(jobs, &two, SYM_STR("half a res"));
    (void) sym_jobs_append(jobs, &done, SYM_STR("a result"));
    sym_jobs_finish(jobs, &done, SYM_JOB_COMPLETED, 9000);
    (void) sym_jobs_enter(jobs, 0, 0);
    (void) sym_jobs_enter(jobs, 1, 0);

    sym_jobs_join(jobs, 1, 4712, 9000);
    is_u64(sym_jobs_process(jobs, 1), 4712,
           "a process gets the number of another");
    ok(state(jobs, &two, 1) == SYM_JOB_INTERNAL_ERROR,
       "the job of the other one ends");
    ok(state(jobs, &one, 1) == SYM_JOB_RUNNING, "... others do not");
    ok(state(jobs, &done, 1) == SYM_JOB_COMPLETED, "... nor do results");
    is_u64(sym_jobs_stat(jobs).running, 1, "... its requests do not count");
    is_u64(sym_jobs_stat(jobs).lost, lost + 1, "... one was lost");

    sym_jobs_lose(jobs, 0, 9000);
    ok(state(jobs, &one, 8999) == SYM_JOB_INTERNAL_ERROR, "a process ends");
    ok(state(jobs, &one, 9000) == SYM_JOB_UNKNOWN, "its remaining job expires");
    is_u64(sym_jobs_stat(jobs).running, 0, "nothing runs");
    sym_jobs_expire(jobs, 9000, 0);

    sym_jobs_join(jobs, 0, 1, 0);
    (void) add(jobs, 0, 0, &one);
    sym_jobs_expire(jobs, 100000, 0);
    ok(state(jobs, &one, 1) == SYM_JOB_UNKNOWN,
       "a job that never reported its end expires, too");
    is_u64(sym_jobs_stat(jobs).jobs, 0, "... and does not count as running");
}


/* A process that dies with the lock does not release it.  The next owner
 * rebuilds lists and counts from the records. */
static void
test_torn(sym_jobs_t *jobs)
{
    static char text[6000];
    sym_job_ref_t refs[8], ref;
    uint64_t room = sym_jobs_stat(jobs).max_bytes, n = 0;
    size_t len;

    memset(text, 'x', sizeof(text));

    for (unsigned i = 0; i < 8; i++) {
        (void) add(jobs, 0, 0, &refs[i]);
        (void) sym_jobs_append(jobs, &refs[i], sym_str(text, sizeof(text)));
        if (i % 2 == 0) {
            sym_jobs_finish(jobs, &refs[i], SYM_JOB_COMPLETED, 90000);
        }
    }

    sym_jobs_lock(jobs); /* and not released */
    sym_jobs_lock(jobs);
    sym_jobs_unlock(jobs);

    for (unsigned i = 0; i < 8; i += 2) {
        char *got = read_all(jobs, &refs[i], &len);

        ok(got != NULL && len == sizeof(text)
               && memcmp(got, text, sizeof(text)) == 0,
           "result %u is there", i);
        free(got);
        ok(state(jobs, &refs[i + 1], 1) == SYM_JOB_RUNNING, "job %u runs",
           i + 1);
    }

    is_u64(sym_jobs_stat(jobs).bytes, 4 * sizeof(text), "bytes are counted");
    is_u64(sym_jobs_stat(jobs).jobs, 4, "jobs are counted");
    sym_jobs_join(jobs, 0, 1, 0);
    sym_jobs_expire(jobs, 100000, 0);
    is_u64(sym_jobs_stat(jobs).bytes, 0, "all expires");

    while (add(jobs, 0, 0, &ref) == SYM_OK
           && sym_jobs_append(jobs, &ref, sym_str(text, 4096)) == SYM_OK)
    {
        n += 4096;
    }
    ok(n >= room / 16 * 15 - 4096, "no block was lost");
    sym_jobs_lose(jobs, 0, 0);
    sym_jobs_join(jobs, 0, 1, 0);
    sym_jobs_expire(jobs, 100000, 0);
}


/* Adds jobs of a client and a tenant until one is refused; returns how many. */
static unsigned
fill(sym_jobs_t *jobs, uint64_t client, uint64_t tenant)
{
    const sym_jobs_limits_t limits = { .requests = 16,
                                       .per_client = SYM_JOBS_SHARE };
    sym_job_t job = { .client = client, .tenant = tenant };
    sym_job_ref_t ref;
    unsigned n = 0;

    do {
        job.id = new_id();
        n++;
    } while (n < 100 && sym_jobs_add(jobs, &job, &limits, &ref) == SYM_OK);

    return n - 1;
}


static void
test_shares(void)
{
    sym_jobs_t *jobs = table(SIZE);

    sym_jobs_join(jobs, 0, 4710, 0);
    is_u64(fill(jobs, 1, 0), 12, "a client gets three quarters of all");
    is_u64(fill(jobs, 2, 0), 3, "another gets three quarters of the rest");
    free(jobs);

    jobs = table(SIZE);
    sym_jobs_join(jobs, 0, 4710, 0);
    is_u64(fill(jobs, 1, 7), 9,
           "a tenant gets three quarters of its client's share");
    is_u64(fill(jobs, 1, 8), 3, "... which leaves some for another");
    is_u64(fill(jobs, 2, 7), 3, "tenants of another client count separately");
    free(jobs);
}


int
main(void)
{
    sym_jobs_t *jobs = table(SIZE);

    test_ids();
    ok(jobs != NULL, "a table");
    sym_jobs_join(jobs, 0, 4710, 0);
    sym_jobs_join(jobs, 1, 4711, 0);
    test_results(jobs);
    test_full(jobs);
    test_limits(jobs);
    test_shares();
    test_processes(jobs);
    test_torn(jobs);
    free(jobs);

    ok(table((size_t) 100 * 1024) == NULL, "too small for a table");
    return done_testing();
}
