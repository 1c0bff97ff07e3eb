#include "daemon/upload_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha1.h"

/* Maximum length of the name in a note; each byte may be escaped. */
#define NAME_SHOWN 255

static const char *
type_word(const upload_t *u)
{
    if (u->map != 0) {
        return "none";
    }

    switch (u->format) {
    case SYM_CONVERSION_sourcebundle:
        return "src";
    case SYM_CONVERSION_proguard:
        return "none";
    default:
        return (u->features & SYM_FEATURE_DEBUG_INFO) != 0 ? "dbg" : "exe";
    }
}


/* Returns "debug", ...: words for Sentry's clients. */
static void
put_features(const upload_t *u, sym_out_t *out)
{
    static const struct {
        uint32_t bit;
        const char *word;
    } words[] = { { SYM_FEATURE_DEBUG_INFO, "debug" },
                  { SYM_FEATURE_SYMBOLS, "symtab" },
                  { SYM_FEATURE_UNWIND_INFO, "unwind" },
                  { SYM_FEATURE_SOURCES, "sources" } };
    bool is_first = true;

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if ((u->features & words[i].bit) != 0) {
            sym_out_printf(out, "%s\"%s\"", is_first ? "" : ", ",
                           words[i].word);
            is_first = false;
        }
    }
}


/* Writes the path of the file, and the properties that Sentry's clients
 * need. */
static void
write_note(upload_t *u)
{
    sym_out_t out = sym_out_fixed(u->note, sizeof(u->note) - 1);
    const upload_module_t *m = &u->modules[0];
    sym_debug_id_t id;
    char text[SYM_ID_TEXT_MAX], sha1[SYM_SHA1_TEXT];
    size_t len = 0;

    if (u->map != 0) {
        len = sym_debug_id_write_sentry(&u->map_id, text);
    } else if (sym_debug_id_read_breakpad(sym_str(m->id, m->id_len), &id)) {
        len = sym_debug_id_write_sentry(&id, text);
    }

    sym_out_raw(&out, sym_cstr(u->place));
    sym_out_raw(&out, SYM_STR("\n{\"uuid\": "));
    sym_out_string(&out, sym_str(text, len));
    sym_out_raw(&out, SYM_STR(", \"debugId\": "));
    sym_out_string(&out, sym_str(text, len));
    sym_out_raw(&out, SYM_STR(", \"cpuName\": \"unknown\", \"objectName\": "));
    sym_out_string(&out, sym_str(u->text, strnlen(u->text, NAME_SHOWN)));
    sym_sha1_write(u->digests, sha1);
    sym_out_printf(&out, ", \"sha1\": \"%s\", \"data\": {", sha1);
    sym_out_printf(&out, "\"type\": \"%s\", \"features\": [", type_word(u));
    put_features(u, &out);
    sym_out_raw(&out, SYM_STR("]}}"));
    *out.pos = '\0';
}


void
upload_assembled(upload_t *u)
{
    const sym_upload_counts_t *n = &u->counts;

    if (u->is_session) {
        upload_session_ended(u);
        return;
    }

    if (n->stored + n->same + n->kept == 0 || n->failed != 0) {
        char why[CONVERSION_REASON_MAX];

        memcpy(why, u->reason, sizeof(why));
        upload_answer(u, n->failed != 0 ? 0 : SYM_RPC_NOTHING, why);
        return;
    }

    upload_note(u);
}


void
upload_note(upload_t *u)
{
    write_note(u);
    u->job = (placer_job_t){ .kind = PLACER_NOTE,
                             .folder = u->folder->fd,
                             .sha1 = u->digests,
                             .n_chunks = u->n_chunks,
                             .text = u->note,
                             .replaces = true,
                             .n_paths = 1 };
    memcpy(u->job.paths[0], PLACER_NOTES, sizeof(PLACER_NOTES) - 1);
    sym_sha1_write(u->digests, u->job.paths[0] + sizeof(PLACER_NOTES) - 1);
    placer_add(u->all->placer, &u->job);
}


