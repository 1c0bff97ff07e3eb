/*
 * windows.c - the reason of a Windows exception: its code, and for some codes
 * the meaning of their parameters (EXCEPTION_RECORD of winnt.h).
 */
#include "formats/minidump/minidump.h"
#include "formats/minidump/names.h"
#include "formats/minidump/ntstatus.h"

#define ACCESS_VIOLATION 0xc0000005u
#define IN_PAGE_ERROR 0xc0000006u
#define STACK_BUFFER_OVERRUN 0xc0000409u /* __fastfail() */

/* Codes of exceptions whose names are not NTSTATUS names. */
static const minidump_name_t exceptions[] = {
    { 0x80000001, "EXCEPTION_GUARD_PAGE" },
    { 0x80000002, "EXCEPTION_DATATYPE_MISALIGNMENT" },
    { 0x80000003, "EXCEPTION_BREAKPOINT" },
    { 0x80000004, "EXCEPTION_SINGLE_STEP" },
    { ACCESS_VIOLATION, "EXCEPTION_ACCESS_VIOLATION" },
    { IN_PAGE_ERROR, "EXCEPTION_IN_PAGE_ERROR" },
    { 0xc0000008, "EXCEPTION_INVALID_HANDLE" },
    { 0xc000001d, "EXCEPTION_ILLEGAL_INSTRUCTION" },
    { 0xc0000025, "EXCEPTION_NONCONTINUABLE_EXCEPTION" },
    { 0xc0000026, "EXCEPTION_INVALID_DISPOSITION" },
    { 0xc000008c, "EXCEPTION_BOUNDS_EXCEEDED" },
    { 0xc000008d, "EXCEPTION_FLT_DENORMAL_OPERAND" },
    { 0xc000008e, "EXCEPTION_FLT_DIVIDE_BY_ZERO" },
    { 0xc000008f, "EXCEPTION_FLT_INEXACT_RESULT" },
    { 0xc0000090, "EXCEPTION_FLT_INVALID_OPERATION" },
    { 0xc0000091, "EXCEPTION_FLT_OVERFLOW" },
    { 0xc0000092, "EXCEPTION_FLT_STACK_CHECK" },
    { 0xc0000093, "EXCEPTION_FLT_UNDERFLOW" },
    { 0xc0000094, "EXCEPTION_INT_DIVIDE_BY_ZERO" },
    { 0xc0000095, "EXCEPTION_INT_OVERFLOW" },
    { 0xc0000096, "EXCEPTION_PRIV_INSTRUCTION" },
    { 0xc00000fd, "EXCEPTION_STACK_OVERFLOW" },
    { 0xc0000194, "EXCEPTION_POSSIBLE_DEADLOCK" },
    { 0xe0000008, "Out of Memory" },           /* Chromium's */
    { 0xe06d7363, "Unhandled C++ Exception" }, /* code of Visual C++ */
    { 0xe0434352, "MANAGED_EXCEPTION_CODE_V4" },
    { 0x0517a7ed, "Simulated Exception" }, /* Crashpad's */
};

static const minidump_name_t accesses[] = {
    { 0, "READ" },
    { 1, "WRITE" },
    { 8, "EXEC" },
};

