#include "jobs/jobs.h"

#include "base/hex.h"

/* Size of a block; a small result takes one block. */
#define BLOCK 4096

/* A job begins only if this share of the room is free. */
#define RESERVE 16

/* One result may take this share of the room. */
#define SHARE 4

/* Records that one call visits; limited, so that the lock is not held for
 * long. */
#define EXPIRE 16384

/* Used in `next` of a block during repair(): a record owns the block. */
#define USED UINT32_C(0x80000000)

/* Numbers of records and blocks are stored plus 1; 0: none. */
typedef struct {
    sym_job_id_t id;
    uint64_t client;
    uint64_t tenant;
    uint64_t need;     /* bytes of memory that the running job needs */
    uint64_t expected; /* expected bytes of the result, while the job runs */
    uint64_t bytes;    /* bytes of the result */
    uint64_t expires_at;
    uint32_t state; /* written last: repair() relies on it */
    uint32_t process;
    uint32_t next;        /* next record in the bucket, or in the list of free
                             records */
    uint32_t first, last; /* blocks */
} record_t;

/* On a cache line of its own, so that processes that count do not slow each
 * other down. */
typedef struct {
    _Alignas(64) uint64_t pid;
    uint32_t running;
} process_t;

struct sym_jobs_s {
    process_t processes[SYM_JOBS_PROCESSES];
    uint32_t n_processes;
    uint32_t is_locked;
    uint32_t n; /* number of records, of blocks, and of buckets */
    uint32_t free_record, free_block;
    uint32_t n_free;         /* blocks */
    uint32_t n_looked_at;    /* records visited by sym_jobs_expire() in this
                                round */
    uint64_t need, expected; /* totals of all running jobs */
    sym_jobs_stat_t stat;
    size_t records_at, buckets_at, next_at, blocks_at; /* offsets from the
                                                          beginning */
};


static void *
at(const sym_jobs_t *jobs, size_t offset)
{
    return (char *) (uintptr_t) jobs + offset;
}


static record_t *
records(const sym_jobs_t *jobs)
{
    return at(jobs, jobs->records_at);
}


static uint32_t *
buckets(const sym_jobs_t *jobs)
{
    return at(jobs, jobs->buckets_at);
}


static uint32_t *
next_blocks(const sym_jobs_t *jobs)
{
    return at(jobs, jobs->next_at);
}


static char *
block(const sym_jobs_t *jobs, uint32_t b)
{
    return at(jobs, jobs->blocks_at + (size_t) (b - 1) * BLOCK);
}


/* Keeps stores in order that repair() relies on if the process dies between
 * them. */
static void
set(uint32_t *field, uint32_t value)
{
    __atomic_store_n(field, value, __ATOMIC_RELEASE);
}


static uint32_t
state_of(const record_t *r)
{
    return __atomic_load_n(&r->state, __ATOMIC_ACQUIRE);
}


/* --- ids --- */

void
sym_job_id_make(sym_job_id_t *id)
{
    id->bytes[6] = (uint8_t) ((id->bytes[6] & 0x0f) | 0x40);
    id->bytes[8] = (uint8_t) ((id->bytes[8] & 0x3f) | 0x80);
}


/* Whether a hyphen precedes byte i of the 16. */
static bool
has_hyphen(unsigned byte)
{
    return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}


bool
sym_job_id_read(sym_str_t text, sym_job_id_t *id)
{
    bool is_hyphenated = text.len == SYM_JOB_ID_TEXT;
    const char *p = text.data;

    if (!is_hyphenated && text.len != 2 * sizeof(id->bytes)) {
        return false;
    }

    for (unsigned i = 0; i < sizeof(id->bytes); i++) {
        int high, low;

        if (is_hyphenated && has_hyphen(i) && *p++ != '-') {
            return false;
        }

        high = sym_hex_digit(p[0]);
        low = sym_hex_digit(p[1]);

        if (high < 0 || low < 0) {
            return false;
        }

        id->bytes[i] = (uint8_t) (high << 4 | low);
        p += 2;
    }

    return true;
}


void
sym_job_id_write(const sym_job_id_t *id, char text[SYM_JOB_ID_TEXT])
{
    static const char digits[] = "0123456789abcdef";

    for (unsigned i = 0; i < sizeof(id->bytes); i++) {
        if (has_hyphen(i)) {
            *text++ = '-';
        }

        *text++ = digits[id->bytes[i] >> 4];
        *text++ = digits[id->bytes[i] & 15];
    }
}


