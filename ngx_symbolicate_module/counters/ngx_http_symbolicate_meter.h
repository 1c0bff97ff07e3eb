
/*
 * ngx_http_symbolicate_meter.h - how long a worker works between two waits.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_METER_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_METER_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "base/account.h"


/* Measures each turn of this worker's event loop from now on, and publishes
 * what the account holds. */
void ngx_http_symbolicate_meter_process(const sym_account_t *memory);


#endif /* _NGX_HTTP_SYMBOLICATE_METER_H_INCLUDED_ */
