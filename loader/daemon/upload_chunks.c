#include "daemon/upload_state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/sha1.h"


void
upload_chunk_begin(upload_t *u)
{
    const upload_file_t *m = &u->members[u->current];
    uint64_t at;
    int fd = upload_file_fd(u, m, &at);

    if (!sym_sha1_read(m->name, u->sha1)) {
        (void) snprintf(u->reason, sizeof(u->reason),
                        "the name of a chunk is no SHA-1");
        upload_report_file(u, UPLOAD_REFUSED);
        upload_next_file(u);
        return;
    }

    if (m->length > SYM_RPC_CHUNK_LENGTH_MAX) {
        (void) snprintf(u->reason, sizeof(u->reason),
                        "a chunk is longer than %d bytes",
                        SYM_RPC_CHUNK_LENGTH_MAX);
        upload_report_file(u, UPLOAD_REFUSED);
        upload_next_file(u);
        return;
    }

    u->job = (placer_job_t){ .kind = PLACER_CHUNK,
                             .folder = u->folder->fd,
                             .sha1 = u->sha1,
                             .fd = fd,
                             .at = at,
                             .length = m->length,
                             .is_renewed = true,
                             .n_paths = 1 };
    (void) snprintf(u->job.paths[0], sizeof(u->job.paths[0]), "%s%s",
                    PLACER_CHUNKS, m->name);
    placer_add(u->all->placer, &u->job);
}


void
upload_chunk_ended(upload_t *u)
{
    int error = u->job.error;

    u->job.n_paths = 0;
    if (error == EBADMSG) {
        (void) snprintf(u->reason, sizeof(u->reason),
                        "the chunk has another SHA-1");
    } else if (error != 0) {
        (void) snprintf(u->reason, sizeof(u->reason), "%s", strerror(error));
    }
    upload_report_file(u, error == EBADMSG ? UPLOAD_REFUSED
                          : error != 0     ? UPLOAD_FAILED
                          : u->job.is_same ? UPLOAD_SAME
                                           : UPLOAD_STORED);
}
