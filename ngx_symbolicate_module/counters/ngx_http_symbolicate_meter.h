
/*
 * ngx_http_symbolicate_meter.h - measures the turns of a worker's event loop.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_METER_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_METER_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "base/account.h"
#include "base/steps.h"


/*
 * Steps (base/steps.h) of a turn of the event loop, which all requests of a
 * worker share, and steps of the request whose turn it is in the queue.
 */
#define NGX_SYMBOLICATE_STEPS       2000000
#define NGX_SYMBOLICATE_STEPS_TURN  1000000


/*
 * Starts to measure each turn of this worker's event loop, and to publish the
 * bytes of the account.
 */
void ngx_http_symbolicate_meter_process(const sym_account_t *memory);

/*
 * The steps left in this turn.  If none are left, a request that begins waits
 * in the queue, so many requests at a time do not make a long turn.
 */
extern uint64_t  ngx_http_symbolicate_turn_steps;


#endif /* _NGX_HTTP_SYMBOLICATE_METER_H_INCLUDED_ */
