#include "daemon/report.h"

#include <errno.h>
#include <stdio.h>

#include "common/write_all.h"

bool
report_begin(submission_t *c, sym_error_t *err)
{
    c->is_report = true;
    c->conversion.kind = SYM_KIND_CRASH;
    c->conversion.kinds = 1U << SYM_KIND_CRASH;
    c->conversion.symcache = temporary_symcache_create(err);
    return c->conversion.symcache != NULL;
}


/* Returns the length of the report; 0: it failed, see *err. */
static uint64_t
append(submission_t *c, sym_error_t *err)
{
    uint64_t at = c->offset + c->conversion.length, done = 0;
    sym_extent_source_t extents;

    if (temporary_symcache_extents(c->conversion.symcache, &extents, err)
        != SYM_OK) {
        return 0;
    }

    for (uint32_t i = 0; i < extents.n; i++) {
        const uint8_t *data;
        size_t len;

        if (extents.get(extents.ctx, i, &data, &len) != SYM_OK
            || !write_all_at(c->conversion.fd, data, len, at + done))
        {
            (void) sym_fail_sys(err, SYM_IO, "cannot write the report", errno);
            return 0;
        }
        done += len;
    }

    return done;
}


void
report_ended(submission_t *c, const conversion_end_t *how)
{
    sym_rpc_message_t m = { .type = SYM_RPC_DONE, .ticket = c->ticket };
    sym_error_t err = { 0 };
    uint64_t len = 0;
    char text[256];

    if (how->state != SYM_MODULE_READY) {
        m.flags = how->state == SYM_MODULE_MALFORMED ? SYM_RPC_NOTHING : 0;
        m.text = sym_cstr(how->reason);
    } else if ((len = append(c, &err)) == 0) {
        m.text = sym_cstr(sym_error_text(&err, text, sizeof(text)));
    } else {
        (void) snprintf(text, sizeof(text), "%llu", (unsigned long long) len);
        m.text = sym_cstr(text);
        m.flags = SYM_RPC_DID;
    }

    if (c->client != NULL && !how->has_more) {
        c->client->n_deposits--;
        client_send(c->client, &m);
    }
}
