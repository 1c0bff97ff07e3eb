#include "formats/minidump/minidump.h"

#include "base/sort.h"

#define THREAD_BYTES 48
#define NAME_BYTES 12

/* MINIDUMP_BREAKPAD_INFO: which fields are valid. */
#define BREAKPAD_WRITER 1u
#define BREAKPAD_REQUESTING 2u

/* Sentry's stream of stacks that the client has walked. */
#define CLIENT_STACKS_VERSION 1
#define CLIENT_THREAD_BYTES 12
#define CLIENT_FRAME_BYTES 16

typedef struct {
    bool has_writer, has_requesting;
    uint32_t writer, requesting;
} roles_t;


static roles_t
read_roles(const minidump_t *d)
{
    sym_error_t unused;
    sym_cursor_t c = minidump_cursor(d, d->streams[MINIDUMP_BREAKPAD], &unused);
    uint32_t valid = sym_u32(&c);
    roles_t roles = { .writer = sym_u32(&c) };

    roles.requesting = sym_u32(&c);
    roles.has_writer = sym_ok(&c) && (valid & BREAKPAD_WRITER) != 0;
    roles.has_requesting = sym_ok(&c) && (valid & BREAKPAD_REQUESTING) != 0;

    /* the thread of the exception takes precedence */
    if (d->has_exception) {
        roles.has_requesting = true;
        roles.requesting = d->exception_thread;
    }

    return roles;
}


static void
read_thread(minidump_t *d, sym_cursor_t *c, const roles_t *roles,
            uint32_t index)
{
    sym_crash_thread_t *t = &d->crash.threads[index];
    minidump_place_t stack, context;

    t->id = sym_u32(c);
    (void) sym_take(c, 20); /* suspensions, priorities, environment block */
    t->stack.addr = sym_u64(c);
    stack = minidump_place(c);
    context = minidump_place(c);

    t->is_writer = roles->has_writer && roles->writer == t->id;
    if (t->is_writer) {
        t->stack.addr = 0;
        return;
    }

    if (minidump_bytes(d, stack).len != 0
        && stack.size <= UINT64_MAX - t->stack.addr)
    {
        t->stack.size = stack.size;
        t->stack.at = stack.at;
    }

    if (roles->has_requesting && roles->requesting == t->id) {
        d->crash.requesting = index;
        t->has_context =
            d->has_exception
            && minidump_read_context(d, d->exception_context, &t->registers);
    }

    t->has_context =
        t->has_context || minidump_read_context(d, context, &t->registers);
}


/* --- stacks --- */

static bool
has_word(const sym_stack_memory_t *stack, uint64_t addr)
{
    return addr >= stack->addr && stack->size >= 8
           && addr - stack->addr <= stack->size - 8;
}


/*
 * The stack is the memory at the stack pointer, because an exception's
 * registers may point to another stack than the thread's.  Windows does not
 * always record a stack's location in the file, but its bytes are in the other
 * memory.
 */
