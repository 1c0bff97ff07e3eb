/*
 * upload_state.h - an upload in progress; only for upload_*.c.
 *
 * upload.c moves it from one file to the next.  Each of the other files has one
 * task: files in the upload, chunks, assembled files, scripts, maps, symbfiles,
 * files of sessions, paths in the folder, the report, the folders, and requests
 * to a bucket.
 */
#ifndef SYMLOADER_DAEMON_UPLOAD_STATE_H
#define SYMLOADER_DAEMON_UPLOAD_STATE_H

#include "daemon/bucket.h"
#include "daemon/upload.h"
#include "json/out.h"
#include "uploads/counts.h"
#include "uploads/session.h"

/* Maximum number of modules in a file: the architectures of a fat one. */
#define UPLOAD_MODULES_MAX 64

/* Length of the note about an assembled file: its path, a line end, and
 * JSON. */
#define UPLOAD_NOTE_MAX 4000

#define UPLOAD_NO_PLACE                                                        \
    "the layout of the target has no place for this type of file"

#define UPLOAD_NO_FOLDER "the loader has no --upload-folder for this source"

typedef struct {
    char *name, *field;
    int fd; /* a file of its own with the unpacked bytes; -1: it has none */
    uint64_t at, length;
    bool is_field, is_archive;
    bool is_spooled;    /* a range of the spool; else of the upload */
    bool is_closed;     /* its descriptor is no longer needed */
    uint32_t n_skipped; /* of an archive: files of other kinds */
} upload_file_t;

typedef struct {
    char name[SYM_NAME_MAX], id[SYM_ID_MAX];
    size_t name_len, id_len;
    sym_code_id_t code_id;
    uint32_t kinds; /* 1 << kind */
} upload_module_t;

/* What an upload to a bucket waits for. */
typedef enum {
    UPLOAD_ASKS_NOTHING,
    UPLOAD_ASKS_TURN,    /* its file's digests, and files before it */
    UPLOAD_ASKS_TO_PUT,  /* the file */
    UPLOAD_ASKS_TO_READ, /* the file that is at its path */
    UPLOAD_ASKS_TO_LOOK  /* whether an assembled file is still there */
} upload_asks_t;

struct upload_s {
    upload_t *next;
    uploads_t *all;
    client_t *client; /* NULL: gone */
    uint32_t ticket;
    uint32_t flags;
    int fd; /* the upload */
    uint64_t at, length;
    int report_fd; /* what the client has sent: the report is written there; -1:
                      it gets none */
    uint64_t report_at;
    const upload_folder_t *folder;
    sym_source_rules_t rules;
    char text[SYM_RPC_SOURCE_MAX + 1]; /* path in the request, or "" */
    char who[SYM_RPC_SOURCE_MAX + 1];

    upload_file_t *members;
    size_t n_members, members_size;
    size_t names;     /* length of their names */
    unsigned n_own;   /* files with a descriptor of their own */
    int spool;        /* unpacked bytes of the others; -1: none */
    uint64_t spooled; /* bytes in it */
    bool is_due;      /* the next file begins in the next turn */
    size_t current;   /* index of the file that is read or placed */
    uint64_t written;

    /* about the current file */
    unsigned n_modules;
    upload_module_t modules[UPLOAD_MODULES_MAX];
    bool is_stored, is_kept, is_failed;
    bool is_pending;  /* the store has artifacts, and the file is not placed
                         yet */
    bool is_doubtful; /* the path is taken by a file that was not read yet */
    bool is_known;    /* that file has been read since */
    bool is_answered; /* the store has an artifact of the path already */
    bool is_unplaced; /* ... of a file that may not be there */
    bool is_old;      /* that file is being read now */
    bool is_newest; /* the file replaces what is there, and is not converted */
    bool lacks_map; /* it was converted without a map, or dwz's file, that it
                       needs */
    uint32_t map;   /* sym_companion_kind_t of a map; 0: it is no map */
    sym_debug_id_t map_id;
    char reason[CONVERSION_REASON_MAX];
    placer_job_t job;

    sym_out_t out;
    char *report;
    size_t report_size;
    bool has_file; /* the report contains a file */
    unsigned n_logged;
    bool is_try;
    sym_upload_counts_t counts;

    /* for a bucket */
    uint64_t part_bytes; /* 0: the target is a folder */
    upload_asks_t asks;
    uint64_t turn; /* ascending, in the order in which files are put */
    bool is_digested;
    int old_fd; /* for the file at the path; -1: none */
    char old_etag[BUCKET_ETAG];
    bool has_old_read; /* whether there is one */
    bool is_old_absent;
    unsigned n_old; /* times that it was another one than before */
    bucket_t bucket;
    char why[CONVERSION_REASON_MAX]; /* why it was not put; "": it was */