/* --- the table --- */

static uint32_t *
bucket_of(const sym_jobs_t *jobs, const sym_job_id_t *id)
{
    uint32_t hash;

    /* ids of records are random */
    memcpy(&hash, id->bytes, sizeof(hash));
    return &buckets(jobs)[hash % jobs->n];
}


static void
link_record(sym_jobs_t *jobs, uint32_t i)
{
    record_t *r = &records(jobs)[i - 1];
    uint32_t *list = state_of(r) == SYM_JOB_UNKNOWN ? &jobs->free_record
                                                    : bucket_of(jobs, &r->id);

    r->next = *list;
    *list = i;
}


static void
unlink_record(uint32_t *list, record_t *all, uint32_t i)
{
    while (*list != i) {
        list = &all[*list - 1].next;
    }

    *list = all[i - 1].next;
}


static void
count_record(sym_jobs_t *jobs, const record_t *r)
{
    if (r->state == SYM_JOB_RUNNING) {
        jobs->stat.jobs++;
        jobs->need += r->need;
        jobs->expected += r->expected;
    } else if (r->state != SYM_JOB_UNKNOWN) {
        jobs->stat.results++;
        jobs->stat.bytes += r->bytes;
    }
}


static void
free_one_block(sym_jobs_t *jobs, uint32_t b)
{
    next_blocks(jobs)[b - 1] = jobs->free_block;
    jobs->free_block = b;
    jobs->n_free++;
}


/* If the process dies here, the blocks are lost until repair(). */
static void
free_blocks(sym_jobs_t *jobs, record_t *r)
{
    uint32_t b = r->first;

    set(&r->first, 0);
    r->last = 0;
    r->bytes = 0;

    while (b != 0) {
        uint32_t next = next_blocks(jobs)[b - 1];

        free_one_block(jobs, b);
        b = next;
    }
}


/* Whether the record's chain has the number of blocks that its size requires,
 * none of them in another chain. */
static bool
owns_blocks(const sym_jobs_t *jobs, const record_t *r)
{
    const uint32_t *next = next_blocks(jobs);
    uint64_t left = (r->bytes + BLOCK - 1) / BLOCK;
    uint32_t b = r->first, last = 0;

    for (; left > 0; left--) {
        if (b == 0 || b > jobs->n || (next[b - 1] & USED)) {
            return false;
        }

        last = b;
        b = next[b - 1];
    }

    return b == 0 && r->last == last;
}


static void
mark_blocks(const sym_jobs_t *jobs, const record_t *r)
{
    uint32_t *next = next_blocks(jobs);

    for (uint32_t b = r->first; b != 0;) {
        uint32_t following = next[b - 1];

        next[b - 1] |= USED;
        b = following;
    }
}


/* A process died while it held the lock.  Keeps the states of the records, and
 * rebuilds everything else from them. */
static void
repair(sym_jobs_t *jobs)
{
    uint32_t *next = next_blocks(jobs);
    record_t *all = records(jobs);

    for (uint32_t b = 0; b < jobs->n; b++) {
        next[b] &= ~USED;
    }

    memset(buckets(jobs), 0, jobs->n * sizeof(uint32_t));
    jobs->free_record = jobs->free_block = jobs->n_free = 0;
    jobs->need = jobs->expected = 0;
    jobs->stat.jobs = jobs->stat.results = jobs->stat.bytes = 0;

    for (uint32_t i = jobs->n; i > 0; i--) {
        record_t *r = &all[i - 1];

        if (r->state == SYM_JOB_UNKNOWN) {
            r->first = 0;
        } else if (owns_blocks(jobs, r)) {
            mark_blocks(jobs, r);
        } else {
            set(&r->state, SYM_JOB_INTERNAL_ERROR);
            r->first = r->last = 0;
            r->bytes = 0;
        }

        link_record(jobs, i);
        count_record(jobs, r);
    }

    for (uint32_t b = jobs->n; b > 0; b--) {
        if (next[b - 1] & USED) {
            next[b - 1] &= ~USED;
        } else {
            free_one_block(jobs, b);
        }
    }
}