static sym_status_t
find_stacks(minidump_t *d, sym_error_t *err)
{
    uint32_t n = d->crash.n_threads;
    minidump_query_t *queries =
        sym_arena_calloc(&d->arena, 2 * (size_t) n, sizeof(*queries));
    sym_status_t rc;

    if (queries == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    for (uint32_t i = 0; i < n; i++) {
        const sym_crash_thread_t *t = &d->crash.threads[i];

        queries[2 * (size_t) i].addr = t->stack.addr;
        queries[2 * (size_t) i + 1].addr =
            t->has_context ? sym_unwind_sp(&t->registers) : t->stack.addr;
    }

    rc = minidump_find_memory(d, queries, 2 * n, err);

    for (uint32_t i = 0; i < n && rc == SYM_OK; i++) {
        sym_crash_thread_t *t = &d->crash.threads[i];

        if (t->is_writer) {
            continue;
        }
        if (t->stack.size == 0) {
            t->stack = queries[2 * (size_t) i].found;
        }
        if (t->has_context
            && !has_word(&t->stack, queries[2 * (size_t) i + 1].addr)
            && queries[2 * (size_t) i + 1].found.size != 0)
        {
            t->stack = queries[2 * (size_t) i + 1].found;
        }
    }

    return rc;
}


/* --- names, and stacks from the client, found by thread id --- */

static sym_sort_item_t *
sort_ids(minidump_t *d)
{
    sym_sort_item_t *ids =
        sym_arena_calloc(&d->arena, d->crash.n_threads, sizeof(*ids));

    for (uint32_t i = 0; ids != NULL && i < d->crash.n_threads; i++) {
        ids[i] = (sym_sort_item_t){ d->crash.threads[i].id, i };
    }

    return ids != NULL && sym_sort(ids, d->crash.n_threads) ? ids : NULL;
}


/* The first thread with this id, as an index in `ids`; n_threads: no thread has
 * it. */
static uint32_t
find_id(const minidump_t *d, const sym_sort_item_t *ids, uint32_t id)
{
    size_t i = sym_sort_find(ids, d->crash.n_threads, id);

    return i < d->crash.n_threads && ids[i].key == id ? (uint32_t) i
                                                      : d->crash.n_threads;
}


/* The last name for an id wins; only that name is decoded. */
static sym_status_t
read_names(minidump_t *d, const sym_sort_item_t *ids, sym_error_t *err)
{
    sym_error_t unused;
    sym_cursor_t c;
    uint32_t n = minidump_list(d, MINIDUMP_NAMES, NAME_BYTES, &c, &unused);
    uint64_t *places =
        sym_arena_calloc(&d->arena, d->crash.n_threads, sizeof(*places));

    if (places == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    for (; n != 0; n--) {
        uint32_t i = find_id(d, ids, sym_u32(&c));
        uint64_t place = sym_u64(&c);

        if (i < d->crash.n_threads) {
            places[i] = place;
        }
    }

    for (uint32_t i = 0; i < d->crash.n_threads; i++) {
        bool is_same = i != 0 && ids[i].key == ids[i - 1].key;
        sym_crash_thread_t *t = &d->crash.threads[ids[i].at];

        if (is_same) {
            t->name = d->crash.threads[ids[i - 1].at].name;
        } else if (places[i] != 0) {
            t->name = minidump_text(d, places[i]);
        }

        t->has_name = t->name.data != NULL && !t->is_writer;
    }

    return SYM_OK;
}


static bool
read_client_thread(minidump_t *d, sym_cursor_t frames, sym_str_t texts,
                   uint32_t n, sym_crash_thread_t *t)
{
    t->first_frame = d->crash.n_frames;

    for (; n != 0 && d->crash.n_frames < SYM_CRASH_FRAMES_MAX; n--) {
        sym_crash_frame_t *frame = &d->crash.frames[d->crash.n_frames];
        uint32_t at, len;

        frame->addr = sym_u64(&frames);
        at = sym_u32(&frames);
        len = sym_u32(&frames);
        if (!sym_ok(&frames) || at > texts.len || len > texts.len - at) {
            return false;
        }

        len = len < SYM_CRASH_TEXT_MAX ? len : SYM_CRASH_TEXT_MAX;
        frame->function = sym_str(texts.data + at, len);
        if (!sym_utf8_valid(frame->function)) {
            frame->function = SYM_STR("");
        }
        d->crash.n_frames++;
        t->n_frames++;
    }

    return true;
}


/* A stack with an error is ignored completely. */
static bool
read_client_stacks(minidump_t *d, const sym_sort_item_t *ids)
{
    sym_error_t unused;
    sym_cursor_t c =
        minidump_cursor(d, d->streams[MINIDUMP_CLIENT_STACKS], &unused);
    uint32_t version = sym_u32(&c), n_threads = sym_u32(&c);
    uint32_t n_frames = sym_u32(&c), n_bytes = sym_u32(&c);
    sym_cursor_t threads, frames;
    sym_str_t texts;

    if (version != CLIENT_STACKS_VERSION) {
        return false;
    }

    threads = sym_take(&c, (uint64_t) n_threads * CLIENT_THREAD_BYTES);
    if (n_threads % 2 != 0) {
        (void) sym_u32(&c); /* aligns the frames */
    }
    frames = sym_take(&c, (uint64_t) n_frames * CLIENT_FRAME_BYTES);
    texts = sym_bytes(&c, n_bytes);
    if (!sym_ok(&c) || sym_left(&c) != 0) {
        return false;
    }

    d->crash.frames = sym_arena_calloc(&d->arena, SYM_CRASH_FRAMES_MAX,
                                       sizeof(*d->crash.frames));

    for (; d->crash.frames != NULL && n_threads != 0; n_threads--) {
        uint32_t i = find_id(d, ids, sym_u32(&threads));
        uint32_t first = sym_u32(&threads), n = sym_u32(&threads);
        sym_cursor_t of_thread = frames;

        (void) sym_take(&of_thread, (uint64_t) first * CLIENT_FRAME_BYTES);
        if (i < d->crash.n_threads && d->crash.threads[ids[i].at].n_frames == 0
            && !read_client_thread(d, of_thread, texts, n,
                                   &d->crash.threads[ids[i].at]))
        {
            return false;
        }
    }

    return sym_ok(&threads);
}


sym_status_t
minidump_read_threads(minidump_t *d, sym_error_t *err)
{
    sym_error_t unused;
    sym_cursor_t c;
    uint32_t n = minidump_list(d, MINIDUMP_THREADS, THREAD_BYTES, &c, &unused);
    roles_t roles = read_roles(d);
    sym_sort_item_t *ids;
    sym_status_t rc;

    if (d->streams[MINIDUMP_THREADS].data == NULL || !sym_ok(&c)
        || (n == 0 && sym_left(&c) > 4))
    {
        return sym_fail(err, SYM_MALFORMED,
                        "The thread list stream was not found");
    }

    if (n > SYM_CRASH_THREADS_MAX) {
        return sym_fail(err, SYM_LIMIT, "more than 32768 threads");
    }

    d->crash.threads =
        sym_arena_calloc(&d->arena, n, sizeof(*d->crash.threads));
    if (d->crash.threads == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    d->crash.n_threads = n;
    for (uint32_t i = 0; i < n; i++) {
        read_thread(d, &c, &roles, i);
    }

    ids = sort_ids(d);
    if (ids == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    rc = find_stacks(d, err);
    rc = rc != SYM_OK ? rc : read_names(d, ids, err);

    if (rc == SYM_OK && !read_client_stacks(d, ids)) {
        d->crash.n_frames = 0;
        for (uint32_t i = 0; i < n; i++) {
            d->crash.threads[i].first_frame = 0;
            d->crash.threads[i].n_frames = 0;
        }
    }

    return rc;
}
