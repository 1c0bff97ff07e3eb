#include "base/gauge.h"

void
sym_gauge_init(sym_gauge_t *g, uint64_t at)
{
    (void) pthread_mutex_init(&g->lock, NULL);
    (void) pthread_cond_init(&g->moved, NULL);
    g->at = at;
}


void
sym_gauge_free(sym_gauge_t *g)
{
    (void) pthread_cond_destroy(&g->moved);
    (void) pthread_mutex_destroy(&g->lock);
}


void
sym_gauge_add(sym_gauge_t *g, uint64_t n)
{
    uint64_t at;

    (void) pthread_mutex_lock(&g->lock);
    at = g->at < SYM_GAUGE_END - n ? g->at + n : SYM_GAUGE_END;
    __atomic_store_n(&g->at, at, __ATOMIC_RELEASE);
    (void) pthread_cond_broadcast(&g->moved);
    (void) pthread_mutex_unlock(&g->lock);
}


void
sym_gauge_wait(sym_gauge_t *g, uint64_t at)
{
    if (__atomic_load_n(&g->at, __ATOMIC_ACQUIRE) >= at) {
        return;
    }

    (void) pthread_mutex_lock(&g->lock);
    while (g->at < at) {
        (void) pthread_cond_wait(&g->moved, &g->lock);
    }
    (void) pthread_mutex_unlock(&g->lock);
}
