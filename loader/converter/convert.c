#include "converter/convert.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/arch.h"
#include "base/hex.h"
#include "formats/formats.h"
#include "formats/sourcebundle/text.h"
#include "object/object_ref.h"
#include "converter/heap.h"
#include "converter/make.h"
#include "converter/members.h"
#include "converter/thread_pool.h"
#include "unpack/input.h"
#include "converter/requests.h"
#include "converter/sandbox.h"
#include "converter/swift.h"
#include "converter/whole.h"
#include "common/converter_protocol.h"

#ifdef SYM_TEST_FAULTS
#include "../../t/faults/faults.h"
#endif

/* State of the conversion of one file. */
typedef struct {
    const converter_job_t *order;
    input_t *input;             /* kept for the next job, like the pool */
    sym_callsites_t *callsites; /* NULL: no calls are looked for */
    thread_pool_t *pool;
    sym_format_services_t services;
    swift_t *swift;

    making_t *making; /* NULL: artifacts are sent unchanged */
    sym_conversion_format_t format;
    whole_t whole;    /* empty if the format is read as a stream */
    bool has_more;    /* the file has more objects after the current one */
    uint32_t n_ended; /* number of artifacts that have ended, also by failure */
    char reason[CONVERTER_WHAT_MAX];
} job_t;


static sym_status_t
put_extent(void *ctx, uint32_t number, const uint8_t *data, size_t len,
           sym_error_t *err)
{
    (void) ctx;

    if (!converter_send(CONVERTER_FD, CONVERTER_EXTENT, number, data, len)) {
        return sym_fail(err, SYM_IO, "the loader is gone");
    }

    return SYM_OK;
}


static bool
put_text(sym_str_t text, char to[CONVERTER_TEXT_MAX], uint32_t *len)
{
    if (text.len > CONVERTER_TEXT_MAX) {
        return false;
    }

    *len = (uint32_t) text.len;
    if (text.len > 0) {
        memcpy(to, text.data, text.len);
    }

    return true;
}


/* Sends the module's name, because the loader needs it before extents. */
static sym_status_t
send_module(const job_t *job, const sym_format_output_t *output,
            const sym_module_info_t *info, sym_error_t *err)
{
    converter_module_t m = {
        .is_nameless =
            output->is_nameless || sym_format_of(job->format)->is_nameless,
        .format = (uint32_t) job->format,
        .kind = (uint32_t) output->kind,
    };

    if (!put_text(info->debug_file, m.name, &m.name_len)
        || !put_text(info->debug_id, m.id, &m.id_len))
    {
        return sym_fail(err, SYM_LIMIT, "MODULE name or id is too long");
    }

    if (!put_text(info->code_id, m.code_id, &m.code_id_len)) {
        return sym_fail(err, SYM_LIMIT, "the code id is too long");
    }

    if (output->digest.len == sizeof(m.digest)) {
        m.has_digest = 1;
        memcpy(m.digest, output->digest.data, sizeof(m.digest));
    }

    if (!converter_send(CONVERTER_FD, CONVERTER_MODULE, 0, &m, sizeof(m))) {
        return sym_fail(err, SYM_IO, "the loader is gone");
    }

    return SYM_OK;
}


static sym_str_t
wanted_id(const job_t *job)
{
    return sym_str(job->order->id, job->order->id_len);
}


static sym_str_t
wanted_arch(const job_t *job)
{
    return sym_str(job->order->arch, job->order->arch_len);
}


/* The processor of a single module is known only when it is read. */
static sym_status_t
check_arch(job_t *job, sym_str_t arch, sym_error_t *err)
{
    sym_str_t wanted = wanted_arch(job);

    if (wanted.len == 0 || job->order->is_arch_wish || arch_is(wanted, arch)) {
        return SYM_OK;
    }

    (void) snprintf(job->reason, sizeof(job->reason), ARCH_MISSING,
                    (int) wanted.len, wanted.data, (int) arch.len, arch.data);
    return sym_fail(err, SYM_NOT_FOUND, job->reason);
}


