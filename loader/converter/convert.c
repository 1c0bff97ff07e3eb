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
#include "formats/breakpad/breakpad.h"
#include "converter/thread_pool.h"
#include "converter/foreign.h"
#include "unpack/input.h"
#include "metrics/loader.h"
#include "converter/native.h"
#include "converter/sandbox.h"
#include "artifacts/symcache/write/writer.h"
#include "common/converter_protocol.h"

#ifdef SYM_TEST_FAULTS
#include "../../t/faults/faults.h"
#endif

/* Everything of one file. */
typedef struct {
    const converter_job_t *order;
    input_t *input;      /* kept from job to job */
    thread_pool_t *pool; /* likewise */
    native_means_t means;
    sym_conversion_format_t format;

    const char *data; /* the first piece, until its reader has begun */
    size_t len;
    native_t *native;
    size_t which; /* of its modules */

    /* of the module under way */
    sym_writer_t *writer;
    sym_breakpad_t *reader;
    native_module_t module;
    char reason[CONVERTER_WHAT_MAX];
} job_t;

/* Hands a module to job->writer. */
typedef sym_status_t (*read_pt)(job_t *job, sym_module_info_t *info,
                                sym_error_t *err);


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


/* --- Breakpad's text --- */

static sym_status_t
feed(job_t *job, sym_error_t *err)
{
    const char *data = job->data;
    size_t len = job->len;
    sym_status_t rc = SYM_OK;

    while (rc == SYM_OK && len > 0) {
        rc = sym_breakpad_feed(job->reader, data, len);

        if (rc == SYM_OK) {
            rc = input_next(job->input, &data, &len, err);
        }
    }

    return rc == SYM_OK ? sym_breakpad_end(job->reader) : rc;
}


static sym_status_t
read_breakpad(job_t *job, sym_module_info_t *info, sym_error_t *err)
{
    const sym_breakpad_module_t *module;
    sym_status_t rc;

    job->reader = sym_breakpad_create(job->writer, err);
    if (job->reader == NULL) {
        return SYM_NOMEM;
    }

    rc = feed(job, err);
    if (rc != SYM_OK) {
        return rc;
    }

    module = sym_breakpad_module(job->reader);
    *info = (sym_module_info_t){
        .debug_id = module->debug_id,
        .debug_file = module->debug_file,
        .code_id = module->code_id,
        .code_file = module->code_file,
        .arch = module->arch,
        .os = module->os,
        .source_bytes = sym_breakpad_stats(job->reader)->bytes,
    };
    return SYM_OK;
}


/* --- debug files --- */

static sym_status_t
read_native(job_t *job, sym_module_info_t *info, sym_error_t *err)
{
    const native_module_t *module = &job->module;
    sym_status_t rc =
        native_read(job->native, job->which, job->writer, &job->module, err);

    *info = (sym_module_info_t){
        .debug_id = { module->debug_id, module->debug_id_len },
        .debug_file = input_name(job->input),
        .code_id = { module->code_id, module->code_id_len },
        .arch = sym_cstr(module->arch != NULL ? module->arch : ""),
        .os = sym_cstr(module->os != NULL ? module->os : ""),
        .source_bytes = native_bytes(job->native),
        .flags = SYM_FLAG_LINKER_NAMES,
        .image_base = module->image_base,
    };
    return rc;
}


/* --- what they have in common --- */

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


