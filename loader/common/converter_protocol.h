/*
 * converter_protocol.h - messages between the loader and its converters.
 *
 * Each converter has a SOCK_SEQPACKET socket pair: every message is one packet,
 * so its length need not be parsed, and it can carry a descriptor.  Packets
 * cost little more than a ring in shared memory: for a file of 860 MB, each of
 * its 2,400 extents costs both ends together 16 us of CPU time, 1 % of the
 * total.  In return, the converter cannot change bytes that the loader has
 * received.
 *
 * A job:
 *
 *     loader      CONVERTER_JOB + descriptor of the input, and how much of it
 *     converter   CONVERTER_MODULE, CONVERTER_EXTENT..., CONVERTER_DONE
 *            or   CONVERTER_FAILED, at any point
 *
 * The converter may send any number of these before CONVERTER_MODULE:
 *
 *     converter   CONVERTER_NOTE: a note for users about the file
 *     converter   CONVERTER_OBJECT: the id of one of several objects in the file
 *     converter   CONVERTER_NAMES: a foreign demangler begins or has ended
 *     converter   CONVERTER_WANT: a companion of the file
 *     loader      CONVERTER_GIVEN + its descriptor, or none
 *
 * The converter repeats its part for each further artifact of the file, of the
 * same object or of another one.  CONVERTER_DONE and CONVERTER_FAILED contain
 * whether there is one.
 *
 * If the job is an upload, the converter only sends its files:
 *
 *     converter   CONVERTER_MEMBER, CONVERTER_BYTES..., again for each file
 *     converter   CONVERTER_LISTED, or CONVERTER_FAILED
 *
 * Both ends are the same program, so structures are sent as they are in memory.
 * The loader does not trust them: converter_receive() bounds every message, and
 * the pool checks order and numbers.
 */
#ifndef SYMLOADER_COMMON_CONVERTER_PROTOCOL_H
#define SYMLOADER_COMMON_CONVERTER_PROTOCOL_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "object/module_key.h"
#include "artifacts/kinds.h"
#include "formats/companion.h"
#include "object/files.h"
#include "object/object_ref.h"
#include "artifacts/symcache/format.h"

/* --- the command line of a converter --- */

#define CONVERT_ARGUMENT "--converter"

/* Number of arguments after that word. */
#define CONVERT_ARGUMENTS 6

/* Instead of a path to Swift's demangler: Swift names are not needed. */
#define CONVERT_SWIFT_OFF "off"

/* Maximum number of threads; more would wait for each other. */
#define CONVERT_THREADS_MAX 64

/* Descriptor number of the converter's socket. */
#define CONVERTER_FD 3

typedef enum {
    CONVERTER_JOB = 1,
    CONVERTER_MODULE,
    CONVERTER_EXTENT,
    CONVERTER_DONE,
    CONVERTER_FAILED,
    CONVERTER_NOTE,
    CONVERTER_WANT,
    CONVERTER_GIVEN,
    CONVERTER_NAMES,
    CONVERTER_OBJECT,
    CONVERTER_MEMBER,
    CONVERTER_BYTES,
    CONVERTER_LISTED
} converter_type_t;

typedef struct {
    uint32_t type;   /* converter_type_t */
    uint32_t number; /* in CONVERTER_EXTENT: of the extent; in CONVERTER_NAMES:
                        1 begins */
} converter_head_t;

/* Maximum length of a processor's name. */
#define CONVERTER_ARCH_MAX 64

/* Maximum length of sym_format_file_t.reference. */
#define CONVERTER_REFERENCE_MAX 2048

typedef struct {
    uint64_t length;  /* number of bytes, from the descriptor's position on */
    uint64_t threads; /* number of threads that may work on it */

    /* if there are several modules: only the one with this debug id or for this
     * processor; both 0: all */
    uint32_t id_len, arch_len;
    uint32_t is_arch_wish; /* if none matches, use the first one; a single
                              module is always used */
    uint32_t kinds;        /* kinds of artifacts: sym_format_file_t.kinds */
    uint32_t upload;       /* CONVERTER_UPLOAD and flags of UPLOAD: sends the
                              files of an upload; 0: converts a file */
    uint32_t make;         /* 1 + a sym_make_t: the extents form a file; 0: they
                              form artifacts */
    uint32_t make_name_len;
    uint32_t takes_empty; /* see sym_format_services_t.takes_empty */
    uint32_t takes_parts; /* see sym_format_services_t.takes_parts */
    uint32_t text;        /* 1 + the file's sym_text_role_t, whatever it looks
                             like; 0: it is a file of a module */

    /* for a repeated job, if Swift's demangler ended the previous converter: do
     * not use the demangler, and skip the finished artifacts */
    uint32_t is_without_swift, n_had;
    uint32_t reference_len;
    char id[SYM_ID_MAX];
    char arch[CONVERTER_ARCH_MAX];
    char reference[CONVERTER_REFERENCE_MAX];
    char make_name
        [SYM_MAKE_TEXT_MAX]; /* name of the section, module or source file */
} converter_job_t;