/* Function put() of a sym_format_file_t. */
static sym_status_t
put_artifact(void *ctx, const sym_format_output_t *output, sym_error_t *err)
{
    job_t *job = ctx;
    sym_module_info_t info = *output->info;
    sym_writer_stats_t stats = { 0 };
    char id[SYM_ID_MAX];
    converter_done_t done;
    uint64_t n_mangled = 0;
    sym_status_t rc;

    if (job->n_ended < job->order->n_had) {
        job->n_ended++; /* the loader has the artifact from a previous
                           converter */
        return SYM_OK;
    }

    rc = check_arch(job, info.arch, err);
    if (rc == SYM_OK && output->names != NULL) {
        swift_show(job->swift, output->names, &n_mangled);
    }

    if (job->order->text != 0) {
        info.debug_id = wanted_id(job); /* a text's own id does not matter */
    }

    if (sym_format_of(job->format)->is_nameless && info.debug_file.len == 0) {
        info.debug_file = input_name(job->input);
    }

    if (rc == SYM_OK && job->making != NULL) {
        return making_put(job->making, output, &info, err);
    }

    rc = rc != SYM_OK ? rc : send_module(job, output, &info, err);

    if (rc == SYM_OK) {
        info.debug_id = sym_str(id, sym_debug_id_canonical(info.debug_id, id));
        rc = output->finish(output->writer, &info, put_extent, NULL, &stats,
                            err);
    }

    if (rc != SYM_OK) {
        return rc;
    }

    done = (converter_done_t){ .bytes = stats.bytes,
                               .source_bytes = info.source_bytes,
                               .extents = stats.extents,
                               .quality = stats.quality,
                               .features = sym_kind_find(output->kind)->features
                                           | (info.flags & SYM_FEATURES),
                               .has_more = job->has_more || output->has_more,
                               .is_incomplete = output->is_incomplete,
                               .lacks = output->lacks,
                               .n_mangled = n_mangled };
    job->n_ended++;

    /* while this process frees its memory, the loader works */
    return converter_send(CONVERTER_FD, CONVERTER_DONE, 0, &done, sizeof(done))
               ? SYM_OK
               : sym_fail(err, SYM_IO, "the loader is gone");
}


static bool
send_failure(job_t *job, const sym_error_t *err)
{
    converter_failed_t f = {
        .format = (uint32_t) job->format,
        .has_more = job->has_more,
        .status = (uint32_t) err->status,
        .sys_errno = err->sys_errno,
        .offset = err->offset,
        .line = err->line,
    };

    if (job->n_ended++ < job->order->n_had) {
        return true;
    }

    if (err->what != NULL) {
        strncpy(f.what, err->what, sizeof(f.what) - 1);
    }

    if (err->section != NULL) {
        strncpy(f.section, err->section, sizeof(f.section) - 1);
    }

    return converter_send(CONVERTER_FD, CONVERTER_FAILED, 0, &f, sizeof(f));
}


/* --- choosing objects of a file --- */

/* Maximum number of ids in a reason, so that it fits a message. */
#define IDS_SHOWN 5

static void
add_reason(job_t *job, const char *text, sym_str_t more)
{
    size_t len = strlen(job->reason);

    (void) snprintf(job->reason + len, sizeof(job->reason) - len, "%s%.*s",
                    text, (int) more.len, more.data);
}


/* Sends which other objects the file has, so that the file need not be fetched
 * for objects that it lacks. */
static sym_status_t
send_objects(const sym_format_object_t *objects, size_t n, sym_error_t *err)
{
    for (size_t i = 0; i < n; i++) {
        converter_object_t o = { .id_len = (uint32_t) objects[i].id_len };

        memcpy(o.id, objects[i].id, objects[i].id_len);
        if (o.id_len != 0
            && !converter_send(CONVERTER_FD, CONVERTER_OBJECT, 0, &o,
                               sizeof(o)))
        {
            return sym_fail(err, SYM_IO, "the loader is gone");
        }
    }

    return SYM_OK;
}


static sym_status_t
find_id(job_t *job, const sym_format_object_t *objects, size_t n, size_t *which,
        sym_error_t *err)
{
    sym_str_t id = wanted_id(job);
    size_t shown = 0;

    job->reason[0] = '\0';
    add_reason(job, "wrong module: its ids are", SYM_STR(""));

    for (size_t i = 0; i < n; i++) {
        sym_str_t found = { objects[i].id, objects[i].id_len };

        if (found.len != 0 && sym_str_eq(found, id)) {
            *which = i;
            return SYM_OK;
        }

        if (found.len != 0 && shown++ < IDS_SHOWN) {
            add_reason(job, shown == 1 ? " " : ", ", found);
        }
    }

    add_reason(job,
               shown == 0          ? " none"
               : shown > IDS_SHOWN ? ", ..."
                                   : "",
               SYM_STR(""));
    add_reason(job, "; requested was ", id);
    return sym_fail(err, SYM_MALFORMED, job->reason);
}


