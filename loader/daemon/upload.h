/*
 * upload.h - files that clients upload into the folder of a source.
 *
 * A converter sends the files of the upload, then reads one after the other.
 * Each valid file is written to the folder (placer.h) at its paths in the
 * source's layout, and its artifacts are stored.  Then the report is appended
 * to the upload, and the client gets DONE.  All files that the report calls
 * stored are on disk.  See docs/design/uploads.md.
 */
#ifndef SYMLOADER_DAEMON_UPLOAD_H
#define SYMLOADER_DAEMON_UPLOAD_H

#include "daemon/placer.h"
#include "daemon/submission.h"

typedef struct upload_s upload_t;

/* A folder that the daemon writes to, for the source with this name. */
typedef struct {
    sym_str_t source;
    int fd;
    placer_job_t sweep;
    bool is_sweeping;
} upload_folder_t;

#define UPLOAD_FOLDERS_MAX 16

typedef struct {
    upload_folder_t folders[UPLOAD_FOLDERS_MAX];
    unsigned n_folders;
    placer_t *placer; /* NULL: there is no upload folder */
    int64_t sweep_at_ms;
    upload_t *first;
    unsigned n;
    uint64_t turns; /* files that were put into buckets */

    conversions_t *conversions;
    void *owner;
    /* Called when an artifact has arrived: clients that wait for it get it. */
    void (*arrived)(void *owner, const store_upload_t *artifact);
    /* Called when the files of such artifacts are placed, or have failed. */
    void (*placed)(void *owner);
    /* Called when the file at a path of a source was replaced. */
    void (*changed)(void *owner, sym_str_t source, sym_str_t path);
} uploads_t;

/* Opens the folders of --upload-folder NAME=PATH.  False: *path is the folder
 * that cannot be used; *err has the reason. */
bool uploads_open(uploads_t *all, const char *const *options, unsigned n,
                  const char **path, sym_error_t *err);
void uploads_close(uploads_t *all);

/* Handles an UPLOAD and its descriptor. */
void upload_begin(uploads_t *all, client_t *client, const sym_rpc_message_t *m,
                  int fd);

/* Handles an ASSEMBLE. */
void upload_assemble(uploads_t *all, client_t *client,
                     const sym_rpc_message_t *m);

/* Handles some finished jobs of the placer, begins the next files, and from time to
 * time lets the placer remove old chunks. */
void uploads_turn(uploads_t *all, int64_t now_ms);

/* Takes a REPLY. */
void upload_reply(uploads_t *all, client_t *client, const sym_rpc_message_t *m);

/* Whether the file of an artifact is not at its path yet. */
bool uploads_are_placing(const uploads_t *all, sym_str_t source,
                         const sym_object_record_t *artifact);

/* Whether another turn is needed at once. */
bool uploads_are_due(const uploads_t *all);

/* This client gets no more answers; its uploads continue. */
void uploads_leave(uploads_t *all, const client_t *client);

/* Callbacks of conversions that belong to an upload. */
sym_status_t upload_member(submission_t *c, const converter_member_t *member,
                           sym_error_t *err);
sym_status_t upload_bytes(submission_t *c, const uint8_t *data, size_t len,
                          sym_error_t *err);
sym_status_t upload_place(submission_t *c, const converter_done_t *done,
                          sym_conversion_format_t format, sym_error_t *err);
void upload_ended(submission_t *c, const conversion_end_t *how);

/* Opens a companion among the files of the upload; -1: it has none.  Maps are
 * fetched by requests. */
int upload_companion(upload_t *u, const sym_companion_t *want,
                     converter_given_t *given);

#endif
