
/*
 * ngx_http_symbolicate_assemble.c - requests that list files: to assemble them
 * from uploaded chunks, or to send them.
 *
 * Several files are requested from the loader at a time; the reply for each
 * arrives when the file is placed, or has failed.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "api/upload/assembly.h"
#include "api/upload/sessions.h"

#include "conf/ngx_http_symbolicate_conf.h"
#include "request/ngx_http_symbolicate_assemble.h"
#include "request/ngx_http_symbolicate_body.h"
#include "request/ngx_http_symbolicate_ctx.h"
#include "request/ngx_http_symbolicate_output.h"
#include "request/ngx_http_symbolicate_queue.h"
#include "request/ngx_http_symbolicate_reply.h"
#include "request/ngx_http_symbolicate_send.h"
#include "request/ngx_http_symbolicate_task.h"
#include "rpc/ngx_http_symbolicate_bucket.h"
#include "rpc/ngx_http_symbolicate_loader.h"
#include "rpc/ngx_http_symbolicate_rpc.h"


/* Number of files that are requested at a time. */
#define NGX_SYMBOLICATE_ASSEMBLE_WINDOW  8

#define NGX_SYMBOLICATE_ASSEMBLE_ARENA   (48 * 1024 * 1024)


typedef struct {
    ngx_http_symbolicate_rpc_t    rpc;          /* the first member */
    size_t                        file;
    unsigned                      open:1;
} ngx_http_symbolicate_assembling_t;


typedef struct {
    ngx_http_symbolicate_task_t   task;         /* the first member */
    sym_arena_t                   arena;
    sym_assembly_t                assembly;
    const sym_upload_call_t      *call;
    size_t                        next;         /* next file to request */
    size_t                        written;      /* next file of the answer */
    ngx_uint_t                    nopen;
    const char                   *trouble;      /* NULL: none */
    ngx_http_symbolicate_assembling_t
                                  calls[NGX_SYMBOLICATE_ASSEMBLE_WINDOW];
} ngx_http_symbolicate_assemble_t;


static ngx_int_t ngx_http_symbolicate_assemble_parse(
    ngx_http_symbolicate_task_t *task);
static ngx_int_t ngx_http_symbolicate_assemble_step(
    ngx_http_symbolicate_task_t *task);
static ngx_int_t ngx_http_symbolicate_assemble_write(
    ngx_http_symbolicate_assemble_t *assemble);
static ngx_int_t ngx_http_symbolicate_assemble_headers(
    ngx_http_symbolicate_task_t *task);
static void ngx_http_symbolicate_assemble_skip(
    ngx_http_symbolicate_assemble_t *assemble);
static ngx_int_t ngx_http_symbolicate_assemble_call(
    ngx_http_symbolicate_assemble_t *assemble,
    ngx_http_symbolicate_assembling_t *call);
static void ngx_http_symbolicate_assemble_reply(
    ngx_http_symbolicate_rpc_t *rpc, sym_rpc_message_t *m);
static void ngx_http_symbolicate_assemble_cleanup(
    ngx_http_symbolicate_task_t *task);


static const ngx_http_symbolicate_work_t  ngx_http_symbolicate_assemble_work = {
    { ngx_http_symbolicate_read_step,
      ngx_http_symbolicate_assemble_parse,
      ngx_http_symbolicate_assemble_step,
      ngx_http_symbolicate_send_step },
    ngx_http_symbolicate_assemble_headers,
    NULL,
    ngx_http_symbolicate_assemble_cleanup,
    NULL
};


