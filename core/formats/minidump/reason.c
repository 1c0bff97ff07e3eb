/*
 * reason.c - why the process ended, in the words of Symbolicator.
 */
#include "formats/minidump/minidump.h"
#include "formats/minidump/names.h"

#define ASSERTION_UNITS 128

/* --- Linux: signal(7), and codes of asm-generic/siginfo.h --- */

static const char *const signals[] = {
    NULL,      "SIGHUP",  "SIGINT",    "SIGQUIT", "SIGILL",    "SIGTRAP",
    "SIGABRT", "SIGBUS",  "SIGFPE",    "SIGKILL", "SIGUSR1",   "SIGSEGV",
    "SIGUSR2", "SIGPIPE", "SIGALRM",   "SIGTERM", "SIGSTKFLT", "SIGCHLD",
    "SIGCONT", "SIGSTOP", "SIGTSTP",   "SIGTTIN", "SIGTTOU",   "SIGURG",
    "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH",  "SIGIO",
    "SIGPWR",  "SIGSYS",
};

#define SIGNALS (sizeof(signals) / sizeof(signals[0]))
#define DUMP_REQUESTED 0xffffffffu

/* Codes that occur with one signal only: signal << 8 | code. */
#define CODE(signal, code) ((signal) << 8 | (code))

static const minidump_name_t signal_codes[] = {
    { CODE(4, 1), "ILL_ILLOPC" },    { CODE(4, 2), "ILL_ILLOPN" },
    { CODE(4, 3), "ILL_ILLADR" },    { CODE(4, 4), "ILL_ILLTRP" },
    { CODE(4, 5), "ILL_PRVOPC" },    { CODE(4, 6), "ILL_PRVREG" },
    { CODE(4, 7), "ILL_COPROC" },    { CODE(4, 8), "ILL_BADSTK" },
    { CODE(4, 9), "ILL_BADIADDR" },  { CODE(5, 1), "TRAP_BRKPT" },
    { CODE(5, 2), "TRAP_TRACE" },    { CODE(5, 3), "TRAP_BRANCH" },
    { CODE(5, 4), "TRAP_HWBKPT" },   { CODE(5, 5), "TRAP_UNK" },
    { CODE(5, 6), "TRAP_PERF" },     { CODE(7, 1), "BUS_ADRALN" },
    { CODE(7, 2), "BUS_ADRERR" },    { CODE(7, 3), "BUS_OBJERR" },
    { CODE(7, 4), "BUS_MCEERR_AR" }, { CODE(7, 5), "BUS_MCEERR_AO" },
    { CODE(8, 1), "FPE_INTDIV" },    { CODE(8, 2), "FPE_INTOVF" },
    { CODE(8, 3), "FPE_FLTDIV" },    { CODE(8, 4), "FPE_FLTOVF" },
    { CODE(8, 5), "FPE_FLTUND" },    { CODE(8, 6), "FPE_FLTRES" },
    { CODE(8, 7), "FPE_FLTINV" },    { CODE(8, 8), "FPE_FLTSUB" },
    { CODE(11, 1), "SEGV_MAPERR" },  { CODE(11, 2), "SEGV_ACCERR" },
    { CODE(11, 3), "SEGV_BNDERR" },  { CODE(11, 4), "SEGV_PKUERR" },
    { CODE(31, 1), "SYS_SECCOMP" },  { CODE(31, 2), "SYS_USER_DISPATCH" },
};

/* Codes that identify the sender of any signal. */
static const minidump_name_t senders[] = {
    { 0x80, "SI_KERNEL" },
    { (uint32_t) -1, "SI_QUEUE" },
    { (uint32_t) -2, "SI_TIMER" },
    { (uint32_t) -3, "SI_MESGQ" },
    { (uint32_t) -4, "SI_ASYNCIO" },
    { (uint32_t) -5, "SI_SIGIO" },
    { (uint32_t) -6, "SI_TKILL" },
    { (uint32_t) -7, "SI_DETHREAD" },
    { (uint32_t) -60, "SI_ASYNCNL" },
};


static sym_str_t
unknown_reason(minidump_t *d)
{
    return minidump_format(d, "unknown 0x%08x / 0x%08x", d->exception.code,
                           d->exception.flags);
}


static sym_str_t
linux_reason(minidump_t *d)
{
    uint32_t signal = d->exception.code, code = d->exception.flags;
    const char *name = signal < SIGNALS           ? signals[signal]
                       : signal == DUMP_REQUESTED ? "DUMP_REQUESTED"
                                                  : NULL;
    const char *detail;

    if (name == NULL) {
        return unknown_reason(d);
    }

    detail = signal < SIGNALS && code < 256
                 ? MINIDUMP_NAME(signal_codes, CODE(signal, code))
                 : NULL;
    detail = detail != NULL ? detail : MINIDUMP_NAME(senders, code);

    return detail != NULL ? minidump_format(d, "%s / %s", name, detail)
           : code == 0    ? sym_cstr(name) /* SI_USER */
                          : minidump_format(d, "%s / 0x%08x", name, code);
}


