
/*
 * ngx_http_symbolicate_notes.c - reports missing modules to the loader's
 * ledger.
 *
 * The notes of a second are in a fixed number of slots, so clients that invent
 * modules cost neither memory nor messages.  Once all slots are taken, a new
 * module replaces a random one.  (This is reservoir sampling: each module of
 * the second is equally likely to be reported.) Modules that were requested
 * more than once are never replaced.
 *
 * While the loader is down, notes wait for it, but a worker that is shutting
 * down waits only some seconds.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "rpc/ngx_http_symbolicate_loader.h"
#include "rpc/ngx_http_symbolicate_notes.h"


#define NGX_SYMBOLICATE_NOTES      128
#define NGX_SYMBOLICATE_NOTES_MS   1000

/* number of attempts to reach the loader in a worker that is shutting down */
#define NGX_SYMBOLICATE_NOTES_LAST 5


typedef struct {
    uint64_t                       hash;        /* hash of the key's texts */
    sym_rpc_message_t              m;           /* its views point into
                                                 * `texts` */
    u_char                        *texts;
} ngx_http_symbolicate_note_t;


struct ngx_http_symbolicate_notes_s {
    ngx_http_symbolicate_note_t    notes[NGX_SYMBOLICATE_NOTES];
    ngx_uint_t                     n;
    ngx_uint_t                     seen;        /* number of modules seen in
                                                 * this second */
    ngx_uint_t                     last;        /* number of attempts while
                                                 * shutting down */
    ngx_event_t                    timer;
};


static void ngx_http_symbolicate_notes_send(ngx_event_t *ev);


static ngx_http_symbolicate_notes_t *
ngx_http_symbolicate_notes_of(ngx_http_symbolicate_loader_t *loader)
{
    ngx_http_symbolicate_notes_t  *notes;

    if (loader->notes) {
        return loader->notes;
    }

    notes = ngx_pcalloc(ngx_cycle->pool, sizeof(ngx_http_symbolicate_notes_t));
    if (notes == NULL) {
        return NULL;
    }

    notes->timer.handler = ngx_http_symbolicate_notes_send;
    notes->timer.data = loader;
    notes->timer.log = ngx_cycle->log;

    loader->notes = notes;

    return notes;
}


static uint64_t
ngx_http_symbolicate_note_hash(sym_rpc_message_t *m)
{
    sym_hash_key_t    key;
    sym_hash_state_t  state;

    key = sym_hash_key();
    state = sym_hash_begin(&key);

    sym_hash_add(&state, m->key.name);
    sym_hash_add(&state, m->key.id);
    sym_hash_add(&state, m->key.code_id);
    sym_hash_add(&state, m->source);
    sym_hash_word(&state, m->kind);

    return sym_hash_end(state);
}


static sym_str_t
ngx_http_symbolicate_note_text(u_char **p, sym_str_t text)
{
    sym_str_t  kept;

    kept = sym_str((char *) *p, text.len);

    if (text.len) {
        *p = ngx_cpymem(*p, text.data, text.len);
    }

    return kept;
}


static ngx_int_t
ngx_http_symbolicate_note_set(ngx_http_symbolicate_note_t *note,
    sym_rpc_message_t *m, uint64_t hash)
{
    u_char  *p, *texts;

    texts = ngx_alloc(m->key.name.len + m->key.id.len + m->key.code_id.len
                      + m->source.len + m->text.len + 1, ngx_cycle->log);
    if (texts == NULL) {
        return NGX_ERROR;
    }

    if (note->texts) {
        ngx_free(note->texts);
    }

    p = texts;

    note->hash = hash;
    note->texts = texts;
    note->m = *m;
    note->m.type = SYM_RPC_MISSED;
    note->m.key.scope = SYM_STR("");
    note->m.key.name = ngx_http_symbolicate_note_text(&p, m->key.name);
    note->m.key.id = ngx_http_symbolicate_note_text(&p, m->key.id);
    note->m.key.code_id = ngx_http_symbolicate_note_text(&p, m->key.code_id);
    note->m.source = ngx_http_symbolicate_note_text(&p, m->source);
    note->m.text = ngx_http_symbolicate_note_text(&p, m->text);

    return NGX_OK;
}


void
ngx_http_symbolicate_note(ngx_http_symbolicate_loader_t *loader,
    sym_rpc_message_t *m)
{
    uint64_t                       hash;
    ngx_uint_t                     i;
    ngx_http_symbolicate_notes_t  *notes;

    notes = ngx_http_symbolicate_notes_of(loader);
    if (notes == NULL) {
        return;
    }

    m->text.len = ngx_min(m->text.len, NGX_SYMBOLICATE_NOTE_REASON);
    hash = ngx_http_symbolicate_note_hash(m);

    for (i = 0; i < notes->n; i++) {

        if (notes->notes[i].hash == hash) {
            notes->notes[i].m.offset += m->offset;
            notes->notes[i].m.length += m->length;
            notes->notes[i].m.flags = m->flags;
            return;
        }
    }

    notes->seen++;

    if (i == NGX_SYMBOLICATE_NOTES) {
        i = (ngx_uint_t) ngx_random() % notes->seen;

        if (i >= NGX_SYMBOLICATE_NOTES || notes->notes[i].m.offset > 1) {
            return;
        }
    }

    if (ngx_http_symbolicate_note_set(&notes->notes[i], m, hash) != NGX_OK) {
        return;
    }

    if (i == notes->n) {
        notes->n++;
    }

    if (!notes->timer.timer_set) {

        /* the connection stays open until the notes are sent */

        loader->nbusy++;
        ngx_http_symbolicate_loader_idle(loader);

        ngx_add_timer(&notes->timer, NGX_SYMBOLICATE_NOTES_MS);
    }
}


static void
ngx_http_symbolicate_notes_send(ngx_event_t *ev)
{
    ngx_http_symbolicate_loader_t *loader = ev->data;

    ngx_uint_t                     i;
    ngx_http_symbolicate_notes_t  *notes;

    notes = loader->notes;

    if ((ngx_http_symbolicate_loader_connect(loader) != NGX_OK
         || !loader->welcome)
        && (!ngx_exiting || notes->last++ < NGX_SYMBOLICATE_NOTES_LAST))
    {
        ngx_add_timer(&notes->timer, NGX_SYMBOLICATE_NOTES_MS);
        return;
    }

    for (i = 0; i < notes->n; i++) {

        if (loader->welcome) {
            ngx_http_symbolicate_loader_send(loader, &notes->notes[i].m, -1);
        }

        ngx_free(notes->notes[i].texts);
        notes->notes[i].texts = NULL;
    }

    notes->n = 0;
    notes->seen = 0;

    loader->nbusy--;
    ngx_http_symbolicate_loader_idle(loader);
}