/* Maximum number of modules in a file: a fat one has at most 42 slices. */
#define CONVERTER_MODULES_MAX 64

/* Length of a file up to its end. */
#define CONVERTER_TO_END UINT64_MAX

/* The contents of a MODULE line.  The converter does not cut them, and the
 * loader checks them.  is_nameless: the format contains no module name, so the
 * file's name is used, and the debug id alone identifies the module.  name is
 * then the file's name in an archive, or empty.  Any module can also be found
 * by its code id. */
#define CONVERTER_TEXT_MAX 512
typedef struct {
    uint32_t name_len, id_len, code_id_len, is_nameless;
    uint32_t format; /* sym_conversion_format_t */
    uint32_t kind;   /* sym_kind_t of the artifact that follows */
    char name[CONVERTER_TEXT_MAX];
    char id[CONVERTER_TEXT_MAX];
    char code_id[CONVERTER_TEXT_MAX];
    uint32_t has_digest; /* its URL has a digest */
    uint8_t digest[SYM_REF_DIGEST_BYTES];
} converter_module_t;

typedef struct {
    uint64_t bytes;        /* total size of the extents */
    uint64_t source_bytes; /* size of the input, uncompressed */
    uint32_t extents;
    uint32_t quality;       /* rank within the kind */
    uint32_t features;      /* features of the file: SYM_FEATURE_* */
    uint32_t has_more;      /* the file has more artifacts after this one */
    uint32_t is_incomplete; /* companion files were missing; see notes */
    uint32_t lacks;         /* see sym_format_output_t.lacks */
    uint64_t n_mangled;     /* number of Swift names without a demangled form */
} converter_done_t;

/* A sym_error_t with its texts. */
#define CONVERTER_WHAT_MAX 320
typedef struct {
    uint32_t status; /* sym_status_t; SYM_AGAIN: the file is an archive, which
                        needs a converter started for archives */
    int32_t sys_errno;
    uint64_t offset, line;
    uint32_t format;   /* sym_conversion_format_t */
    uint32_t has_more; /* the file has more artifacts after this one */
    char what[CONVERTER_WHAT_MAX];
    char section[64];
} converter_failed_t;

/* A flag in `upload` of a job, in addition to SYM_RPC_FORM and others. */
#define CONVERTER_UPLOAD 0x80000000u

/* Another one: the file may be a map for a debug file.  If it is, one
 * CONVERTER_MEMBER has its kind. */
#define CONVERTER_MAP 0x40000000u

/* A file in an upload: a range of the upload, or the CONVERTER_BYTES that
 * follow. */
#define CONVERTER_PATH_MAX 1024
typedef struct {
    uint64_t offset, length;
    uint32_t is_packed;  /* the file's bytes follow */
    uint32_t is_field;   /* a field of a form; its value follows */
    uint32_t is_archive; /* an archive; its files follow as members, or, if it
                            is a package, come before it */
    uint32_t n_skipped;  /* number of a package's files that were not sent */
    uint32_t map;        /* the upload is a map: sym_companion_kind_t; or 0 */
    uint32_t name_len, field_len;
    char name[CONVERTER_PATH_MAX];  /* name of the file, perhaps with folders */
    char field[CONVERTER_TEXT_MAX]; /* name of the form's field, or "" */
} converter_member_t;

/* Not NUL-terminated if the text has the full length. */
typedef struct {
    char text[CONVERTER_WHAT_MAX];
} converter_note_t;

typedef struct {
    uint32_t id_len;
    char id[SYM_ID_MAX];
} converter_object_t;

typedef struct {
    uint64_t offset, length; /* range of the file's bytes; other processes may
                                read the file, too */
    uint64_t is_by_id;       /* the file was found by the build id in its
                                name */
} converter_given_t;

/* A received message; `data` is the part after the head. */
typedef struct {
    converter_head_t head;
    size_t len; /* length of data */
    union {
        converter_module_t module;
        converter_done_t done;
        converter_failed_t failed;
        converter_note_t note;
        converter_object_t object;
        sym_companion_t want;
        converter_member_t member;
        uint8_t bytes[SYM_EXTENT_MAX];
    } data;
} converter_message_t;

/* Sends a message.  False: it cannot be sent; errno has the reason. */
bool converter_send(int fd, converter_type_t type, uint32_t number,
                    const void *data, size_t len);
/* input_fd: the descriptor to send, or -1. */
bool converter_send_given(int fd, int input_fd, const converter_given_t *given);
bool converter_send_job(int fd, int input_fd, const converter_job_t *job);

/*
 * Receives a message, and checks that its length fits its type.  SYM_AGAIN: no
 * message yet (only with MSG_DONTWAIT in flags); SYM_NOT_FOUND: the other side
 * has ended; SYM_MALFORMED: not a message of this protocol.
 */
sym_status_t converter_receive(int fd, int flags, converter_message_t *m);

/* For the converter: receives the answer to CONVERTER_WANT, a descriptor or
 * -1. */
int converter_receive_given(int fd, converter_given_t *given);

/* For the converter: waits for a job, and returns its descriptor, or -1. */
int converter_receive_job(int fd, converter_job_t *job);

#endif
