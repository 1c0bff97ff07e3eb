/*
 * peer.c - artifacts for other nodes of the fleet.
 *
 * A node asks for an artifact of one file of a source.  If it is missing, it is
 * fetched and made as for any request.  The answer is an artifact file with all
 * that was made from that file; it is empty if the source has no such file, and
 * says for how long that is known.  Everything else is an error, after which the other node helps itself.
 */
#include "api/registry.h"

#include "base/digits.h"
#include "base/form.h"
#include "base/hex.h"
#include "base/steps.h"
#include "share/key.h"
#include "symbolicate/made_artifact.h"

/* Bytes that are copied in the time of a frame. */
#define COPIED_PER_FRAME 4096

typedef struct {
    sym_request_t base;
    sym_need_t need;
    sym_object_ref_t ref;
    const sym_kind_row_t *kind;
    sym_path_key_t path;
    bool is_own; /* this server has asked itself */
    char source[SYM_SCOPE_MAX], file[SYM_SOURCE_PATH_MAX];
    size_t row; /* number of the artifact's kind in sym_kinds */
    sym_made_artifact_t made;
    uint32_t next; /* the next extent */
} peer_t;


#define HTTP_MISDIRECTED 421 /* RFC 9110, 15.5.20 */

/* --- the request --- */

/* A server that waited for itself would wait until its time is over. */
static bool
init(sym_request_t *r, const sym_api_call_t *call)
{
    sym_str_t own = r->options->node;

    ((peer_t *) r)->is_own =
        own.len != 0
        && sym_str_eq(call->header(call->ctx, "X-Symbolicate-Node"), own);
    return true;
}


/* False: the parameter is not there, or it is too long. */
static bool
read(const sym_request_t *r, const char *name, char *room, size_t size,
     sym_str_t *value)
{
    *value = sym_str(room, sym_form_value(r->body, sym_cstr(name), room, size));
    return value->len != 0;
}


static bool
read_number(const sym_request_t *r, const char *name, uint64_t *number)
{
    char room[16];
    sym_str_t digits;

    return read(r, name, room, sizeof(room), &digits)
           && sym_dec_read(digits, number);
}


/* The other node must be able to read what this one makes. */
static bool
read_kind(peer_t *p)
{
    char kind[32];
    sym_str_t name;
    uint64_t oldest, version;

    if (!read(&p->base, "kind", kind, sizeof(kind), &name)
        || !read_number(&p->base, "oldest", &oldest)
        || !read_number(&p->base, "version", &version))
    {
        return false;
    }

    p->kind = sym_kind_named(name);
    return p->kind != NULL && oldest <= p->kind->version
           && p->kind->version <= version;
}


static bool
read_ref(peer_t *p)
{
    char room[2 * SYM_REF_BYTES_MAX];
    uint8_t *bytes = sym_arena_alloc(p->base.arena, SYM_REF_BYTES_MAX);
    sym_str_t hex;

    return bytes != NULL && read(&p->base, "ref", room, sizeof(room), &hex)
           && hex.len % 2 == 0 && sym_digits_read(hex.data, hex.len / 2, bytes)
           && sym_object_ref_read(sym_str((const char *) bytes, hex.len / 2),
                                  &p->ref);
}


/* A location shows nothing of other sources. */
static bool
is_visible(const sym_request_t *r, sym_str_t source)
{
    const sym_scopes_t *all = r->options->scopes;

    for (uint32_t i = 0; all != NULL && i < all->n; i++) {
        if (sym_str_eq(all->names[i], source)) {
            return true;
        }
    }

    return false;
}