static sym_status_t
find_arch(job_t *job, const sym_format_object_t *objects, size_t n,
          size_t *which, sym_error_t *err)
{
    sym_str_t wanted = wanted_arch(job);
    char there[CONVERTER_WHAT_MAX];
    size_t len = 0;

    for (size_t i = 0; i < n; i++) {
        sym_str_t found = sym_cstr(objects[i].arch);

        if (arch_is(wanted, found)) {
            *which = i;
            return SYM_OK;
        }

        len +=
            (size_t) snprintf(there + len, sizeof(there) - len, "%s%.*s",
                              i == 0 ? "" : ", ", (int) found.len, found.data);
        len = len < sizeof(there) ? len : sizeof(there) - 1;
    }

    (void) snprintf(job->reason, sizeof(job->reason), ARCH_MISSING,
                    (int) wanted.len, wanted.data, (int) len, there);
    return job->order->is_arch_wish ? SYM_OK
                                    : sym_fail(err, SYM_NOT_FOUND, job->reason);
}


/* Searches from *which to *end (exclusive). */
static sym_status_t
choose_objects(job_t *job, const sym_format_file_t *f, size_t *which,
               size_t *end, sym_error_t *err)
{
    const sym_format_t *format = sym_format_of(job->format);
    sym_format_object_t objects[SYM_FORMAT_OBJECTS_MAX];
    sym_status_t rc;

    *which = 0;
    *end = 1;
    rc = format->objects != NULL ? format->objects(f, objects, end, err)
                                 : SYM_OK;

    /* for a single object, the loader's message is better */
    if (rc != SYM_OK || *end == 1
        || (job->order->id_len == 0 && job->order->arch_len == 0))
    {
        return rc;
    }

    if (send_objects(objects, *end, err) != SYM_OK) {
        return err->status;
    }

    rc = job->order->id_len != 0 ? find_id(job, objects, *end, which, err)
                                 : find_arch(job, objects, *end, which, err);
    *end = *which + 1;
    return rc;
}


/* --- one file --- */

static sym_status_t
next_piece(void *ctx, sym_str_t *data, sym_error_t *err)
{
    job_t *job = ctx;

    return input_next(job->input, &data->data, &data->len, err);
}


/* Finds the format of a text at a URL. */
static sym_conversion_format_t
format_of_text(const job_t *job)
{
    switch ((sym_text_role_t) (job->order->text - 1)) {
    case SYM_TEXT_SCRIPT:
        return SYM_CONVERSION_script;
    case SYM_TEXT_SOURCEMAP:
        return SYM_CONVERSION_sourcemap;
    default:
        return SYM_CONVERSION_sourcebundle;
    }
}


/* Uses Symbolicator's messages for text that is not UTF-8. */
static sym_status_t
check_text(job_t *job, sym_str_t text, sym_error_t *err)
{
    const uint8_t *p = (const uint8_t *) text.data;
    bool is_valid = true;
    size_t at = 0, len = 0;

    if (sym_utf8_valid(text)) {
        return SYM_OK;
    }

    while (is_valid) {
        at += len;
        len = sym_utf8_character(p + at, text.len - at, &is_valid);
    }

    if (at + len == text.len && p[at] >= 0xc2 && p[at] < 0xf5) {
        (void) snprintf(job->reason, sizeof(job->reason),
                        "incomplete utf-8 byte sequence from index %zu", at);
    } else {
        (void) snprintf(job->reason, sizeof(job->reason),
                        "invalid utf-8 sequence of %zu bytes from index %zu",
                        len, at);
    }

    return sym_fail(err, SYM_MALFORMED, job->reason);
}


static sym_status_t
convert_text(job_t *job, const sym_format_file_t *f, sym_error_t *err)
{
    switch ((sym_text_role_t) (job->order->text - 1)) {
    case SYM_TEXT_LIST:
        return sym_source_text_convert(f, err);
    case SYM_TEXT_BUNDLE:
        return sym_artifact_bundle_convert(f, err);
    case SYM_TEXT_SOURCE:
        return sym_source_text_convert(f, err);
    default:
        return check_text(job, f->data, err) != SYM_OK
                   ? err->status
                   : sym_format_of(job->format)->convert(f, 0, err);
    }
}


/* Converts one object; false: the loader has ended. */
static bool
convert_object(job_t *job, const sym_format_file_t *f, size_t which)
{
    sym_error_t err = { 0 };
    sym_status_t rc = job->order->text != 0
                          ? convert_text(job, f, &err)
                          : sym_format_of(job->format)->convert(f, which, &err);

    return rc == SYM_OK || send_failure(job, &err);
}