/* --- macOS: mach/exception_types.h; codes by exception and processor --- */

#define EXC_BAD_ACCESS 1
#define EXC_RESOURCE 11
#define EXC_GUARD 12
#define EXC_SIMULATED 0x43507378u /* Crashpad's */

static const minidump_name_t mac_exceptions[] = {
    { EXC_BAD_ACCESS, "EXC_BAD_ACCESS" },
    { 2, "EXC_BAD_INSTRUCTION" },
    { 3, "EXC_ARITHMETIC" },
    { 4, "EXC_EMULATION" },
    { 5, "EXC_SOFTWARE" },
    { 6, "EXC_BREAKPOINT" },
    { 7, "EXC_SYSCALL" },
    { 8, "EXC_MACH_SYSCALL" },
    { 9, "EXC_RPC_ALERT" },
    { EXC_RESOURCE, "EXC_RESOURCE" },
    { EXC_GUARD, "EXC_GUARD" },
};

/* exception << 32 | code */
#define MAC(exception, code) ((uint64_t) (exception) << 32 | (code))

/* on any processor: mach/kern_return.h, sys/ux_exception.h */
static const minidump_name_t mac_codes[] = {
    { MAC(1, 1), "KERN_INVALID_ADDRESS" },
    { MAC(1, 2), "KERN_PROTECTION_FAILURE" },
    { MAC(1, 5), "KERN_FAILURE" },
    { MAC(1, 8), "KERN_NO_ACCESS" },
    { MAC(1, 9), "KERN_MEMORY_FAILURE" },
    { MAC(1, 10), "KERN_MEMORY_ERROR" },
    { MAC(1, 50), "KERN_CODESIGN_ERROR" },
    { MAC(5, 0x10002), "SIGABRT" },
    { MAC(5, 0xdeadc0de), "UNCAUGHT_NS_EXCEPTION" },
    { MAC(5, 1), "EXC_PPC_TRAP" },
    { MAC(5, 0x10100), "EXC_PPC_MIGRATE" },
};

/* mach/arm/exception.h */
static const minidump_name_t mac_arm_codes[] = {
    { MAC(1, 0x101), "EXC_ARM_DA_ALIGN" },
    { MAC(1, 0x102), "EXC_ARM_DA_DEBUG" },
    { MAC(1, 0x103), "EXC_ARM_SP_ALIGN" },
    { MAC(1, 0x104), "EXC_ARM_SWP" },
    { MAC(1, 0x105), "EXC_ARM_PAC_FAIL" },
    { MAC(2, 1), "EXC_ARM_UNDEFINED" },
    { MAC(3, 1), "EXC_ARM_FP_IO" },
    { MAC(3, 2), "EXC_ARM_FP_DZ" },
    { MAC(3, 3), "EXC_ARM_FP_OF" },
    { MAC(3, 4), "EXC_ARM_FP_UF" },
    { MAC(3, 5), "EXC_ARM_FP_IX" },
    { MAC(3, 6), "EXC_ARM_FP_ID" },
    { MAC(6, 1), "EXC_ARM_BREAKPOINT" },
};

/* mach/i386/exception.h */
static const minidump_name_t mac_x86_codes[] = {
    { MAC(1, 13), "EXC_I386_GPFLT" },     { MAC(2, 1), "EXC_I386_INVOP" },
    { MAC(2, 10), "EXC_I386_INVTSSFLT" }, { MAC(2, 11), "EXC_I386_SEGNPFLT" },
    { MAC(2, 12), "EXC_I386_STKFLT" },    { MAC(2, 13), "EXC_I386_GPFLT" },
    { MAC(2, 17), "EXC_I386_ALIGNFLT" },  { MAC(3, 1), "EXC_I386_DIV" },
    { MAC(3, 2), "EXC_I386_INTO" },       { MAC(3, 3), "EXC_I386_NOEXT" },
    { MAC(3, 4), "EXC_I386_EXTOVR" },     { MAC(3, 5), "EXC_I386_EXTERR" },
    { MAC(3, 6), "EXC_I386_EMERR" },      { MAC(3, 7), "EXC_I386_BOUND" },
    { MAC(3, 8), "EXC_I386_SSEEXTERR" },  { MAC(6, 1), "EXC_I386_SGL" },
    { MAC(6, 2), "EXC_I386_BPT" },
};


