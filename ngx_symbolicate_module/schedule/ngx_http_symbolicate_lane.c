
/*
 * ngx_http_symbolicate_lane.c - chooses the next pending fetch.
 *
 * A stalled source must not use all downloads of a worker, and a large request
 * must not use all downloads of a source.  So each source has a lane, and each
 * request has a share of a lane.  Each lane or share may take three quarters of
 * what the others leave free.  Shares of a lane take turns.  The next lane is
 * the one with the fewest downloads.
 *
 * Abandoned downloads, for which no request waits, have their own share.  They
 * begin only if no other download can.  If a request waits for a slot, the
 * abandoned download that has received the fewest bytes gives up its slot, even
 * if its client was asked to retry.  A client that returns then starts over;
 * otherwise one client of a stalled source would block that source for others.
 *
 * Fetches for which other nodes wait have lanes of their own, and as many
 * downloads as all others together.  The others may wait for other nodes, which
 * may wait for these.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "conf/ngx_http_symbolicate_conf.h"
#include "conf/ngx_http_symbolicate_source.h"
#include "conf/ngx_http_symbolicate_worker.h"
#include "schedule/ngx_http_symbolicate_lane.h"


/*
 * The fetches from one source for one request; wait NULL: the abandoned ones.
 */
struct ngx_http_symbolicate_share_s {
    ngx_queue_t                       of_lane;     /* in the lane's list while
                                                    * it has waiting slots */
    ngx_queue_t                       of_wait;
    ngx_http_symbolicate_lane_t      *lane;
    ngx_http_symbolicate_wait_t      *wait;        /* NULL: none */
    ngx_queue_t                       waiting;     /* slots */
    ngx_queue_t                       running;     /* slots */
    ngx_uint_t                        nrunning;
};


static ngx_http_symbolicate_share_t *ngx_http_symbolicate_share(
    ngx_http_symbolicate_lane_t *lane, ngx_http_symbolicate_wait_t *wait);
static void ngx_http_symbolicate_share_free(
    ngx_http_symbolicate_share_t *share);


/* Lanes with a common limit. */
struct ngx_http_symbolicate_lanes_s {
    ngx_queue_t                       queue;       /* lanes with shares */
    ngx_uint_t                        running;
    ngx_uint_t                        request_sources;  /* number of these for
                                                         * request sources */
};


/* The second ones are those of fetches for other nodes. */
static ngx_http_symbolicate_lanes_t  ngx_http_symbolicate_lanes[2];


ngx_int_t
ngx_http_symbolicate_lanes_init(ngx_conf_t *cf,
    ngx_http_symbolicate_main_conf_t *smcf)
{
    ngx_uint_t                    i, for_peer;
    ngx_http_symbolicate_lane_t  *lane;

    lane = ngx_pcalloc(cf->pool, 2 * smcf->nlanes
                                 * sizeof(ngx_http_symbolicate_lane_t));
    if (lane == NULL) {
        return NGX_ERROR;
    }

    smcf->worker->lanes = lane;

    for (for_peer = 0; for_peer < 2; for_peer++) {

        for (i = 0; i < smcf->nlanes; i++, lane++) {
            lane->all = &ngx_http_symbolicate_lanes[for_peer];
            lane->alone = (smcf->nlanes == 1);
            lane->from_requests = i >= smcf->request_source_lanes
                                  && i - smcf->request_source_lanes
                                     < NGX_SYMBOLICATE_REQUEST_SOURCE_LANES;
        }
    }

    return NGX_OK;
}


ngx_http_symbolicate_lane_t *
ngx_http_symbolicate_lane_of(const ngx_http_symbolicate_source_t *source,
    ngx_uint_t for_peer)
{
    ngx_http_symbolicate_main_conf_t  *smcf;

    smcf = source->metric->main;

    return &smcf->worker->lanes[source->metric->lane
                                + (for_peer ? smcf->nlanes : 0)];
}


/* --- shares --- */

/*
 * Lanes without shares are in no list, because they belong to a configuration,
 * which may be replaced.
 */
static void
ngx_http_symbolicate_lane_open(ngx_http_symbolicate_lane_t *lane)
{
    if (lane->all->queue.next == NULL) {
        ngx_queue_init(&lane->all->queue);
    }

    if (lane->nshares++ == 0) {
        ngx_queue_insert_tail(&lane->all->queue, &lane->queue);
        ngx_queue_init(&lane->shares);
    }
}