ngx_int_t
ngx_http_symbolicate_assemble_handler(ngx_http_request_t *r,
    sym_upload_made_t form, const sym_upload_call_t *call)
{
    ngx_uint_t                        i;
    ngx_http_symbolicate_assemble_t  *assemble;

    assemble = ngx_http_symbolicate_task_create(r,
                                       sizeof(ngx_http_symbolicate_assemble_t),
                                       &ngx_http_symbolicate_assemble_work);
    if (assemble == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    assemble->assembly.form = form;
    assemble->call = call;

    for (i = 0; i < NGX_SYMBOLICATE_ASSEMBLE_WINDOW; i++) {
        assemble->calls[i].rpc.on_reply = ngx_http_symbolicate_assemble_reply;
        assemble->calls[i].rpc.data = assemble;
    }

    return ngx_http_symbolicate_task_read(&assemble->task);
}


static ngx_int_t
ngx_http_symbolicate_assemble_parse(ngx_http_symbolicate_task_t *task)
{
    const char                       *why;
    sym_status_t                      status;
    ngx_http_symbolicate_assemble_t  *assemble;

    assemble = (ngx_http_symbolicate_assemble_t *) task;

    if (assemble->arena.account == NULL) {
        sym_arena_init(&assemble->arena, NGX_SYMBOLICATE_ASSEMBLE_ARENA);
        assemble->arena.account = &task->memory;
    }

    status = assemble->assembly.form == SYM_UPLOAD_SESSIONS
             ? sym_sessions_read(&assemble->arena, &task->memory, task->body,
                                 &assemble->assembly, &why)
             : sym_assembly_read(&assemble->arena, &task->memory, task->body,
                                 &assemble->assembly, &why);

    if (status == SYM_OK) {
        return NGX_OK;
    }

    if (status == SYM_AGAIN) {
        return NGX_AGAIN;
    }

    if (status == SYM_NOMEM) {
        return task->memory.refused ? ngx_http_symbolicate_fail_memory(task)
                                    : NGX_ERROR;
    }

    return ngx_http_symbolicate_fail(task, NGX_HTTP_BAD_REQUEST, sym_cstr(why),
                                     NULL);
}


static ngx_int_t
ngx_http_symbolicate_assemble_step(ngx_http_symbolicate_task_t *task)
{
    ngx_uint_t                        i;
    ngx_http_symbolicate_assemble_t  *assemble;

    assemble = (ngx_http_symbolicate_assemble_t *) task;

    for (i = 0; i < NGX_SYMBOLICATE_ASSEMBLE_WINDOW; i++) {

        ngx_http_symbolicate_assemble_skip(assemble);

        if (assemble->trouble == NULL
            && !assemble->calls[i].open
            && assemble->next < assemble->assembly.n
            && ngx_http_symbolicate_assemble_call(assemble,
                                                  &assemble->calls[i])
               != NGX_OK)
        {
            assemble->trouble = "the symbol loader is not running";
        }
    }

    if (assemble->trouble) {
        return ngx_http_symbolicate_fail(task, NGX_HTTP_SERVICE_UNAVAILABLE,
                                         SYM_STR("503 Service Unavailable"),
                                         assemble->trouble);
    }

    if (assemble->nopen) {
        return NGX_DONE;
    }

    return ngx_http_symbolicate_assemble_write(assemble);
}


/* Writes a slice of the answer. */
static ngx_int_t
ngx_http_symbolicate_assemble_write(ngx_http_symbolicate_assemble_t *assemble)
{
    ngx_uint_t                    done;
    ngx_http_symbolicate_task_t  *task;

    task = &assemble->task;

    ngx_http_symbolicate_output_begin(task);

    if (assemble->assembly.form == SYM_UPLOAD_SESSIONS) {
        sym_sessions_write(assemble->call, &assemble->assembly, &task->out);
        done = 1;

    } else {
        done = sym_assembly_write(&assemble->assembly, &assemble->written,
                                  &task->out);
    }

    if (task->out.failed) {
        return ngx_http_symbolicate_fail(task, NGX_HTTP_INTERNAL_SERVER_ERROR,
                                         SYM_STR("500 Internal Server Error"),
                             ngx_http_symbolicate_output_is_too_long(task)
                             ? "the answer is longer than "
                               "symbolicate_max_answer"
                             : NULL);
    }

    if (!done && !task->out.is_full) {
        return NGX_AGAIN;
    }

    ngx_http_symbolicate_output_close(task);
    task->out.is_full = 0;

    if (!done) {
        return NGX_OK;
    }

    sym_arena_drop(&assemble->arena);

    task->complete = 1;
    task->ctx->served = SYM_SERVED_OK;

    return ngx_http_symbolicate_output_end(task);
}


static ngx_int_t
ngx_http_symbolicate_assemble_headers(ngx_http_symbolicate_task_t *task)
{
    ngx_http_symbolicate_assemble_t  *assemble;

    assemble = (ngx_http_symbolicate_assemble_t *) task;

    if (task->status == 0
        && assemble->assembly.form == SYM_UPLOAD_SESSIONS)
    {
        task->request->headers_out.status = NGX_HTTP_CREATED;
    }

    return NGX_OK;
}


/* Files that were refused when the request was read. */
static void
ngx_http_symbolicate_assemble_skip(ngx_http_symbolicate_assemble_t *assemble)
{
    while (assemble->next < assemble->assembly.n
           && assemble->assembly.files[assemble->next].state
              == SYM_ASSEMBLY_ERROR)
    {
        assemble->next++;
    }
}


static ngx_int_t
ngx_http_symbolicate_assemble_call(ngx_http_symbolicate_assemble_t *assemble,
    ngx_http_symbolicate_assembling_t *call)
{
    sym_rpc_message_t                 m;
    sym_assembly_file_t              *file;
    ngx_http_symbolicate_loc_conf_t  *slcf;

    slcf = ngx_http_get_module_loc_conf(assemble->task.request,
                                        ngx_http_symbolicate_module);
    if (slcf->loader == NULL) {
        return NGX_ERROR;
    }

    file = &assemble->assembly.files[assemble->next];

    ngx_memzero(&m, sizeof(sym_rpc_message_t));

    m.type = SYM_RPC_ASSEMBLE;
    m.flags = assemble->assembly.form == SYM_UPLOAD_SCRIPTS ? SYM_RPC_SCRIPTS
              : assemble->assembly.form == SYM_UPLOAD_SESSIONS
                && sym_upload_token_is_try(assemble->call->token)
              ? SYM_RPC_ONLY_TRY | SYM_RPC_TRY : 0;
    m.text = file->debug_id;
    m.source = file->name;
    m.chunks = file->digests;
    m.rules = slcf->upload.source->rules;
    m.limit = slcf->upload.part;
    m.key.scope = sym_str((char *) slcf->upload.target.data,
                          slcf->upload.target.len);

    if (ngx_http_symbolicate_rpc_call(
            ngx_http_symbolicate_loader_of(slcf->loader), &call->rpc, &m)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (slcf->upload.part) {
        (void) ngx_http_symbolicate_bucket_open(call->rpc.loader, m.ticket,
                                                slcf);
    }

    call->file = assemble->next++;
    call->open = 1;
    assemble->nopen++;

    return NGX_OK;
}


static void
ngx_http_symbolicate_assemble_reply(ngx_http_symbolicate_rpc_t *rpc,
    sym_rpc_message_t *m)
{
    char                               *text;
    sym_assembly_file_t                *file;
    ngx_http_symbolicate_assemble_t    *assemble;
    ngx_http_symbolicate_assembling_t  *call;

    assemble = rpc->data;
    call = (ngx_http_symbolicate_assembling_t *) rpc;
    file = &assemble->assembly.files[call->file];

    call->open = 0;
    assemble->nopen--;

    text = m ? sym_arena_alloc(&assemble->arena, m->text.len + 1) : NULL;

    if (text == NULL) {
        assemble->trouble = m ? "out of memory" : "the symbol loader went away";

    } else {
        ngx_memcpy(text, m->text.data, m->text.len);
        file->text = sym_str(text, m->text.len);

        if (m->flags & SYM_RPC_DID) {
            file->state = SYM_ASSEMBLY_OK;

        } else if (m->flags & SYM_RPC_KEPT) {
            file->state = SYM_ASSEMBLY_NOT_FOUND;

        } else if (m->flags & SYM_RPC_ANOTHER) {
            file->state = SYM_ASSEMBLY_ASSEMBLING;

        } else if (m->flags & SYM_RPC_NOTHING) {
            file->state = SYM_ASSEMBLY_ERROR;

        } else {
            text[m->text.len] = '\0';
            assemble->trouble = text;
        }
    }

    ngx_http_symbolicate_enqueue(&assemble->task.turn);
}


static void
ngx_http_symbolicate_assemble_cleanup(ngx_http_symbolicate_task_t *task)
{
    ngx_uint_t                        i;
    ngx_http_symbolicate_assemble_t  *assemble;

    assemble = (ngx_http_symbolicate_assemble_t *) task;

    for (i = 0; i < NGX_SYMBOLICATE_ASSEMBLE_WINDOW; i++) {

        if (assemble->calls[i].open) {
            assemble->calls[i].open = 0;
            ngx_http_symbolicate_rpc_cancel(&assemble->calls[i].rpc);
        }
    }

    sym_arena_drop(&assemble->arena);
}