static bool
convert_objects(job_t *job, const sym_format_file_t *f)
{
    sym_error_t err = { 0 };
    size_t which, end;

    if (choose_objects(job, f, &which, &end, &err) != SYM_OK) {
        return send_failure(job, &err);
    }

    for (; which < end; which++) {
        job->has_more = which + 1 < end;

        if (!convert_object(job, f, which)) {
            return false;
        }
    }

    return true;
}


/* Function release() of a sym_format_services_t. */
static void
release(void *ctx, sym_str_t bytes)
{
    input_release(ctx, bytes);
}


/* Finds the file's format, and reads the part of the file that this
 * requires. */
static sym_status_t
open_file(job_t *job, sym_format_file_t *f, sym_error_t *err)
{
    sym_status_t rc = SYM_OK;
    sym_str_t first;

    if (next_piece(job, &first, err) != SYM_OK) {
        return err->status;
    }

#ifdef SYM_TEST_FAULTS
    faults_run(first.data, first.len);
#endif

    job->format =
        job->order->text != 0
            ? format_of_text(job)
            : sym_format_find((const uint8_t *) first.data, first.len);

    if (job->format != SYM_CONVERSION_UNKNOWN
        && sym_format_of(job->format)->is_report
        && (job->order->kinds >> SYM_KIND_CRASH & 1) == 0)
    {
        job->format = SYM_CONVERSION_UNKNOWN;
    }

    if (job->format == SYM_CONVERSION_UNKNOWN) {
        return sym_fail(err,
                        sym_format_refuse(first.data, first.len, job->reason,
                                          sizeof(job->reason)),
                        job->reason);
    }

    *f = (sym_format_file_t){ .data = first,
                              .asked_id = wanted_id(job),
                              .reference = sym_str(job->order->reference,
                                                   job->order->reference_len),
                              .services = &job->services,
                              .kinds = job->order->kinds,
                              .next = next_piece,
                              .put = put_artifact,
                              .ctx = job };

    if (!sym_format_of(job->format)->is_streamed) {
        rc = whole_get(&job->whole, job->input, first, err);
        f->data = job->whole.bytes;
    }

    return rc;
}


/* Sets the code in which calls are looked for. */
static sym_status_t
find_calls(job_t *job, const sym_format_file_t *f, sym_error_t *err)
{
    if (job->callsites == NULL || job->format != SYM_CONVERSION_elf) {
        return sym_fail(err, SYM_UNSUPPORTED,
                        "return pads are made of ELF files only");
    }

    return making_calls(job->making, job->callsites, f->data, err);
}


/* Makes a file from the symbols of the only object that is wanted. */
static sym_status_t
make_symbols(job_t *job, sym_error_t *err)
{
    sym_format_file_t f;
    size_t which, end;
    sym_status_t rc = open_file(job, &f, err);

    if (rc == SYM_OK && job->order->make == 1 + SYM_MAKE_PADS) {
        rc = find_calls(job, &f, err);
    }

    if (rc == SYM_OK) {
        rc = choose_objects(job, &f, &which, &end, err);
    }

    if (rc == SYM_OK) {
        rc = sym_format_of(job->format)->convert(&f, which, err);
    }

    return rc == SYM_OK ? making_end(job->making, err) : rc;
}


static sym_status_t
make_source(job_t *job, sym_error_t *err)
{
    sym_format_file_t f;
    sym_status_t rc = open_file(job, &f, err);

    return rc == SYM_OK ? making_source(job->making, &f, err) : rc;
}


/* Makes a file from input that must be completely in memory. */
static sym_status_t
make_of_whole(job_t *job, sym_make_t make, sym_error_t *err)
{
    sym_str_t first;
    sym_status_t rc = next_piece(job, &first, err);

    if (rc == SYM_OK) {
        rc = whole_get(&job->whole, job->input, first, err);
    }

    return rc != SYM_OK ? rc
           : make == SYM_MAKE_PROOF
               ? making_proof(job->making, job->whole.bytes, err)
               : making_section(job->making, job->whole.bytes, err);
}


static sym_status_t
make(job_t *job, sym_error_t *err)
{
    const sym_make_t make = (sym_make_t) (job->order->make - 1);

    job->making = making_begin(
        make, sym_str(job->order->make_name, job->order->make_name_len), err);
    if (job->making == NULL) {
        return err->status;
    }

    switch (make) {
    case SYM_MAKE_PLAIN:
        return making_copy(job->making, job->input, err);
    case SYM_MAKE_SECTION:
    case SYM_MAKE_PROOF:
        return make_of_whole(job, make, err);
    case SYM_MAKE_SOURCE:
        return make_source(job, err);
    default:
        return make_symbols(job, err);
    }
}