static ngx_http_symbolicate_share_t *
ngx_http_symbolicate_share_create(ngx_http_symbolicate_lane_t *lane,
    ngx_http_symbolicate_wait_t *wait)
{
    ngx_http_symbolicate_share_t  *share;

    share = ngx_calloc(sizeof(ngx_http_symbolicate_share_t), ngx_cycle->log);
    if (share == NULL) {
        return NULL;
    }

    share->lane = lane;
    share->wait = wait;
    ngx_http_symbolicate_lane_open(lane);

    ngx_queue_init(&share->waiting);
    ngx_queue_init(&share->running);

    if (wait) {
        ngx_queue_insert_tail(&wait->shares, &share->of_wait);
    }

    return share;
}


/* Finds or creates a share.  NULL: no memory. */
static ngx_http_symbolicate_share_t *
ngx_http_symbolicate_share(ngx_http_symbolicate_lane_t *lane,
    ngx_http_symbolicate_wait_t *wait)
{
    ngx_queue_t                   *q;
    ngx_http_symbolicate_share_t  *share;

    if (wait == NULL) {

        if (lane->abandoned == NULL) {
            lane->abandoned = ngx_http_symbolicate_share_create(lane, NULL);
        }

        return lane->abandoned;
    }

    for (q = ngx_queue_head(&wait->shares);
         q != ngx_queue_sentinel(&wait->shares);
         q = ngx_queue_next(q))
    {
        share = ngx_queue_data(q, ngx_http_symbolicate_share_t, of_wait);

        if (share->lane == lane) {
            return share;
        }
    }

    return ngx_http_symbolicate_share_create(lane, wait);
}


/* Frees the share if it is empty. */
static void
ngx_http_symbolicate_share_free(ngx_http_symbolicate_share_t *share)
{
    if (!ngx_queue_empty(&share->waiting) || share->nrunning) {
        return;
    }

    if (share->wait) {
        ngx_queue_remove(&share->of_wait);

    } else {
        share->lane->abandoned = NULL;
    }

    if (--share->lane->nshares == 0) {
        ngx_queue_remove(&share->lane->queue);
    }

    ngx_free(share);
}


/* --- slots --- */

static void
ngx_http_symbolicate_slot_out(ngx_http_symbolicate_slot_t *slot)
{
    ngx_http_symbolicate_share_t  *share;

    share = slot->share;
    ngx_queue_remove(&slot->queue);

    if (slot->running) {
        share->nrunning--;

    } else if (ngx_queue_empty(&share->waiting)) {
        ngx_queue_remove(&share->of_lane);
    }

    slot->share = NULL;
    ngx_http_symbolicate_share_free(share);
}


static void
ngx_http_symbolicate_slot_in(ngx_http_symbolicate_slot_t *slot,
    ngx_http_symbolicate_share_t *share)
{
    slot->share = share;

    if (slot->running) {
        ngx_queue_insert_tail(&share->running, &slot->queue);
        share->nrunning++;
        return;
    }

    if (ngx_queue_empty(&share->waiting)) {
        ngx_queue_insert_tail(&share->lane->shares, &share->of_lane);
    }

    ngx_queue_insert_tail(&share->waiting, &slot->queue);
}


ngx_int_t
ngx_http_symbolicate_slot_queue(ngx_http_symbolicate_slot_t *slot,
    ngx_http_symbolicate_lane_t *lane, ngx_http_symbolicate_wait_t *wait)
{
    ngx_http_symbolicate_share_t  *share;

    share = ngx_http_symbolicate_share(lane, wait);
    if (share == NULL) {
        return NGX_ERROR;
    }

    slot->running = 0;
    ngx_http_symbolicate_slot_in(slot, share);

    return NGX_OK;
}


