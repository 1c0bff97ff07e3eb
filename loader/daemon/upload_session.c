#include "daemon/upload_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The file of its ranges. */
static void
part_path(const upload_t *u, char out[PLACER_PART_MAX])
{
    char id[SYM_SHA1_TEXT];

    sym_sha1_write(u->digests, id);
    (void) snprintf(out, PLACER_PART_MAX, PLACER_PARTS "v2-%s", id);
}


static void
drop_part(const upload_t *u)
{
    char path[PLACER_PART_MAX];

    part_path(u, path);
    (void) unlinkat(u->folder->fd, path, 0);
}


/* The client must send all of it again. */
static void
refuse(upload_t *u, const char *why)
{
    drop_part(u);
    upload_answer(u, SYM_RPC_NOTHING, why);
}


/* Text of the message: whether it is valid, and its range that of the bytes. */
static bool
read_text(const upload_t *u, sym_session_t *s)
{
    return sym_session_read(sym_cstr(u->text), s)
           && (s->end == SYM_SESSION_WHOLE ? u->length != 0
                                           : u->length == s->to - s->from)
           && s->to <= SYM_RPC_FILE_LENGTH_MAX;
}


static void
begin(upload_t *u, const sym_session_t *s)
{
    if (s->end == SYM_SESSION_WHOLE) {
        upload_take_apart(u);
        return;
    }

    if (u->length == 0 && upload_has_note(u)) {
        u->counts.same = 1;
        upload_finish(u);
        return;
    }

    u->is_end = s->end == SYM_SESSION_END;
    u->end = s->to;
    u->job = (placer_job_t){ .kind = PLACER_APPEND,
                             .folder = u->folder->fd,
                             .fd = u->fd,
                             .at = u->at,
                             .length = u->length,
                             .to = s->from,
                             .n_paths = 1 };
    part_path(u, u->job.paths[0]);
    placer_add(u->all->placer, &u->job);
}


void
upload_session_begin(upload_t *u)
{
    uint8_t id[PLACER_SHA1];
    sym_session_t s;

    if (!read_text(u, &s)) {
        upload_answer(u, SYM_RPC_NOTHING,
                      "Content-Range is malformed, or not that of the body");
        return;
    }

    if (!upload_choose_folder(u)) {
        upload_answer(u, SYM_RPC_KEPT, "Forbidden");
        return;
    }

    sym_session_id(&s, id);
    if (upload_is_assembling(u->all, u->folder, id)) {
        upload_answer(u, 0, "another request sends this file");
        return;
    }

    u->is_session = true;
    u->size = s.size;
    memcpy(u->md5, s.md5.data, sizeof(u->md5));
    memmove(u->text, s.key.data, s.key.len + 1); /* it names the file */
    u->digests = malloc(sizeof(id));
    if (u->digests == NULL) {
        upload_answer(u, 0, "out of memory");
        return;
    }

    memcpy(u->digests, id, sizeof(id));
    begin(u, &s);
}


void
upload_session_appended(upload_t *u)
{
    int fd = u->job.fd;
    uint64_t length = u->job.length;

    if (u->job.error != 0) {
        upload_answer(u, 0, strerror(u->job.error));
        return;
    }

    u->fd = fd;
    if (u->is_end && length > u->end) {
        refuse(u, "the file is shorter than its ranges");
    } else if (!u->is_end || length != u->end || length == 0) {
        u->counts.part = length;
        upload_finish(u);
    } else {
        u->at = 0;
        u->length = length;
        upload_take_apart(u);
    }
}


/* Symbol files are sent compressed, and others as they are. */
void
upload_session_check(upload_t *u)
{
    bool is_sym = sym_str_ends_nocase(sym_cstr(u->text), SYM_STR(".sym"));
    uint64_t at = u->at, length = u->length;
    int fd = u->fd;

    if (is_sym) {
        fd = upload_file_fd(u, &u->members[0], &at);
        length = u->members[0].length;
    }

    if (length != u->size || length == 0) {
        refuse(u, "the file has another size");
        return;
    }

    u->job = (placer_job_t){ .kind = PLACER_DIGEST,
                             .folder = u->folder->fd,
                             .fd = fd,
                             .at = at,
                             .length = length,
                             .md5 = u->is_md5,
                             .part_bytes = length };
    placer_add(u->all->placer, &u->job);
}


static bool
has_md5(const upload_t *u)
{
    char text[SYM_SESSION_MD5 + 1];

    for (size_t i = 0; i < SYM_MD5_BYTES; i++) {
        (void) snprintf(text + 2 * i, 3, "%02x", u->is_md5[0][i]);
    }

    return memcmp(text, u->md5, SYM_SESSION_MD5) == 0;
}


void
upload_session_checked(upload_t *u)
{
    if (u->job.error != 0) {
        upload_answer(u, 0, strerror(u->job.error));
        return;
    }

    if (!has_md5(u)) {
        refuse(u, "the file has another MD5");
        return;
    }

    u->current = SIZE_MAX;
    upload_next_file(u);
}


void
upload_session_ended(upload_t *u)
{
    const sym_upload_counts_t *n = &u->counts;

    if (n->stored + n->same + n->kept != 0 && n->failed == 0) {
        upload_note(u);
    } else {
        upload_session_noted(u);
    }
}


void
upload_session_noted(upload_t *u)
{
    drop_part(u);
    upload_finish(u);
}
