#include "convert.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/hex.h"
#include "breakpad/breakpad.h"
#include "input.h"
#include "native.h"
#include "sandbox.h"
#include "symcache/writer.h"
#include "wire.h"

#ifdef SYM_TEST_FAULTS
#include "../t/faults/faults.h"
#endif

/* Everything of one conversion. */
typedef struct {
    input_t *input; /* kept from job to job */
    uint64_t max_expanded;
    sym_writer_t *writer;
    sym_breakpad_t *reader;
    native_module_t native;
} job_t;


static sym_status_t
put_extent(void *ctx, uint32_t number, const uint8_t *data, size_t len,
           sym_error_t *err)
{
    (void) ctx;

    if (!wire_send(WIRE_FD, WIRE_EXTENT, number, data, len)) {
        return sym_fail(err, SYM_IO, "the loader is gone");
    }

    return SYM_OK;
}


/* --- Breakpad's text --- */

static sym_status_t
feed(job_t *job, const char *data, size_t len, sym_error_t *err)
{
    sym_status_t rc = SYM_OK;

    while (rc == SYM_OK && len > 0) {
#ifdef SYM_TEST_FAULTS
        faults_run(data, len);
#endif
        rc = sym_breakpad_feed(job->reader, data, len);

        if (rc == SYM_OK) {
            rc = input_next(job->input, &data, &len, err);
        }
    }

    return rc == SYM_OK ? sym_breakpad_end(job->reader) : rc;
}


static sym_status_t
read_breakpad(job_t *job, const char *data, size_t len, sym_module_info_t *info,
              sym_error_t *err)
{
    const sym_breakpad_module_t *module;
    sym_status_t rc;

    job->reader = sym_breakpad_create(job->writer, err);
    if (job->reader == NULL) {
        return SYM_NOMEM;
    }

    rc = feed(job, data, len, err);
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
read_native(job_t *job, const char *data, size_t len, sym_module_info_t *info,
            sym_error_t *err)
{
    const native_module_t *module = &job->native;
    sym_status_t rc = native_read(job->input, data, len, job->max_expanded,
                                  job->writer, &job->native, err);

    *info = (sym_module_info_t){
        .debug_id = { module->debug_id, sizeof(module->debug_id) },
        .code_id = { module->code_id, module->code_id_len },
        .arch = sym_cstr(module->arch != NULL ? module->arch : ""),
        .os = SYM_STR("Linux"),
        .source_bytes = module->bytes,
        .flags = SYM_FLAG_LINKER_NAMES,
    };
    return rc;
}


/* --- what they have in common --- */

/* The loader needs the module's name before it can take extents. */
static sym_status_t
send_module(const sym_module_info_t *info, bool is_nameless, sym_error_t *err)
{
    wire_module_t m = { .is_nameless = is_nameless };

    if (info->debug_file.len > sizeof(m.name)
        || info->debug_id.len > sizeof(m.id)) {
        return sym_fail(err, SYM_LIMIT, "MODULE name or id is too long");
    }

    m.name_len = (uint32_t) info->debug_file.len;
    m.id_len = (uint32_t) info->debug_id.len;

    if (m.name_len > 0) {
        memcpy(m.name, info->debug_file.data, m.name_len);
    }

    if (m.id_len > 0) {
        memcpy(m.id, info->debug_id.data, m.id_len);
    }

    if (!wire_send(WIRE_FD, WIRE_MODULE, 0, &m, sizeof(m))) {
        return sym_fail(err, SYM_IO, "the loader is gone");
    }

    return SYM_OK;
}


/* Reads the file, whatever it is, and hands the symcache over. */
static sym_status_t
read_and_send(job_t *job, wire_done_t *done, sym_error_t *err)
{
    char id[SYM_ID_MAX];
    sym_module_info_t info = { 0 };
    sym_writer_stats_t stats = { 0 };
    const char *data;
    size_t len;
    bool is_native = false;
    sym_status_t rc = input_next(job->input, &data, &len, err);

    if (rc == SYM_OK) {
        is_native = native_is(data, len);
        rc = is_native ? read_native(job, data, len, &info, err)
                       : read_breakpad(job, data, len, &info, err);
    }

    rc = rc != SYM_OK ? rc : send_module(&info, is_native, err);

    if (rc == SYM_OK) {
        info.debug_id = sym_str(id, sym_debug_id_canonical(info.debug_id, id));
        rc = sym_writer_finish(job->writer, &info, put_extent, NULL, &stats);
    }

    *done = (wire_done_t){ stats.bytes, info.source_bytes, stats.extents,
                           stats.quality };
    return rc;
}


static bool
send_failure(const sym_error_t *err)
{
    wire_failed_t f = {
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

    return wire_send(WIRE_FD, WIRE_FAILED, 0, &f, sizeof(f));
}


/* False: the loader is gone. */
static bool
convert(job_t *job, int fd, uint64_t length)
{
    sym_error_t err = { 0 };
    wire_done_t done;
    sym_status_t rc = SYM_NOMEM;

    input_start(job->input, fd, length);
    job->reader = NULL;
    job->writer = sym_writer_create(&err);

    if (job->writer != NULL) {
        rc = read_and_send(job, &done, &err);
    }

    sym_breakpad_free(job->reader);
    sym_writer_free(job->writer);

    if (rc != SYM_OK) {
        return send_failure(&err);
    }

    return wire_send(WIRE_FD, WIRE_DONE, 0, &done, sizeof(done));
}


int
convert_main(const char *memory_bytes, const char *max_expanded)
{
    uint64_t memory, expanded, length;
    job_t job = { 0 };
    int fd;

    /* Should the loader be killed, nobody is left to enforce a limit. */
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    prctl(PR_SET_NAME, "symconverter", 0, 0, 0); /* for ps and top */
    close_range(WIRE_FD + 1, ~0U, 0);

    if (sym_dec_read(sym_cstr(max_expanded), &expanded)) {
        job.input = input_create(expanded);
        job.max_expanded = expanded;
    }

    if (job.input == NULL || !sym_dec_read(sym_cstr(memory_bytes), &memory)
        || !sandbox_enter(WIRE_FD, memory))
    {
        wire_failed_t f = { .status = SYM_IO,
                            .what = "the converter cannot enter its sandbox" };

        wire_send(WIRE_FD, WIRE_FAILED, 0, &f, sizeof(f));
        return 1;
    }

    for (;;) {
        fd = wire_receive_job(WIRE_FD, &length);

        if (fd < 0 || !convert(&job, fd, length)) {
            /* Nothing to flush, and exit handlers might ask for more than the
             * sandbox allows. */
            _exit(0);
        }

        close(fd);
    }
}