void
ngx_http_symbolicate_slot_move(ngx_http_symbolicate_slot_t *slot,
    ngx_http_symbolicate_wait_t *wait)
{
    ngx_http_symbolicate_share_t  *share;

    if (slot->share == NULL || slot->share->wait == wait) {
        return;
    }

    share = ngx_http_symbolicate_share(slot->share->lane, wait);

    /*
     * out of memory: an abandoned slot stays in its share, any other must leave
     * its request's share
     */

    if (share == NULL && slot->share->wait == NULL) {
        return;
    }

    if (share == NULL) {
        ngx_http_symbolicate_slot_leave(slot);
        return;
    }

    ngx_http_symbolicate_slot_out(slot);
    ngx_http_symbolicate_slot_in(slot, share);
}


void
ngx_http_symbolicate_slot_leave(ngx_http_symbolicate_slot_t *slot)
{
    ngx_http_symbolicate_lane_t  *lane;

    if (slot->share == NULL) {
        return;
    }

    lane = slot->share->lane;

    if (slot->running) {
        lane->nrunning--;
        lane->all->running--;
        lane->all->request_sources -= lane->from_requests;
    }

    ngx_http_symbolicate_slot_out(slot);
}


/* --- turns --- */

/*
 * Limit of a lane or share: three quarters of the room that the others leave
 * free.
 */
static ngx_uint_t
ngx_http_symbolicate_lane_most(ngx_uint_t all, ngx_uint_t others)
{
    ngx_uint_t  left;

    left = all > others ? all - others : 0;

    return left - left / 4;
}


static ngx_uint_t
ngx_http_symbolicate_lane_limit(ngx_http_symbolicate_lane_t *lane,
    ngx_uint_t most)
{
    /* there is no other source */

    if (lane->alone) {
        return most;
    }

    return ngx_http_symbolicate_lane_most(most,
                                          lane->all->running - lane->nrunning);
}


/*
 * Request sources share lanes.  Together these lanes leave a quarter to the
 * configured sources, however many requests there are.
 */
static ngx_uint_t
ngx_http_symbolicate_lane_is_held(ngx_http_symbolicate_lane_t *lane,
    ngx_uint_t most)
{
    return lane->from_requests
           && lane->all->request_sources
              >= ngx_http_symbolicate_lane_most(most, 0);
}


/* Returns the next share in a lane; NULL: none may begin a download. */
static ngx_http_symbolicate_share_t *
ngx_http_symbolicate_lane_next(ngx_http_symbolicate_lane_t *lane,
    ngx_uint_t most)
{
    ngx_uint_t                     limit;
    ngx_queue_t                   *q;
    ngx_http_symbolicate_share_t  *share, *last;

    limit = ngx_http_symbolicate_lane_limit(lane, most);

    if (lane->nrunning >= limit
        || ngx_http_symbolicate_lane_is_held(lane, most))
    {
        return NULL;
    }

    last = NULL;

    for (q = ngx_queue_head(&lane->shares);
         q != ngx_queue_sentinel(&lane->shares);
         q = ngx_queue_next(q))
    {
        share = ngx_queue_data(q, ngx_http_symbolicate_share_t, of_lane);

        if (share->wait == NULL) {
            last = share;
            continue;
        }

        if (share->nrunning
            < ngx_http_symbolicate_lane_most(limit,
                                             lane->nrunning - share->nrunning))
        {
            return share;
        }
    }

    return last;
}


static ngx_http_symbolicate_slot_t *
ngx_http_symbolicate_lanes_next(ngx_http_symbolicate_lanes_t *all,
    ngx_uint_t most)
{
    ngx_queue_t                   *q;
    ngx_http_symbolicate_lane_t   *lane, *best_lane;
    ngx_http_symbolicate_share_t  *share, *best;
    ngx_http_symbolicate_slot_t   *slot;

    if (all->queue.next == NULL || all->running >= most) {
        return NULL;
    }

    best = NULL;
    best_lane = NULL;

    for (q = ngx_queue_head(&all->queue);
         q != ngx_queue_sentinel(&all->queue);
         q = ngx_queue_next(q))
    {
        lane = ngx_queue_data(q, ngx_http_symbolicate_lane_t, queue);

        if (best_lane && lane->nrunning >= best_lane->nrunning) {
            continue;
        }

        share = ngx_http_symbolicate_lane_next(lane, most);

        if (share) {
            best = share;
            best_lane = lane;
        }
    }

    if (best == NULL) {
        return NULL;
    }

    q = ngx_queue_head(&best->waiting);
    slot = ngx_queue_data(q, ngx_http_symbolicate_slot_t, queue);

    ngx_queue_remove(q);
    ngx_queue_remove(&best->of_lane);

    if (!ngx_queue_empty(&best->waiting)) {
        ngx_queue_insert_tail(&best_lane->shares, &best->of_lane);
    }

    slot->running = 1;
    ngx_http_symbolicate_slot_in(slot, best);
    best_lane->nrunning++;
    all->running++;
    all->request_sources += best_lane->from_requests;

    return slot;
}