/* The loader needs the module's name before it can take extents. */
static sym_status_t
send_module(const job_t *job, const sym_module_info_t *info, sym_error_t *err)
{
    converter_module_t m = { .is_nameless = job->native != NULL,
                             .format = (uint32_t) job->format };

    if (!put_text(info->debug_file, m.name, &m.name_len)
        || !put_text(info->debug_id, m.id, &m.id_len))
    {
        return sym_fail(err, SYM_LIMIT, "MODULE name or id is too long");
    }

    if (m.is_nameless && !put_text(info->code_id, m.code_id, &m.code_id_len)) {
        return sym_fail(err, SYM_LIMIT, "the code id is too long");
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


/* Of a single module its processor is known when it is read. */
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


/* Reads one module and hands its symcache over. */
static sym_status_t
read_and_send(job_t *job, read_pt read, converter_done_t *done,
              sym_error_t *err)
{
    char id[SYM_ID_MAX];
    sym_module_info_t info = { 0 };
    sym_writer_stats_t stats = { 0 };
    sym_status_t rc = read(job, &info, err);

    rc = rc != SYM_OK ? rc : check_arch(job, info.arch, err);
    rc = rc != SYM_OK ? rc : send_module(job, &info, err);

    if (rc == SYM_OK) {
        info.debug_id = sym_str(id, sym_debug_id_canonical(info.debug_id, id));
        rc = sym_writer_finish(job->writer, &info, put_extent, NULL, &stats);
    }

    *done = (converter_done_t){ .bytes = stats.bytes,
                                .source_bytes = info.source_bytes,
                                .extents = stats.extents,
                                .quality = stats.quality,
                                .is_incomplete = job->module.is_incomplete };
    return rc;
}


static bool
send_failure(const job_t *job, const sym_error_t *err, bool has_more)
{
    converter_failed_t f = {
        .format = (uint32_t) job->format,
        .has_more = has_more,
        .status = (uint32_t) err->status,
        .sys_errno = err->sys_errno,
        .offset = err->offset,
        .line = err->line,
    };

    if (err->what != NULL) {
        strncpy(f.what, err->what, sizeof(f.what) - 1);
    }

    if (err->section != NULL) {
        strncpy(f.section, err->section, sizeof(f.section) - 1);
    }

    return converter_send(CONVERTER_FD, CONVERTER_FAILED, 0, &f, sizeof(f));
}


/* One module; false: the loader is gone. */
static bool
convert_module(job_t *job, read_pt read, bool has_more)
{
    sym_error_t err = { 0 };
    converter_done_t done;
    sym_status_t rc = SYM_NOMEM;
    bool is_told;

    job->reader = NULL;
    job->writer = sym_writer_create(&err);

    if (job->writer != NULL) {
        sym_writer_lend(job->writer, job->means.pool);
        rc = read_and_send(job, read, &done, &err);
    }

    /* the loader has something to do while all of it is given back */
    done.has_more = has_more;
    is_told = rc != SYM_OK ? send_failure(job, &err, has_more)
                           : converter_send(CONVERTER_FD, CONVERTER_DONE, 0,
                                            &done, sizeof(done));

    sym_breakpad_free(job->reader);
    sym_writer_free(job->writer);

    return is_told;
}


/* Which of several modules is wanted. */
static sym_status_t
find_wanted(job_t *job, sym_error_t *err)
{
    sym_status_t rc;

    if (job->order->id_len != 0) {
        return native_find(job->native, wanted_id(job), &job->which, err);
    }

    rc = native_find_arch(job->native, wanted_arch(job), &job->which, err);
    return job->order->is_arch_wish ? SYM_OK : rc;
}


/* All modules of the file that are wanted. */
static bool
convert_modules(job_t *job)
{
    size_t end = native_modules(job->native);
    sym_error_t err = { 0 };

    job->which = 0;

    /* of a single one the loader tells best that it is another one */
    if (end > 1 && (job->order->id_len != 0 || job->order->arch_len != 0)) {
        if (find_wanted(job, &err) != SYM_OK) {
            return send_failure(job, &err, false);
        }

        end = job->which + 1;
    }

    while (convert_module(job, read_native, job->which + 1 < end)) {
        if (++job->which == end) {
            return true;
        }
    }

    return false;
}


static bool
convert_native(job_t *job)
{
    sym_error_t err = { 0 };
    bool is_alive;

    job->native =
        native_open(job->input, job->data, job->len, &job->means, &err);

    if (job->native == NULL) {
        return send_failure(job, &err, false);
    }

    is_alive = convert_modules(job);
    native_close(job->native);
    job->native = NULL;
    return is_alive;
}


static sym_conversion_format_t
format_of(native_kind_t kind)
{
    static const sym_conversion_format_t formats[] = {
        [NATIVE_NONE] = SYM_CONVERSION_BREAKPAD,
        [NATIVE_ELF] = SYM_CONVERSION_ELF,
        [NATIVE_MACHO] = SYM_CONVERSION_MACHO,
    };

    return formats[kind];
}


static bool
convert_file(job_t *job)
{
    sym_error_t err = { 0 };
    native_kind_t kind;

    job->format = SYM_CONVERSION_UNKNOWN;

    if (input_next(job->input, &job->data, &job->len, &err) != SYM_OK) {
        return send_failure(job, &err, false);
    }

    kind = native_kind(job->data, job->len);

#ifdef SYM_TEST_FAULTS
    faults_run(job->data, job->len);
#endif

    if (kind == NATIVE_NONE
        && foreign_check(job->data, job->len, &err) != SYM_OK) {
        return send_failure(job, &err, false);
    }

    job->format = format_of(kind);

    return kind == NATIVE_NONE ? convert_module(job, read_breakpad, false)
                               : convert_native(job);
}


/* False: the loader is gone. */
static bool
convert(job_t *job, int fd, const converter_job_t *order)
{
    bool is_alive;

    job->order = order;
    input_start(job->input, fd, order->length);
    thread_pool_limit(job->pool, order->threads < UINT_MAX
                                     ? (unsigned) order->threads
                                     : UINT_MAX);
    job->means.pool = thread_pool_lent(job->pool);
    is_alive = convert_file(job);
    input_end(job->input);
    return is_alive;
}


int
convert_main(char *const arguments[CONVERT_ARGUMENTS])
{
    uint64_t memory, expanded, threads;
    converter_job_t order;
    job_t job = { 0 };
    int fd;

    /* Should the loader be killed, nobody is left to enforce a limit. */
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    prctl(PR_SET_NAME, "symconverter", 0, 0, 0); /* for ps and top */
    close_range(CONVERTER_FD + 1, ~0U, 0);

    if (sym_dec_read(sym_cstr(arguments[0]), &memory)
        && sym_dec_read(sym_cstr(arguments[1]), &expanded)
        && sym_dec_read(sym_cstr(arguments[2]), &threads) && threads > 0
        && threads <= CONVERT_THREADS_MAX)
    {
        job.input = input_create(expanded);
        job.pool = thread_pool_create((unsigned) threads);
        job.means = (native_means_t){ .unpacked_max = expanded };
    }

    if (job.input == NULL || job.pool == NULL
        || !sandbox_enter(CONVERTER_FD, memory))
    {
        converter_failed_t f = { .status = SYM_IO,
                                 .what =
                                     "the converter cannot enter its sandbox" };

        converter_send(CONVERTER_FD, CONVERTER_FAILED, 0, &f, sizeof(f));
        return 1;
    }

    for (;;) {
        fd = converter_receive_job(CONVERTER_FD, &order);

        if (fd < 0 || !convert(&job, fd, &order)) {
            /* Nothing to flush, and exit handlers might ask for more than the
             * sandbox allows. */
            _exit(0);
        }

        close(fd);
    }
}