static sym_status_t
parse(sym_request_t *r, uint32_t budget)
{
    peer_t *p = (peer_t *) r;

    (void) budget;
    if (p->is_own) {
        r->refused_as = HTTP_MISDIRECTED;
        return sym_request_refuse(r, SYM_MALFORMED,
                                  "this server has asked itself");
    }

    if (!read(r, "source", p->source, sizeof(p->source), &p->path.scope)
        || !read(r, "path", p->file, sizeof(p->file), &p->path.path))
    {
        return sym_request_refuse(r, SYM_MALFORMED,
                                  "needs the source and path of a file");
    }

    if (!is_visible(r, p->path.scope)) {
        return sym_request_refuse(r, SYM_MALFORMED,
                                  "this location has no such source");
    }

    if (!read_kind(p)) {
        return sym_request_refuse(
            r, SYM_MALFORMED,
            "this node makes no such version of such an artifact");
    }

    if (!read_ref(p)) {
        return sym_request_refuse(r, SYM_MALFORMED, "ref is not a reference");
    }

    p->path.checksum = p->ref.checksum;
    p->need = (sym_need_t){ .ref = &p->ref,
                            .kind = p->kind->kind,
                            .found = SYM_NEED_MISSING };
    r->needs = &p->need;
    r->stats.modules = 1;
    r->stats.frames = 1;
    return SYM_OK;
}


/* --- the answer --- */

static sym_status_t write_artifacts(sym_request_t *r, sym_out_t *out,
                                    uint32_t *budget);


static sym_status_t
write_extents(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    peer_t *p = (peer_t *) r;

    for (; p->next < p->made.artifact.n_extents; p->next++) {
        char head[SYM_ARTIFACT_EXTENT_HEAD];
        const uint8_t *data;
        size_t len;

        if (*budget == 0 || out->is_full) {
            return SYM_AGAIN;
        }

        if (sym_artifact_extent(&p->made.artifact, p->next, &data, &len)
            != SYM_OK) {
            r->step = sym_request_cut;
            return SYM_AGAIN;
        }

        sym_budget_charge(budget, 1 + (uint32_t) (len / COPIED_PER_FRAME));
        sym_artifact_file_extent(data, len, head);
        sym_out_raw(out, sym_str(head, sizeof(head)));
        sym_out_raw(out, sym_str((const char *) data, len));
    }

    p->row++;
    r->step = write_artifacts;
    return SYM_OK;
}


/* Begins the next artifact of the file. */
static sym_status_t
write_artifacts(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    peer_t *p = (peer_t *) r;

    for (; p->row < SYM_KINDS; p->row++) {
        const sym_kind_row_t *kind = sym_kinds[p->row];

        if (*budget == 0 || out->is_full) {
            return SYM_AGAIN;
        }

        sym_budget_charge(budget, 1);
        if (sym_made_artifact(r->resolver, &p->ref, kind->kind, &p->path,
                              &p->made)
                == SYM_OK
            && (kind == p->kind || p->made.artifact.n_extents != 0))
        {
            p->next = 0;
            sym_out_raw(out,
                        sym_str(p->made.shared.head, p->made.shared.n_head));
            r->step = write_extents;
            return SYM_OK;
        }
    }

    r->step = NULL;
    return SYM_OK;
}


static sym_status_t
begin(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    peer_t *p = (peer_t *) r;
    sym_status_t rc = sym_made_artifact(r->resolver, &p->ref, p->kind->kind,
                                        &p->path, &p->made);

    (void) budget;
    (void) out;
    if (rc == SYM_NOT_FOUND) {
        r->max_age_s = p->made.left_s;
        r->step = NULL;
        return SYM_OK;
    }

    if (rc != SYM_OK) {
        r->trouble = "this node has no artifact of that file";
        return SYM_TRUNCATED;
    }

    p->row = 0;
    r->step = write_artifacts;
    return SYM_OK;
}


static bool
resume(sym_request_t *r)
{
    peer_t *p = (peer_t *) r;

    p->made.artifact.resolver = r->resolver;
    return r->step != write_extents || p->next == p->made.artifact.n_extents
           || !sym_artifact_is_lost(&p->made.artifact);
}


/* --- the API --- */

static const sym_request_ops_t ops = {
    .size = sizeof(peer_t),
    .parse = parse,
    .begin = begin,
    .resume = resume,
};

const sym_api_t sym_peer_api = {
    .name = "peer",
    .routes = { { .suffix = "/artifact",
                  .version = "1",
                  .methods = SYM_METHOD_GET,
                  .ops = &ops,
                  .init = init } },
    .answers = { SYM_PEER_TYPE },
    .tells_failures = true,
    .is_for_peers = true,
    .is_same_site = true,
};