ngx_http_symbolicate_slot_t *
ngx_http_symbolicate_slot_next(ngx_uint_t most)
{
    ngx_http_symbolicate_slot_t  *slot;

    slot = ngx_http_symbolicate_lanes_next(&ngx_http_symbolicate_lanes[1],
                                           most);

    return slot ? slot
                : ngx_http_symbolicate_lanes_next(
                                      &ngx_http_symbolicate_lanes[0], most);
}


/* Whether a request waits for a slot in the lane. */
static ngx_uint_t
ngx_http_symbolicate_lane_is_wanted(ngx_http_symbolicate_lane_t *lane)
{
    ngx_queue_t                   *q;
    ngx_http_symbolicate_share_t  *share;

    q = ngx_queue_head(&lane->shares);

    if (q == ngx_queue_sentinel(&lane->shares)) {
        return 0;
    }

    share = ngx_queue_data(q, ngx_http_symbolicate_share_t, of_lane);

    return share->wait != NULL || ngx_queue_next(q) != &lane->shares;
}


/*
 * Returns the download that has received the fewest bytes, among the abandoned
 * ones of the lane and `least`.  Ties go to the one that was abandoned first in
 * its lane.
 */
static ngx_http_symbolicate_slot_t *
ngx_http_symbolicate_lane_least(ngx_http_symbolicate_lane_t *lane,
    ngx_http_symbolicate_slot_t *least)
{
    ngx_queue_t                  *q;
    ngx_http_symbolicate_slot_t  *slot;

    for (q = ngx_queue_head(&lane->abandoned->running);
         q != ngx_queue_sentinel(&lane->abandoned->running);
         q = ngx_queue_next(q))
    {
        slot = ngx_queue_data(q, ngx_http_symbolicate_slot_t, queue);

        if (least == NULL || slot->received(slot) < least->received(least)) {
            least = slot;
        }
    }

    return least;
}


static ngx_http_symbolicate_slot_t *
ngx_http_symbolicate_lanes_victim(ngx_http_symbolicate_lanes_t *all,
    ngx_uint_t most)
{
    ngx_uint_t                    wanted;
    ngx_queue_t                  *q;
    ngx_http_symbolicate_lane_t  *lane;
    ngx_http_symbolicate_slot_t  *victim;

    if (all->queue.next == NULL) {
        return NULL;
    }

    wanted = 0;
    victim = NULL;

    for (q = ngx_queue_head(&all->queue);
         q != ngx_queue_sentinel(&all->queue);
         q = ngx_queue_next(q))
    {
        lane = ngx_queue_data(q, ngx_http_symbolicate_lane_t, queue);
        wanted |= ngx_http_symbolicate_lane_is_wanted(lane);
    }

    if (!wanted) {
        return NULL;
    }

    for (q = ngx_queue_head(&all->queue);
         q != ngx_queue_sentinel(&all->queue);
         q = ngx_queue_next(q))
    {
        lane = ngx_queue_data(q, ngx_http_symbolicate_lane_t, queue);

        if (lane->abandoned == NULL
            || ngx_queue_empty(&lane->abandoned->running)
            || (all->running < most
                && !ngx_http_symbolicate_lane_is_wanted(lane)))
        {
            continue;
        }

        victim = ngx_http_symbolicate_lane_least(lane, victim);
    }

    return victim;
}


ngx_http_symbolicate_slot_t *
ngx_http_symbolicate_slot_victim(ngx_uint_t most)
{
    ngx_http_symbolicate_slot_t  *slot;

    slot = ngx_http_symbolicate_lanes_victim(&ngx_http_symbolicate_lanes[1],
                                             most);

    return slot ? slot
                : ngx_http_symbolicate_lanes_victim(
                                      &ngx_http_symbolicate_lanes[0], most);
}