void
upload_noted(upload_t *u)
{
    if (u->is_session) {
        upload_session_noted(u);
    } else {
        upload_answer(u, SYM_RPC_DID, strchr(u->note, '\n') + 1);
    }
}


/* A digit for each chunk; 1: it is missing.  False: no chunk is missing. */
static bool
find_missing(const upload_folder_t *folder, sym_str_t chunks, size_t n,
             char digits[SYM_RPC_CHUNKS_MAX + 1])
{
    bool is_any = false;

    for (size_t i = 0; i < n; i++) {
        char path[sizeof(PLACER_CHUNKS) + SYM_SHA1_TEXT] = PLACER_CHUNKS;
        struct stat st;

        sym_sha1_write((const uint8_t *) chunks.data + PLACER_SHA1 * (i + 1),
                       path + sizeof(PLACER_CHUNKS) - 1);
        digits[i] = fstatat(folder->fd, path, &st, 0) == 0 ? '0' : '1';
        is_any |= digits[i] == '1';
    }

    digits[n] = '\0';
    return is_any;
}


/* A chunk went after the client knew that it is there. */
static void
ask_again(upload_t *u)
{
    char digits[SYM_RPC_CHUNKS_MAX + 1];
    sym_str_t chunks =
        sym_str((const char *) u->digests, PLACER_SHA1 * (u->n_chunks + 1));

    if (find_missing(u->folder, chunks, u->n_chunks, digits)) {
        upload_answer(u, SYM_RPC_KEPT, digits);
    } else {
        placer_add(u->all->placer, &u->job); /* it has come back */
    }
}


void
upload_assembly_begin(upload_t *u)
{
    if (u->job.error == EBADMSG) {
        upload_answer(u, SYM_RPC_NOTHING, "Reported checksum mismatch");
        return;
    }

    if (u->job.error == ENOENT) {
        ask_again(u);
        return;
    }

    if (u->job.error != 0) {
        upload_answer(u, 0, strerror(u->job.error));
        return;
    }

    if ((u->flags & SYM_RPC_SCRIPTS) != 0) {
        u->fd = u->job.fd;
        u->length = u->job.length;
        upload_take_apart(u);
        return;
    }

    u->members = calloc(1, sizeof(*u->members));
    if (u->members == NULL) {
        close(u->job.fd);
        upload_answer(u, 0, "out of memory");
        return;
    }

    u->n_members = u->members_size = 1;
    u->members[0] = (upload_file_t){ .fd = u->job.fd,
                                     .length = u->job.length,
                                     .name = strdup(u->text),
                                     .field = strdup("") };
    if (u->members[0].name == NULL || u->members[0].field == NULL) {
        upload_answer(u, 0, "out of memory");
        return;
    }

    u->current = 0;
    upload_begin_current(u);
}


/* Reads the path of the file into note, and returns the answer of an earlier
 * ASSEMBLE of it; NULL: there was none. */
static char *
read_note(const upload_folder_t *folder, const uint8_t *sha1,
          char note[UPLOAD_NOTE_MAX])
{
    char path[sizeof(PLACER_NOTES) + SYM_SHA1_TEXT] = PLACER_NOTES;
    char *end;
    ssize_t n;
    int fd;

    sym_sha1_write(sha1, path + sizeof(PLACER_NOTES) - 1);
    fd = openat(folder->fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return NULL;
    }

    n = read(fd, note, UPLOAD_NOTE_MAX - 1);
    close(fd);
    note[n > 0 ? n : 0] = '\0';
    end = strchr(note, '\n');
    if (end != NULL) {
        *end++ = '\0';
    }
    return end;
}