static size_t
round_up(size_t n)
{
    return (n + 63) / 64 * 64;
}


sym_jobs_t *
sym_jobs_create(void *memory, size_t size)
{
    const size_t each =
        sizeof(record_t) + 2 * sizeof(uint32_t) + BLOCK; /* per record */
    const size_t head = round_up(sizeof(sym_jobs_t)) + (size_t) 3 * 64;
    sym_jobs_t *jobs = memory;
    size_t n = size > head ? (size - head) / each : 0;

    if (n < RESERVE) {
        return NULL;
    }

    n = n < USED ? n : USED - 1;
    memset(jobs, 0, sizeof(*jobs));
    jobs->n = (uint32_t) n;
    jobs->records_at = round_up(sizeof(*jobs));
    jobs->buckets_at = round_up(jobs->records_at + n * sizeof(record_t));
    jobs->next_at = round_up(jobs->buckets_at + n * sizeof(uint32_t));
    jobs->blocks_at = round_up(jobs->next_at + n * sizeof(uint32_t));
    jobs->stat.max_bytes = (uint64_t) n * BLOCK;
    memset(records(jobs), 0, n * sizeof(record_t));
    memset(next_blocks(jobs), 0, n * sizeof(uint32_t));
    repair(jobs);
    return jobs;
}


void
sym_jobs_lock(sym_jobs_t *jobs)
{
    if (jobs->is_locked) {
        repair(jobs);
    }

    set(&jobs->is_locked, 1);
}


void
sym_jobs_unlock(sym_jobs_t *jobs)
{
    set(&jobs->is_locked, 0);
}


/* --- processes --- */

static uint64_t
running(const sym_jobs_t *jobs)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < sym_jobs_processes(jobs); i++) {
        n += __atomic_load_n(&jobs->processes[i].running, __ATOMIC_RELAXED);
    }

    return n;
}


bool
sym_jobs_enter(sym_jobs_t *jobs, uint32_t process, uint32_t limit)
{
    /* sequentially consistent: if two processes begin at once, one sees the
     * other's request */
    (void) __atomic_fetch_add(&jobs->processes[process].running, 1,
                              __ATOMIC_SEQ_CST);

    if (limit != 0 && running(jobs) > limit) {
        sym_jobs_leave(jobs, process);
        return false;
    }

    return true;
}


void
sym_jobs_leave(sym_jobs_t *jobs, uint32_t process)
{
    (void) __atomic_fetch_sub(&jobs->processes[process].running, 1,
                              __ATOMIC_SEQ_CST);
}


uint64_t
sym_jobs_process(const sym_jobs_t *jobs, uint32_t process)
{
    return __atomic_load_n(&jobs->processes[process].pid, __ATOMIC_ACQUIRE);
}


uint32_t
sym_jobs_processes(const sym_jobs_t *jobs)
{
    return __atomic_load_n(&jobs->n_processes, __ATOMIC_ACQUIRE);
}


void
sym_jobs_join(sym_jobs_t *jobs, uint32_t process, uint64_t pid,
              uint64_t expires_at)
{
    sym_jobs_lose(jobs, process, expires_at);
    __atomic_store_n(&jobs->processes[process].pid, pid, __ATOMIC_RELEASE);

    if (process >= jobs->n_processes) {
        set(&jobs->n_processes, process + 1);
    }
}


/* --- jobs --- */

static void
end_job(sym_jobs_t *jobs, record_t *r, sym_job_state_t state,
        uint64_t expires_at)
{
    jobs->stat.jobs--;
    jobs->need -= r->need;
    jobs->expected -= r->expected;

    if (state != SYM_JOB_COMPLETED) {
        free_blocks(jobs, r);
    }

    r->expires_at = expires_at;
    set(&r->state, state);
    jobs->stat.results++;
    jobs->stat.bytes += r->bytes;
}


void
sym_jobs_lose(sym_jobs_t *jobs, uint32_t process, uint64_t expires_at)
{
    record_t *all = records(jobs);

    if (sym_jobs_process(jobs, process) == 0) {
        return;
    }

    for (uint32_t i = 0; i < jobs->n; i++) {
        if (all[i].state == SYM_JOB_RUNNING && all[i].process == process) {
            end_job(jobs, &all[i], SYM_JOB_INTERNAL_ERROR, expires_at);
            jobs->stat.lost++;
        }
    }

    set(&jobs->processes[process].running, 0);
    __atomic_store_n(&jobs->processes[process].pid, 0, __ATOMIC_RELEASE);
}