    /* for a symbfile */
    char symbfile[96]; /* its path */
    char set[64];      /* name of its parts */
    unsigned part, parts;
    bool is_ranges, is_checked; /* checked: it is placed, and not stored */
    bool is_joining;            /* its parts are being joined */
    bool is_waiting;            /* another upload does that */
    placer_part_t *joined_parts;
    unsigned joined; /* parts that the file was joined from, and that go when it
                        is reported; 0: none */

    /* for a file of a session; it has `digests`, too */
    bool is_session, is_end; /* end: its last range */
    uint64_t end;            /* of the range */
    uint64_t size;
    char md5[SYM_SESSION_MD5];
    uint8_t is_md5[1][SYM_MD5_BYTES];

    /* for a bundle of scripts: files that are placed together */
    placer_job_t *batch; /* of PLACER_FILES_MAX; NULL: none yet */
    size_t n_batch;

    /* for a file that is assembled from chunks */
    uint8_t *digests; /* digests of the file, by which its note is found, and of
                         its chunks; NULL: not assembled */
    size_t n_chunks;
    sym_debug_id_t debug_id; /* sent with the file; form NONE: none */
    char place[SYM_SOURCE_PATH_MAX + 1]; /* of the last file that was placed */
    uint8_t sha1[PLACER_SHA1];           /* digest of the current chunk */
    uint32_t features;
    sym_conversion_format_t format;
    char note[UPLOAD_NOTE_MAX];
};

/* Result of a file in the report. */
typedef enum {
    UPLOAD_STORED,
    UPLOAD_SAME,
    UPLOAD_KEPT,
    UPLOAD_REFUSED,
    UPLOAD_FAILED
} upload_state_t;

/* --- upload.c --- */

/* Creates an upload.  NULL: there are too many, or no memory. */
upload_t *upload_create(uploads_t *all, client_t *client,
                        const sym_rpc_message_t *m,
                        const upload_folder_t *folder);

/* Answers a message that begins no upload, and closes its descriptor, if
 * any. */
void upload_refuse(client_t *client, const sym_rpc_message_t *m, int fd,
                   uint32_t flags, const char *why);

/* Answers the client, and frees the upload. */
void upload_answer(upload_t *u, uint32_t flags, const char *text);

/* The path of the current file: a file in an archive has its own, otherwise it is
 * that of the request. */
const char *upload_path(const upload_t *u);

/* Makes a conversion of the current file.  NULL: no memory or no descriptor. */
submission_t *upload_submit_current(upload_t *u);

/* Writes the report, answers with its counts, and frees the upload. */
void upload_finish(upload_t *u);

/* Selects the source.  Try uploads of Mozilla's builds go to a separate source:
 * those with the field `try`, or all of a client that may upload only try
 * symbols.  False: the client may not upload. */
bool upload_choose_folder(upload_t *u);

/* Begins with the file `current`. */
void upload_begin_current(upload_t *u);

/* The file has ended: uploads_turn() begins the next one.  So an upload of many
 * bad files takes neither stack nor a long turn. */
void upload_next_file(upload_t *u);

/* The descriptor that has the bytes of a file, from *at. */
int upload_file_fd(const upload_t *u, const upload_file_t *m, uint64_t *at);

/* Lets a converter send the files in the upload. */
void upload_take_apart(upload_t *u);

/* Places the file at the paths of the job; upload_placed() follows. */
void upload_begin_placing(upload_t *u);

/* Makes the job of the current file. */
void upload_make_job(upload_t *u);

/* The file was put or placed, or not. */
void upload_placed(upload_t *u);

/* Same, and the next file does not begin yet. */
void upload_report_placed(upload_t *u);

/* The file at the path, which is compared with the new one; the caller keeps fd.
 * -1: there is none. */
void upload_begin_old(upload_t *u, int fd, uint64_t length);
void upload_old_failed(upload_t *u, const char *why);

/* Adds a module of the current file to the report. */
void upload_add_module(upload_t *u, const submission_t *c, uint32_t kinds);

/* Compares the current file with the one that is at its path now. */
void upload_compare(upload_t *u);

/* Copies text, and replaces bytes that are not printable. */
void upload_text(char to[SYM_RPC_SOURCE_MAX + 1], sym_str_t from);

/* --- upload_chunks.c --- */

/* Handles a part of a file that will be assembled later. */
void upload_chunk_begin(upload_t *u);
void upload_chunk_ended(upload_t *u);

/* --- upload_assembly.c --- */

/* Called when the file has been assembled from its chunks, or has failed. */
void upload_assembly_begin(upload_t *u);

/* Called when the file was read and placed, or has failed. */
void upload_assembled(upload_t *u);

