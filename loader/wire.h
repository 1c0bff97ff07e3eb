/*
 * wire.h - what the loader and its converter say to each other.
 *
 * One SOCK_SEQPACKET socket pair a converter: every message is one packet, so
 * its bounds need no parsing, and a descriptor can travel with it.  Chosen over
 * a ring in shared memory: measured with a file of 860 MB, its 2,400 extents
 * cost 16 us of CPU time each for both ends together, 1 % of the whole, and for
 * that the loader gets bytes that the converter can no longer change.
 *
 * A job goes
 *
 *     loader      WIRE_JOB + descriptor of the input, and how much of it
 *     converter   WIRE_MODULE, WIRE_EXTENT..., WIRE_DONE
 *            or   WIRE_FAILED, at any point
 *
 * before WIRE_MODULE any number of
 *
 *     converter   WIRE_NOTE: what people should know about the file
 *     converter   WIRE_WANT: a companion of the file
 *     loader      WIRE_GIVEN + its descriptor, or none
 *
 * and the converter's part again for each further module of the file: WIRE_DONE
 * and WIRE_FAILED say whether there is one.
 *
 * Both ends are the same program, so structures travel as they lie in memory.
 * The loader believes none of it: wire_receive() bounds every message, the
 * pool checks order and numbers.
 */
#ifndef SYMLOADER_WIRE_H
#define SYMLOADER_WIRE_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/module_key.h"
#include "elf/elf.h"
#include "symcache/format.h"

/* The converter finds its socket here. */
#define WIRE_FD 3

typedef enum {
    WIRE_JOB = 1,
    WIRE_MODULE,
    WIRE_EXTENT,
    WIRE_DONE,
    WIRE_FAILED,
    WIRE_NOTE,
    WIRE_WANT,
    WIRE_GIVEN
} wire_type_t;

typedef struct {
    uint32_t type;   /* wire_type_t */
    uint32_t number; /* of a WIRE_EXTENT */
} wire_head_t;

/* Of the name of a processor. */
#define WIRE_ARCH_MAX 64

typedef struct {
    uint64_t length;  /* bytes of the file, from where its descriptor stands */
    uint64_t threads; /* that may work on it */

    /* of several modules the one with this debug id only, or that for this
     * processor; both 0: all of them */
    uint32_t id_len, arch_len;
    uint32_t
        is_arch_wish; /* or else the first; a single one is never refused */
    char id[SYM_ID_MAX];
    char arch[WIRE_ARCH_MAX];
} wire_job_t;

/* More modules than this are in no file: a fat one has 42 slices at most. */
#define WIRE_MODULES_MAX 64

/* Of a path in a debug file. */
#define WIRE_PATH_MAX 4096

/* A file to its end, however far that is. */
#define WIRE_TO_END UINT64_MAX

/* What a MODULE line says; the converter cuts nothing, the loader judges.
 * is_nameless: the format has no place for a name, the file's own counts, and
 * its ids find it, the code id too; name is what it is called in an archive, or
 * nothing. */
#define WIRE_TEXT_MAX 512
typedef struct {
    uint32_t name_len, id_len, code_id_len, is_nameless;
    uint32_t format; /* sym_conversion_format_t */
    char name[WIRE_TEXT_MAX];
    char id[WIRE_TEXT_MAX];
    char code_id[WIRE_TEXT_MAX];
} wire_module_t;

typedef struct {
    uint64_t bytes;        /* of all extents */
    uint64_t source_bytes; /* of the text that was read, uncompressed */
    uint32_t extents;
    uint32_t quality;  /* SYM_QUALITY_* */
    uint32_t has_more; /* modules in the file, after this one */
    uint32_t
        is_incomplete; /* files that go with it were not there: see notes */
} wire_done_t;

/* A sym_error_t whose texts come along. */
#define WIRE_WHAT_MAX 320
typedef struct {
    uint32_t status; /* sym_status_t */
    int32_t sys_errno;
    uint64_t offset, line;
    uint32_t format;   /* sym_conversion_format_t */
    uint32_t has_more; /* modules in the file, after this one */
    char what[WIRE_WHAT_MAX];
    char section[64];
} wire_failed_t;

/* Text, without a NUL if it is as long as that. */
typedef struct {
    char text[WIRE_WHAT_MAX];
} wire_note_t;

/* Which file a debug file needs besides; the numbers are those of WANT in
 * docs/loader-protocol.md, section 4, too. */
typedef enum {
    WIRE_WANT_DEBUG, /* the debug information of a stripped one */
    WIRE_WANT_ALT,   /* what dwz took out of it */
    WIRE_WANT_DWO,   /* one split unit */
    WIRE_WANT_DWP    /* all of them */
} wire_want_kind_t;

/* In the words of the debug file: name may be a path, dir is what it counts
 * from.  attempt: files of that kind that were of no use. */
typedef struct {
    uint32_t kind; /* wire_want_kind_t */
    uint32_t attempt;
    uint32_t name_len, dir_len, id_len;
    char name[WIRE_PATH_MAX];
    char dir[WIRE_PATH_MAX];
    uint8_t id[SYM_ELF_BUILD_ID_MAX]; /* build id */
} wire_want_t;

typedef struct {
    uint64_t offset, length; /* of its bytes; others may read the file too */
    uint32_t is_there;
    uint32_t is_by_id; /* its name says that it has this build id */
} wire_given_t;

/* One message as received; `data` is what follows the head. */
typedef struct {
    wire_head_t head;
    size_t len; /* of data */
    union {
        wire_module_t module;
        wire_done_t done;
        wire_failed_t failed;
        wire_note_t note;
        wire_want_t want;
        uint8_t bytes[SYM_EXTENT_MAX];
    } data;
} wire_message_t;

/* False: the other side is gone, or will never take it; errno says why. */
bool wire_send(int fd, wire_type_t type, uint32_t number, const void *data,
               size_t len);
/* input_fd: -1 if there is none to send. */
bool wire_send_given(int fd, int input_fd, const wire_given_t *given);
bool wire_send_job(int fd, int input_fd, const wire_job_t *job);

/*
 * One message into *m.  SYM_AGAIN: none there (only with MSG_DONTWAIT in
 * flags); SYM_NOT_FOUND: the other side is gone; SYM_MALFORMED: not one of
 * ours.  After SYM_OK the length fits the type.
 */
sym_status_t wire_receive(int fd, int flags, wire_message_t *m);

/* The converter's side: the answer to WIRE_WANT, a descriptor or -1. */
int wire_receive_given(int fd, wire_given_t *given);

/* The converter's side: waits for a job and gives its descriptor, or -1. */
int wire_receive_job(int fd, wire_job_t *job);

#endif