static const char *
mac_detail(const minidump_t *d)
{
    uint64_t code = MAC(d->exception.code, d->exception.flags);
    const char *name = MINIDUMP_NAME(mac_codes, code);

    if (name == NULL && d->crash.arch == SYM_UNWIND_ARM64) {
        name = MINIDUMP_NAME(mac_arm_codes, code);
    }

    if (name == NULL
        && (d->crash.arch == SYM_UNWIND_X86
            || d->crash.arch == SYM_UNWIND_X86_64))
    {
        name = MINIDUMP_NAME(mac_x86_codes, code);
    }

    return name;
}


static sym_str_t
mac_reason(minidump_t *d)
{
    const minidump_exception_t *e = &d->exception;
    const char *name = MINIDUMP_NAME(mac_exceptions, e->code);
    const char *detail = mac_detail(d);

    if (e->code == EXC_SIMULATED) {
        return SYM_STR("Simulated Exception");
    }

    if (name == NULL) {
        return unknown_reason(d);
    }

    if (e->code == EXC_RESOURCE || e->code == EXC_GUARD) {
        sym_str_t reason = e->code == EXC_RESOURCE ? minidump_resource_reason(d)
                                                   : minidump_guard_reason(d);

        if (reason.data != NULL) {
            return reason;
        }
    }

    return detail != NULL ? minidump_format(d, "%s / %s", name, detail)
                          : minidump_format(d, "%s / 0x%08x", name, e->flags);
}


/* --- the exception --- */

void
minidump_read_exception(minidump_t *d)
{
    sym_error_t unused;
    sym_cursor_t c =
        minidump_cursor(d, d->streams[MINIDUMP_EXCEPTION], &unused);
    minidump_exception_t *e = &d->exception;

    d->exception_thread = sym_u32(&c);
    (void) sym_u32(&c); /* alignment */
    e->code = sym_u32(&c);
    e->flags = sym_u32(&c);
    (void) sym_u64(&c); /* address of a nested exception record */
    e->address = sym_u64(&c);
    e->n_parameters = sym_u32(&c);
    (void) sym_u32(&c); /* alignment */
    for (unsigned i = 0; i < 15; i++) {
        e->parameters[i] = sym_u64(&c);
    }
    d->exception_context = minidump_place(&c);
    d->has_exception = sym_ok(&c);
}


/* MINIDUMP_ASSERTION_INFO of Breakpad. */
static void
read_assertion(minidump_t *d)
{
    sym_error_t unused;
    sym_cursor_t c =
        minidump_cursor(d, d->streams[MINIDUMP_ASSERTION], &unused);
    sym_str_t expression = sym_bytes(&c, UINT64_C(2) * ASSERTION_UNITS);
    sym_str_t function = sym_bytes(&c, UINT64_C(2) * ASSERTION_UNITS);
    sym_str_t file = sym_bytes(&c, UINT64_C(2) * ASSERTION_UNITS);
    uint32_t line = sym_u32(&c);

    if (!sym_ok(&c)) {
        return;
    }

    expression = minidump_units(d, expression);
    function = minidump_units(d, function);
    file = minidump_units(d, file);

    if (expression.len + function.len + file.len != 0) {
        d->crash.assertion = minidump_format(
            d, "%.*s, function %.*s, file %.*s, line %u", (int) expression.len,
            expression.data, (int) function.len, function.data, (int) file.len,
            file.data, line);
    }
}


void
minidump_read_reason(minidump_t *d)
{
    const minidump_exception_t *e = &d->exception;

    read_assertion(d);
    if (!d->has_exception) {
        return;
    }

    d->crash.is_crash = true;
    d->crash.address = e->address;

    switch (d->crash.os) {
    case SYM_OS_WINDOWS:
        d->crash.reason = minidump_windows_reason(d);
        /* An access violation, or a page that cannot be read. */
        if ((e->code == 0xc0000005 || e->code == 0xc0000006)
            && e->n_parameters >= 2) {
            d->crash.address = e->parameters[1];
        }
        break;
    case SYM_OS_MACOS:
    case SYM_OS_IOS:
        d->crash.reason = mac_reason(d);
        break;
    case SYM_OS_LINUX:
    case SYM_OS_ANDROID:
        d->crash.reason = linux_reason(d);
        break;
    default:
        d->crash.reason = unknown_reason(d);
        break;
    }

    /* some writers sign-extend 32-bit addresses */
    if (d->crash.arch != SYM_UNWIND_UNKNOWN
        && sym_unwind_arch(d->crash.arch)->word_bytes == 4)
    {
        d->crash.address = (uint32_t) d->crash.address;
    }
}