bool
upload_is_assembling(const uploads_t *all, const upload_folder_t *folder,
                     const uint8_t *sha1)
{
    for (const upload_t *u = all->first; u != NULL; u = u->next) {
        if (u->digests != NULL && u->folder == folder
            && memcmp(u->digests, sha1, PLACER_SHA1) == 0)
        {
            return true;
        }
    }

    return false;
}


bool
upload_has_note(upload_t *u)
{
    struct stat st;

    return read_note(u->folder, u->digests, u->note) != NULL
           && (u->part_bytes != 0
               || fstatat(u->folder->fd, u->note, &st, 0) == 0);
}


/* Makes the file, or answers which chunks are missing. */
static void
begin_assembly(upload_t *u)
{
    const sym_str_t chunks =
        sym_str((const char *) u->digests, PLACER_SHA1 * (1 + u->n_chunks));
    char digits[SYM_RPC_CHUNKS_MAX + 1];

    if (u->n_chunks == 0
        || find_missing(u->folder, chunks, u->n_chunks, digits)) {
        upload_answer(u, SYM_RPC_KEPT, u->n_chunks == 0 ? "" : digits);
        return;
    }

    u->job = (placer_job_t){ .kind = PLACER_ASSEMBLE,
                             .folder = u->folder->fd,
                             .sha1 = u->digests,
                             .n_chunks = u->n_chunks };
    placer_add(u->all->placer, &u->job);
}


/* The answer of the note counts as long as its file is there. */
static void
find_assembled(upload_t *u)
{
    const char *end = read_note(u->folder, u->digests, u->note);
    struct stat st;

    if (end != NULL && u->part_bytes != 0) {
        upload_bucket_look(u, u->note);
    } else if (end != NULL && fstatat(u->folder->fd, u->note, &st, 0) == 0) {
        upload_answer(u, SYM_RPC_DID, end);
    } else {
        begin_assembly(u);
    }
}


void
upload_note_looked(upload_t *u, const sym_rpc_message_t *reply)
{
    char why[CONVERSION_REASON_MAX];

    if (reply != NULL && (reply->flags & SYM_RPC_DID) != 0) {
        upload_answer(u, SYM_RPC_DID, u->note + strlen(u->note) + 1);
    } else if (reply != NULL && (reply->flags & SYM_RPC_NOTHING) != 0) {
        begin_assembly(u);
    } else {
        (void) snprintf(why, sizeof(why), "cannot look into the bucket: %.*s",
                        reply != NULL ? (int) reply->text.len : 0,
                        reply != NULL ? reply->text.data : "");
        upload_answer(u, 0, why);
    }
}


void
upload_assemble(uploads_t *all, client_t *client, const sym_rpc_message_t *m)
{
    const upload_folder_t *folder = upload_folder(all, m->key.scope);
    upload_t *u;

    if (folder == NULL) {
        upload_refuse(client, m, -1, 0, UPLOAD_NO_FOLDER);
        return;
    }

    u = upload_create(all, client, m, folder);
    if (u == NULL) {
        upload_refuse(client, m, -1, 0, "too many uploads at once");
        return;
    }

    if (!upload_choose_folder(u)) {
        upload_answer(u, SYM_RPC_NOTHING, "Forbidden");
        return;
    }

    if (upload_is_assembling(all, u->folder, (const uint8_t *) m->chunks.data))
    {
        upload_answer(u, SYM_RPC_ANOTHER, "assembling");
        return;
    }

    u->flags &= SYM_RPC_SCRIPTS;
    upload_text(u->text, m->source);
    if (!sym_debug_id_read_sentry(m->text, &u->debug_id)) {
        u->debug_id.form = SYM_DEBUG_ID_NONE;
    }
    u->n_chunks = m->chunks.len / PLACER_SHA1 - 1;
    u->digests = malloc(m->chunks.len);
    if (u->digests == NULL) {
        upload_answer(u, 0, "out of memory");
        return;
    }

    memcpy(u->digests, m->chunks.data, m->chunks.len);
    find_assembled(u);
}