/* Three quarters of what the others leave free. */
static uint32_t
share(uint32_t all, uint32_t others)
{
    uint32_t left = all > others ? all - others : 0;

    return left - left / 4;
}


/* Whether the client may have another job for this tenant. */
static bool
may_add(const sym_jobs_t *jobs, const sym_job_t *job,
        const sym_jobs_limits_t *limits)
{
    const record_t *all = records(jobs);
    uint32_t n = 0, of_client = 0, of_tenant = 0, most;

    if (limits->per_client == 0
        || (limits->per_client == SYM_JOBS_SHARE && limits->requests == 0))
    {
        return true;
    }

    for (uint32_t i = 0; i < jobs->n; i++) {
        bool is_running = all[i].state == SYM_JOB_RUNNING;
        bool is_own = is_running && all[i].client == job->client;

        n += is_running;
        of_client += is_own;
        of_tenant += is_own && all[i].tenant == job->tenant;
    }

    if (limits->per_client != SYM_JOBS_SHARE) {
        return of_client < limits->per_client;
    }

    most = share(limits->requests, n - of_client);

    return of_client < most
           && (job->tenant == 0
               || of_tenant < share(most, of_client - of_tenant));
}


/* Size of the result, capped. */
static uint64_t
expected(const sym_jobs_t *jobs, const sym_job_t *job)
{
    uint64_t most = jobs->stat.max_bytes / SHARE;

    return job->expected < most ? job->expected : most;
}


/* Whether the result has room in addition to what running jobs will write. */
static bool
has_room(const sym_jobs_t *jobs, const sym_job_t *job)
{
    uint64_t room = (uint64_t) jobs->n_free * BLOCK,
             reserve = jobs->stat.max_bytes / RESERVE + jobs->expected;

    return jobs->free_record != 0 && room >= reserve
           && expected(jobs, job) <= room - reserve
           && job->bytes <= jobs->stat.max_bytes - jobs->need;
}


sym_status_t
sym_jobs_add(sym_jobs_t *jobs, const sym_job_t *job,
             const sym_jobs_limits_t *limits, sym_job_ref_t *ref)
{
    uint32_t i = jobs->free_record;
    record_t *r;

    if (!has_room(jobs, job)) {
        return SYM_FULL;
    }

    if (!may_add(jobs, job, limits)) {
        return SYM_LIMIT;
    }

    r = &records(jobs)[i - 1];
    jobs->free_record = r->next;
    r->id = job->id;
    r->process = job->process;
    r->client = job->client;
    r->tenant = job->tenant;
    r->need = job->bytes;
    r->expected = expected(jobs, job);
    r->expires_at = job->expires_at;
    r->bytes = 0;
    r->first = r->last = 0;
    set(&r->state, SYM_JOB_RUNNING);
    link_record(jobs, i);
    count_record(jobs, r);

    *ref = (sym_job_ref_t){ .id = job->id, .record = i };
    return SYM_OK;
}


static record_t *
record_of(const sym_jobs_t *jobs, const sym_job_ref_t *ref)
{
    record_t *r = &records(jobs)[ref->record - 1];

    return memcmp(&r->id, &ref->id, sizeof(r->id)) == 0 ? r : NULL;
}


static uint32_t
take_block(sym_jobs_t *jobs)
{
    uint32_t b = jobs->free_block;

    jobs->free_block = next_blocks(jobs)[b - 1];
    jobs->n_free--;
    next_blocks(jobs)[b - 1] = 0;
    return b;
}


static void
append_block(sym_jobs_t *jobs, record_t *r)
{
    uint32_t b = take_block(jobs);

    set(r->last != 0 ? &next_blocks(jobs)[r->last - 1] : &r->first, b);
    set(&r->last, b);
}