/* Whether another upload makes, or receives, the file with this digest. */
bool upload_is_assembling(const uploads_t *all, const upload_folder_t *folder,
                          const uint8_t *sha1);

/* Whether there is a note of the file; that it is there is only known for a
 * folder. */
bool upload_has_note(upload_t *u);

/* Writes the note, so that the file is not sent again. */
void upload_note(upload_t *u);
void upload_noted(upload_t *u);

/* The bucket was asked for an assembled file. */
void upload_note_looked(upload_t *u, const sym_rpc_message_t *reply);

/* --- upload_session.c --- */

/* Handles a file, or a range of it. */
void upload_session_begin(upload_t *u);
void upload_session_appended(upload_t *u);

/* Compares its size and MD5 with what the client said. */
void upload_session_check(upload_t *u);
void upload_session_checked(upload_t *u);

void upload_session_ended(upload_t *u);
void upload_session_noted(upload_t *u);

/* --- upload_scripts.c --- */

/* Handles a file of a bundle of scripts. */
void upload_script_begin(upload_t *u);

/* Places the files that wait for others. */
void upload_scripts_place(upload_t *u);
void upload_scripts_placed(upload_t *u);

/* --- upload_maps.c --- */

/* The current file is no symbol file.  False: nor can it be a map, because it has
 * no id. */
bool upload_map_begin(upload_t *u);

/* The converter has said whether it is one. */
void upload_map_read(upload_t *u, const conversion_end_t *how);

/* --- upload_bucket.c --- */

/* Puts the file of the job; upload_placed() follows. */
void upload_bucket_put(upload_t *u);
void upload_bucket_digested(upload_t *u);

/* Reads the object at the first path; upload_begin_old() follows, or
 * upload_old_failed(). */
void upload_bucket_read(upload_t *u);

/* upload_note_looked() follows. */
void upload_bucket_look(upload_t *u, const char *path);

/* It waits for a worker that has gone. */
bool upload_bucket_is_lost(const upload_t *u);

void uploads_buckets_turn(uploads_t *all);

/* --- upload_symbfile.c --- */

/* Reads the text of the request.  False: it is invalid. */
bool upload_symbfile_read(upload_t *u);

sym_status_t upload_symbfile_place(upload_t *u, submission_t *c,
                                   sym_error_t *err);

/* Called when a part was placed.  True: it was the last one, and all are being
 * joined. */
bool upload_symbfile_join(upload_t *u);

/* The upload waits for another one that joins the same parts.  True: no more. */
bool upload_symbfile_may_go_on(const upload_t *u);
void upload_symbfile_joined(upload_t *u);

/* Removes parts that are no longer needed. */
void upload_symbfile_drop(const upload_t *u, unsigned parts);

/* --- upload_paths.c --- */

void upload_add_path(placer_job_t *job, sym_str_t path);

/* Adds the path of a file of one of the types `files`, if the layout has one. */
sym_status_t upload_add_place(upload_t *u, const sym_object_ref_t *ref,
                              unsigned files, sym_error_t *err);

/* The record of a path of the target. */
typedef enum {
    UPLOAD_PATH_UNKNOWN,
    UPLOAD_PATH_READ,    /* it has artifacts of the file at the path */
    UPLOAD_PATH_UNPLACED /* of one that could not be placed there */
} upload_path_t;

sym_status_t upload_find_path(const upload_t *u, const char *path,
                              upload_path_t *found, sym_error_t *err);

/* The file of the stored artifacts could not be placed.  If the path had
 * artifacts before, these ones go on answering, but do not count in the next
 * upload; otherwise they are removed, because a file of them never existed. */
void upload_not_at_path(const upload_t *u);

/* Removes the artifacts of the path. */
void upload_clear_path(const upload_t *u);

/* Opens a companion that was uploaded to the folder before; -1: it is not there,
 * or the target is a bucket. */
int upload_open_part(const upload_t *u, const sym_companion_t *want,
                     uint64_t *length);

/* Stores the path of the file: the first path of the job. */
void upload_set_place(upload_t *u, submission_t *c);

/* --- upload_report.c --- */

void upload_report_begin(upload_t *u);

/* Adds the result of the current file. */
void upload_report_file(upload_t *u, upload_state_t how);

/* Adds the form's fields, and ends the text. */
void upload_report_end(upload_t *u);

/* --- upload_folders.c --- */

/* Finds the folder of a source.  NULL: the daemon writes to none. */
const upload_folder_t *upload_folder(const uploads_t *all, sym_str_t source);

/* From time to time, lets the placer remove old chunks and parts. */
void upload_folders_sweep(uploads_t *all, int64_t now_ms);
void upload_folders_swept(placer_job_t *job);

#endif
