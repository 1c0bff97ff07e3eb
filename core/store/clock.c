#include "store/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file grows by this number of slots. */
#define STEP 65536u

/* Maps the file with its current length; keeps the old mapping on failure. */
static sym_status_t
map_file(sym_clock_t *c, sym_error_t *err)
{
    struct stat st;
    uint32_t n;
    void *p;

    if (fstat(c->fd, &st) != 0) {
        return sym_fail_sys(err, SYM_IO, "cannot stat the use clock", errno);
    }

    n = (uint64_t) st.st_size / sizeof(uint32_t) > SYM_SLOTS_MAX
            ? SYM_SLOTS_MAX
            : (uint32_t) ((uint64_t) st.st_size / sizeof(uint32_t));
    if (n <= c->n) {
        return SYM_OK;
    }

    p = mmap(NULL, (size_t) n * sizeof(uint32_t), PROT_READ | PROT_WRITE,
             c->is_read_only ? MAP_PRIVATE : MAP_SHARED, c->fd, 0);
    if (p == MAP_FAILED) {
        return sym_fail_sys(err, SYM_IO, "cannot map the use clock", errno);
    }

    if (c->slots != NULL) {
        (void) munmap(c->slots, (size_t) c->n * sizeof(uint32_t));
    }

    c->slots = p;
    c->n = n;
    return SYM_OK;
}


sym_status_t
sym_clock_open(sym_clock_t *c, const char *path, bool is_writer,
               sym_error_t *err)
{
    *c = (sym_clock_t){ .fd = -1 };

    c->fd = open(path, O_RDWR | O_CLOEXEC | (is_writer ? O_CREAT : 0), 0664);
    if (c->fd == -1 && errno == EROFS && !is_writer) {
        c->fd = open(path, O_RDONLY | O_CLOEXEC);
        c->is_read_only = true;
    }

    if (c->fd == -1) {
        return sym_fail_sys(err, SYM_IO,
                            "the store's use clock cannot be opened for "
                            "writing by this user",
                            errno);
    }

    return map_file(c, err);
}


void
sym_clock_close(sym_clock_t *c)
{
    if (c->slots != NULL) {
        (void) munmap(c->slots, (size_t) c->n * sizeof(uint32_t));
    }

    if (c->fd != -1) {
        (void) close(c->fd);
    }

    free(c->used);
    *c = (sym_clock_t){ .fd = -1 };
}


/* the writer may have extended the file since it was mapped */
static bool
has_slot(sym_clock_t *c, uint32_t slot)
{
    sym_error_t err = { 0 };

    return slot < c->n
           || (slot < SYM_SLOTS_MAX && map_file(c, &err) == SYM_OK
               && slot < c->n);
}


void
sym_clock_mark(sym_clock_t *c, uint32_t slot, uint32_t now_s)
{
    /* the line stays shared between the caches of workers for a second */
    if (has_slot(c, slot)
        && __atomic_load_n(&c->slots[slot], __ATOMIC_RELAXED) != now_s)
    {
        __atomic_store_n(&c->slots[slot], now_s, __ATOMIC_RELAXED);
    }
}


uint32_t
sym_clock_read(sym_clock_t *c, uint32_t slot)
{
    return has_slot(c, slot)
               ? __atomic_load_n(&c->slots[slot], __ATOMIC_RELAXED)
               : 0;
}


static bool
room_for(sym_clock_t *c, uint32_t word)
{
    uint32_t n = c->n_used_words == 0 ? 64 : c->n_used_words;
    uint64_t *grown;

    if (word < c->n_used_words) {
        return true;
    }

    while (n <= word) {
        n *= 2;
    }

    grown = realloc(c->used, n * sizeof(*grown));
    if (grown == NULL) {
        return false;
    }

    memset(grown + c->n_used_words, 0, (n - c->n_used_words) * sizeof(*grown));
    c->used = grown;
    c->n_used_words = n;
    return true;
}


void
sym_clock_claim(sym_clock_t *c, uint32_t slot)
{
    if (slot < SYM_SLOTS_MAX && room_for(c, slot / 64)) {
        c->used[slot / 64] |= (uint64_t) 1 << slot % 64;
    }
}


void
sym_clock_give(sym_clock_t *c, uint32_t slot)
{
    if (slot / 64 < c->n_used_words) {
        c->used[slot / 64] &= ~((uint64_t) 1 << slot % 64);
        c->hint = slot / 64 < c->hint ? slot / 64 : c->hint;
    }
}


uint32_t
sym_clock_take(sym_clock_t *c)
{
    sym_error_t err = { 0 };
    uint32_t word = c->hint, slot;

    while (word < c->n_used_words && c->used[word] == UINT64_MAX) {
        word++;
    }

    if (word >= SYM_SLOTS_MAX / 64 || !room_for(c, word)) {
        return SYM_NO_SLOT;
    }

    slot = word * 64 + (uint32_t) __builtin_ctzll(~c->used[word]);
    /* allocates all pages now: marking a use must not fail because of a full
     * disk */
    if (slot >= c->n
        && (posix_fallocate(c->fd, 0,
                            (off_t) (slot / STEP + 1) * STEP
                                * (off_t) sizeof(uint32_t))
                != 0
            || map_file(c, &err) != SYM_OK || slot >= c->n))
    {
        return SYM_NO_SLOT;
    }

    c->hint = word;
    sym_clock_claim(c, slot);
    sym_clock_mark(c, slot, 0);
    return slot;
}
