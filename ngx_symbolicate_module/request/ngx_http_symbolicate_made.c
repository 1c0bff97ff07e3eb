
/*
 * ngx_http_symbolicate_made.c - files that the loader makes from other files.
 *
 * The loader continues when a client disconnects, so a file counts until the
 * loader has answered.  Thus the limit also holds for clients that disconnect.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "base/hex.h"

#include "request/ngx_http_symbolicate_made.h"
#include "rpc/ngx_http_symbolicate_loader.h"


/*
 * Maximum number of such files at a time.  The loader's limit per worker is
 * higher, which leaves room for uploads.
 */
#define NGX_SYMBOLICATE_MAKES  16


static void ngx_http_symbolicate_made_reply(ngx_http_symbolicate_rpc_t *rpc,
    sym_rpc_message_t *m);
static void ngx_http_symbolicate_made_take(ngx_http_symbolicate_made_t *made,
    sym_rpc_message_t *m, ngx_fd_t *fd);


/* Number of files that the loader is making for this worker. */
static ngx_uint_t  ngx_http_symbolicate_makes;


ngx_http_symbolicate_packed_e
ngx_http_symbolicate_made_packed(ngx_fd_t fd, off_t offset)
{
    u_char      head[6];
    ssize_t     n;
    ngx_uint_t  i;

    static const struct {
        size_t                         len;
        u_char                         head[6];
        ngx_http_symbolicate_packed_e  packed;
    } heads[] = {
        { 3, "\x1f\x8b\x08", ngx_http_symbolicate_packed_gzip },
        { 4, "MSCF", ngx_http_symbolicate_packed_cab },
        { 4, "\x28\xb5\x2f\xfd", ngx_http_symbolicate_packed_other },
        { 6, { 0xfd, '7', 'z', 'X', 'Z', 0 },
          ngx_http_symbolicate_packed_other }
    };

    n = pread(fd, head, sizeof(head), offset);

    for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        if (n >= (ssize_t) heads[i].len
            && ngx_memcmp(head, heads[i].head, heads[i].len) == 0)
        {
            return heads[i].packed;
        }
    }

    return ngx_http_symbolicate_packed_none;
}


ngx_http_symbolicate_made_t *
ngx_http_symbolicate_made_start(
    const ngx_http_symbolicate_loader_conf_t *loader,
    ngx_http_symbolicate_turn_t *turn, sym_rpc_message_t *m, ngx_fd_t fd,
    ngx_uint_t max, const char **why)
{
    ngx_http_symbolicate_made_t  *made;

    if (loader == NULL) {
        *why = "there is no symbolicate_loader to read it";
        return NULL;
    }

    if (ngx_http_symbolicate_makes >= ngx_min(max, NGX_SYMBOLICATE_MAKES)) {
        *why = "maximum number of files";
        return NULL;
    }

    made = ngx_calloc(sizeof(ngx_http_symbolicate_made_t), ngx_cycle->log);
    if (made == NULL) {
        *why = "out of memory";
        return NULL;
    }

    made->fd = -1;
    made->turn = turn;
    made->rpc.on_reply = ngx_http_symbolicate_made_reply;

    m->type = SYM_RPC_MAKE;

    if (ngx_http_symbolicate_rpc_call_with(
            ngx_http_symbolicate_loader_of(loader), &made->rpc, m, fd)
        != NGX_OK)
    {
        *why = "the symbol loader is not running";
        ngx_free(made);
        return NULL;
    }

    ngx_http_symbolicate_makes++;

    return made;
}


static void
ngx_http_symbolicate_made_reply(ngx_http_symbolicate_rpc_t *rpc,
    sym_rpc_message_t *m)
{
    ngx_http_symbolicate_made_t  *made;

    made = (ngx_http_symbolicate_made_t *) rpc;

    ngx_http_symbolicate_makes--;
    made->replied = 1;

    if (made->turn == NULL) {
        ngx_free(made);
        return;
    }

    ngx_http_symbolicate_made_take(made, m, rpc->fd);
    ngx_http_symbolicate_enqueue(made->turn);
}


static void
ngx_http_symbolicate_made_take(ngx_http_symbolicate_made_t *made,
    sym_rpc_message_t *m, ngx_fd_t *fd)
{
    uint64_t   length;
    sym_str_t  reason;

    length = 0;
    reason = m ? m->text : SYM_STR("the loader went away");

    if (m && (m->flags & SYM_RPC_MADE) && *fd != -1
        && sym_dec_read(m->text, &length))
    {
        made->fd = *fd;
        made->length = length;
        made->has_rules = (m->flags & SYM_RPC_HAS_RULES) ? 1 : 0;
        *fd = -1;
        return;
    }

    made->nothing = (m && (m->flags & SYM_RPC_NOTHING)) ? 1 : 0;
    made->nreason = ngx_min(reason.len, sizeof(made->reason));
    ngx_memcpy(made->reason, reason.data, made->nreason);
}


void
ngx_http_symbolicate_made_drop(ngx_http_symbolicate_made_t *made)
{
    if (made == NULL) {
        return;
    }

    if (!made->replied) {
        made->turn = NULL;
        return;
    }

    if (made->fd != -1) {
        (void) ngx_close_file(made->fd);
    }

    ngx_free(made);
}