static bool
make_file(job_t *job)
{
    sym_error_t err = { 0 };
    bool is_alive;

    job->format = SYM_CONVERSION_UNKNOWN;
    job->has_more = false;
    job->n_ended = 0;
    is_alive = make(job, &err) == SYM_OK || send_failure(job, &err);
    making_free(job->making);
    job->making = NULL;
    whole_free(&job->whole);
    return is_alive;
}


static bool
convert_file(job_t *job)
{
    sym_error_t err = { 0 };
    sym_format_file_t f;
    bool is_alive;

    job->format = SYM_CONVERSION_UNKNOWN;
    job->has_more = false;
    job->n_ended = 0;
    is_alive = open_file(job, &f, &err) == SYM_OK ? convert_objects(job, &f)
                                                  : send_failure(job, &err);
    whole_free(&job->whole);
    return is_alive;
}


/* Sends the files of an upload.  False: the loader has ended. */
static bool
take_apart(job_t *job, int fd)
{
    sym_error_t err = { 0 };

    job->format = SYM_CONVERSION_UNKNOWN;
    job->has_more = false;
    job->n_ended = 0;
    return members_send(job->input, fd, job->order, job->services.unpacked_max,
                        &err)
                   == SYM_OK
               ? converter_send(CONVERTER_FD, CONVERTER_LISTED, 0, NULL, 0)
               : send_failure(job, &err);
}


/* Runs a job.  False: the loader has ended. */
static bool
convert(job_t *job, int fd, const converter_job_t *order)
{
    bool is_alive;

    job->order = order;
    swift_begin(job->swift, order->is_without_swift);
    input_start(job->input, fd, order->length);
    thread_pool_limit(job->pool, order->threads < UINT_MAX
                                     ? (unsigned) order->threads
                                     : UINT_MAX);
    job->services.pool = thread_pool_lent(job->pool);
    job->services.takes_empty = order->takes_empty != 0;
    job->services.takes_parts = order->takes_parts != 0;
    is_alive = order->upload != 0 ? take_apart(job, fd)
               : order->make != 0 ? make_file(job)
                                  : convert_file(job);
    input_end(job->input);
    return is_alive;
}


static void
prepare_formats(void)
{
    for (unsigned i = 0; i < SYM_CONVERSION_FORMATS; i++) {
        const sym_format_t *format = sym_format_of((sym_conversion_format_t) i);

        if (format != NULL && format->prepare != NULL) {
            format->prepare();
        }
    }
}


void
convert_refuse(int fd, const char *why)
{
    converter_failed_t f = { .status = SYM_IO };

    snprintf(f.what, sizeof(f.what), "%s", why);
    converter_send(fd, CONVERTER_FAILED, 0, &f, sizeof(f));
}


int
convert_main(char *const arguments[CONVERT_ARGUMENTS])
{
    /* a forked converter also inherits the loader's descriptors */
    const bool is_alone = close_range(CONVERTER_FD + 1, ~0U, 0) == 0;
    uint64_t memory, expanded, threads;
    converter_job_t order;
    job_t job = { 0 };
    int fd;

    /* if the loader is killed, no process enforces the limits, so the converter
     * must end */
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    prctl(PR_SET_NAME, "symconverter", 0, 0, 0); /* name for ps and top */
    if (sym_dec_read(sym_cstr(arguments[0]), &memory)
        && sym_dec_read(sym_cstr(arguments[1]), &expanded)
        && sym_dec_read(sym_cstr(arguments[2]), &threads) && threads > 0
        && threads <= CONVERT_THREADS_MAX)
    {
        /* mapped, not cleared, because most of it is never used */
        job.input = input_create(expanded, arguments[3][0] == '1');
        heap_reserve(memory);
        job.pool = thread_pool_create((unsigned) threads);
        job.swift = swift_load(arguments[4]);
        job.callsites = arguments[5][0] == '1' ? sym_callsites_create() : NULL;
        job.services = (sym_format_services_t){ .unpacked_max = expanded,
                                                .companion = request_companion,
                                                .note = request_note,
                                                .release = release,
                                                .ctx = job.input };
    }

    prepare_formats();

    if (!is_alone || job.input == NULL || job.pool == NULL || job.swift == NULL
        || !sandbox_enter(CONVERTER_FD, memory))
    {
        convert_refuse(CONVERTER_FD, "the converter cannot enter its sandbox");
        return 1;
    }

    for (;;) {
        fd = converter_receive_job(CONVERTER_FD, &order);

        if (fd < 0 || !convert(&job, fd, &order)) {
            /* Ends without exit handlers: there is nothing to flush, and they
             * might need calls that the sandbox forbids. */
            _exit(0);
        }

        close(fd);
    }
}