sym_status_t
sym_jobs_append(sym_jobs_t *jobs, const sym_job_ref_t *ref, sym_str_t text)
{
    record_t *r = record_of(jobs, ref);
    uint64_t have, want;

    if (r == NULL || r->state != SYM_JOB_RUNNING) {
        return SYM_NOT_FOUND;
    }

    have = (r->bytes + BLOCK - 1) / BLOCK;
    want = (r->bytes + text.len + BLOCK - 1) / BLOCK;

    if (want > jobs->n / SHARE) {
        return SYM_LIMIT;
    }

    if (want - have > jobs->n_free) {
        return SYM_FULL;
    }

    while (text.len > 0) {
        size_t used = r->bytes % BLOCK, len;

        if (used == 0) {
            append_block(jobs, r);
        }

        len = text.len < BLOCK - used ? text.len : BLOCK - used;
        memcpy(block(jobs, r->last) + used, text.data, len);
        r->bytes += len;
        text = sym_str(text.data + len, text.len - len);
    }

    return SYM_OK;
}


void
sym_jobs_finish(sym_jobs_t *jobs, const sym_job_ref_t *ref,
                sym_job_state_t state, uint64_t expires_at)
{
    record_t *r = record_of(jobs, ref);

    if (r != NULL && r->state == SYM_JOB_RUNNING) {
        end_job(jobs, r, state, expires_at);
    }
}


sym_job_state_t
sym_jobs_find(sym_jobs_t *jobs, const sym_job_id_t *id, uint64_t now,
              sym_job_ref_t *ref)
{
    const record_t *all = records(jobs);

    for (uint32_t i = *bucket_of(jobs, id); i != 0; i = all[i - 1].next) {
        const record_t *r = &all[i - 1];

        if (memcmp(&r->id, id, sizeof(*id)) != 0) {
            continue;
        }

        if (r->state != SYM_JOB_RUNNING && r->expires_at <= now) {
            break;
        }

        *ref = (sym_job_ref_t){ .id = *id, .record = i };
        return (sym_job_state_t) r->state;
    }

    return SYM_JOB_UNKNOWN;
}


sym_status_t
sym_jobs_read(const sym_jobs_t *jobs, const sym_job_ref_t *ref,
              sym_job_cursor_t *cursor, sym_str_t *piece)
{
    const record_t *r = record_of(jobs, ref);
    uint64_t left;

    if (r == NULL || r->state != SYM_JOB_COMPLETED) {
        return SYM_NOT_FOUND;
    }

    left = r->bytes - cursor->done;

    if (left == 0) {
        *piece = SYM_STR("");
        return SYM_OK;
    }

    cursor->block =
        cursor->block == 0 ? r->first : next_blocks(jobs)[cursor->block - 1];
    *piece = sym_str(block(jobs, cursor->block),
                     (size_t) (left < BLOCK ? left : BLOCK));
    cursor->done += piece->len;
    return SYM_OK;
}


static void
drop_result(sym_jobs_t *jobs, uint32_t i)
{
    record_t *all = records(jobs), *r = &all[i - 1];

    unlink_record(bucket_of(jobs, &r->id), all, i);
    jobs->stat.results--;
    jobs->stat.bytes -= r->bytes;
    jobs->stat.expired++;
    set(&r->state, SYM_JOB_UNKNOWN);
    free_blocks(jobs, r);
    memset(&r->id, 0, sizeof(r->id));
    link_record(jobs, i);
}


void
sym_jobs_expire(sym_jobs_t *jobs, uint64_t now, uint64_t grace)
{
    record_t *all = records(jobs);

    if (jobs->stat.results + jobs->stat.jobs == 0) {
        return;
    }

    for (uint32_t k = 0; k < EXPIRE && k < jobs->n; k++) {
        uint32_t i = jobs->n_looked_at % jobs->n + 1;
        record_t *r = &all[i - 1];

        jobs->n_looked_at = i;

        if (r->state == SYM_JOB_UNKNOWN || r->expires_at + grace > now) {
            continue;
        }

        if (r->state == SYM_JOB_RUNNING) {
            end_job(jobs, r, SYM_JOB_INTERNAL_ERROR, now);
            jobs->stat.lost++;
        }

        drop_result(jobs, i);
    }
}


sym_jobs_stat_t
sym_jobs_stat(const sym_jobs_t *jobs)
{
    sym_jobs_stat_t stat = jobs->stat;

    stat.running = running(jobs);
    return stat;
}


bool
sym_jobs_is_running(const sym_jobs_t *jobs, const sym_job_ref_t *ref)
{
    const record_t *r = record_of(jobs, ref);

    return r != NULL && state_of(r) == SYM_JOB_RUNNING;
}