/* FAST_FAIL_* of winnt.h, from code 0 on */
static const char *const fast_fails[] = {
    "LEGACY_GS_VIOLATION",
    "VTGUARD_CHECK_FAILURE",
    "STACK_COOKIE_CHECK_FAILURE",
    "CORRUPT_LIST_ENTRY",
    "INCORRECT_STACK",
    "INVALID_ARG",
    "GS_COOKIE_INIT",
    "FATAL_APP_EXIT",
    "RANGE_CHECK_FAILURE",
    "UNSAFE_REGISTRY_ACCESS",
    "GUARD_ICALL_CHECK_FAILURE",
    "GUARD_WRITE_CHECK_FAILURE",
    "INVALID_FIBER_SWITCH",
    "INVALID_SET_OF_CONTEXT",
    "INVALID_REFERENCE_COUNT",
    NULL,
    NULL,
    NULL,
    "INVALID_JUMP_BUFFER",
    "MRDATA_MODIFIED",
    "CERTIFICATION_FAILURE",
    "INVALID_EXCEPTION_CHAIN",
    "CRYPTO_LIBRARY",
    "INVALID_CALL_IN_DLL_CALLOUT",
    "INVALID_IMAGE_BASE",
    "DLOAD_PROTECTION_FAILURE",
    "UNSAFE_EXTENSION_CALL",
    "DEPRECATED_SERVICE_INVOKED",
    "INVALID_BUFFER_ACCESS",
    "INVALID_BALANCED_TREE",
    "INVALID_NEXT_THREAD",
    "GUARD_ICALL_CHECK_SUPPRESSED",
    "APCS_DISABLED",
    "INVALID_IDLE_STATE",
    "MRDATA_PROTECTION_FAILURE",
    "UNEXPECTED_HEAP_EXCEPTION",
    "INVALID_LOCK_STATE",
    "GUARD_JUMPTABLE",
    "INVALID_LONGJUMP_TARGET",
    "INVALID_DISPATCH_CONTEXT",
    "INVALID_THREAD",
    "INVALID_SYSCALL_NUMBER",
    "INVALID_FILE_OPERATION",
    "LPAC_ACCESS_DENIED",
    "GUARD_SS_FAILURE",
    "LOADER_CONTINUITY_FAILURE",
    "GUARD_EXPORT_SUPPRESSION_FAILURE",
    "INVALID_CONTROL_STACK",
    "SET_CONTEXT_DENIED",
    "INVALID_IAT",
    "HEAP_METADATA_CORRUPTION",
    "PAYLOAD_RESTRICTION_VIOLATION",
    "LOW_LABEL_ACCESS_DENIED",
    "ENCLAVE_CALL_FAILURE",
    "UNHANDLED_LSS_EXCEPTON",
    "ADMINLESS_ACCESS_DENIED",
    "UNEXPECTED_CALL",
    "CONTROL_INVALID_RETURN_ADDRESS",
    "UNEXPECTED_HOST_BEHAVIOR",
    "FLAGS_CORRUPTION",
    "VEH_CORRUPTION",
    "ETW_CORRUPTION",
    "RIO_ABORT",
    "INVALID_PFN",
    "GUARD_ICALL_CHECK_FAILURE_XFG",
    "CAST_GUARD",
    "HOST_VISIBILITY_CHANGE",
    "KERNEL_CET_SHADOW_STACK_ASSIST",
    "PATCH_CALLBACK_FAILED",
    "NTDLL_PATCH_FAILED",
    "INVALID_FLS_DATA",
};

/* Delayed loading of a library or function failed: facility 109, Visual C++. */
static const minidump_name_t delayed_loads[] = {
    { 0xc06d007e, "FACILITY_VISUALCPP / ERROR_MOD_NOT_FOUND" },
    { 0xc06d007f, "FACILITY_VISUALCPP / ERROR_PROC_NOT_FOUND" },
};

#define CODE(number, text) { (number), (text) },

static const minidump_name_t statuses[] = { SYM_NTSTATUS_CODES(CODE) };


static sym_str_t
status_text(minidump_t *d, uint32_t code)
{
    const char *name = MINIDUMP_NAME(statuses, code);

    return name != NULL ? minidump_format(d, "STATUS_%s", name)
                        : minidump_format(d, "0x%08x", code);
}


static sym_str_t
fast_fail_text(minidump_t *d, uint32_t code)
{
    const char *name = code < sizeof(fast_fails) / sizeof(fast_fails[0])
                           ? fast_fails[code]
                           : NULL;

    return name != NULL ? minidump_format(
               d, "EXCEPTION_STACK_BUFFER_OVERRUN / FAST_FAIL_%s", name)
                        : minidump_format(
                            d, "EXCEPTION_STACK_BUFFER_OVERRUN / 0x%08x", code);
}


/* The reason if the exception's parameters add to its code; else "". */
static sym_str_t
parameters_text(minidump_t *d)
{
    const minidump_exception_t *e = &d->exception;
    const char *access =
        e->n_parameters >= 1 ? MINIDUMP_NAME(accesses, e->parameters[0]) : NULL;

    switch (e->code) {
    case ACCESS_VIOLATION:
        return access != NULL
                   ? minidump_format(d, "EXCEPTION_ACCESS_VIOLATION_%s", access)
                   : SYM_STR("");
    case IN_PAGE_ERROR:
        if (access != NULL && e->n_parameters >= 3) {
            sym_str_t status = status_text(d, (uint32_t) e->parameters[2]);

            return minidump_format(d, "EXCEPTION_IN_PAGE_ERROR_%s / %.*s",
                                   access, (int) status.len, status.data);
        }
        return SYM_STR("");
    case STACK_BUFFER_OVERRUN:
        return e->n_parameters >= 1
                   ? fast_fail_text(d, (uint32_t) e->parameters[0])
                   : SYM_STR("");
    default:
        return SYM_STR("");
    }
}


sym_str_t
minidump_windows_reason(minidump_t *d)
{
    uint32_t code = d->exception.code;
    sym_str_t text = parameters_text(d);
    const char *name;

    if (text.len != 0) {
        return text;
    }

    name = MINIDUMP_NAME(exceptions, code);
    name = name != NULL ? name : MINIDUMP_NAME(delayed_loads, code);
    if (name != NULL) {
        return sym_cstr(name);
    }

    /* smaller codes are Win32 error codes */
    return code >= 0x40000000 && MINIDUMP_NAME(statuses, code) != NULL
               ? status_text(d, code)
               : minidump_format(d, "unknown 0x%08x", code);
}
