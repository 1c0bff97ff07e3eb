/*
 * mac.c - reasons of EXC_RESOURCE and EXC_GUARD.  Their two codes consist of
 * bit fields (xnu's osfmk/kern/exc_resource.h and exc_guard.h).  The reasons
 * are written as in Symbolicator.
 */
#include "formats/minidump/minidump.h"
#include "formats/minidump/names.h"

/* A flavor's name, by resource type and flavor. */
#define FLAVOR(type, flavor) ((uint64_t) (type) << 32 | (flavor))

enum { CPU = 1, WAKEUPS, MEMORY, IO, THREADS };

static const minidump_name_t resources[] = {
    { CPU, "RESOURCE_TYPE_CPU" },         { WAKEUPS, "RESOURCE_TYPE_WAKEUPS" },
    { MEMORY, "RESOURCE_TYPE_MEMORY" },   { IO, "RESOURCE_TYPE_IO" },
    { THREADS, "RESOURCE_TYPE_THREADS" },
};

static const minidump_name_t resource_flavors[] = {
    { FLAVOR(CPU, 1), "FLAVOR_CPU_MONITOR" },
    { FLAVOR(CPU, 2), "FLAVOR_CPU_MONITOR_FATAL" },
    { FLAVOR(WAKEUPS, 1), "FLAVOR_WAKEUPS_MONITOR" },
    { FLAVOR(MEMORY, 1), "FLAVOR_HIGH_WATERMARK" },
    { FLAVOR(IO, 1), "FLAVOR_IO_PHYSICAL_WRITES" },
    { FLAVOR(IO, 2), "FLAVOR_IO_LOGICAL_WRITES" },
    { FLAVOR(THREADS, 1), "FLAVOR_THREADS_HIGH_WATERMARK" },
};

enum { NONE, MACH_PORT, FD, USER, VNODE, VIRT_MEMORY, REJECTED_SC };

static const minidump_name_t guards[] = {
    { NONE, "GUARD_TYPE_NONE" },
    { MACH_PORT, "GUARD_TYPE_MACH_PORT" },
    { FD, "GUARD_TYPE_FD" },
    { USER, "GUARD_TYPE_USER" },
    { VNODE, "GUARD_TYPE_VN" },
    { VIRT_MEMORY, "GUARD_TYPE_VIRT_MEMORY" },
    { REJECTED_SC, "GUARD_TYPE_REJECTED_SC" },
};

static const minidump_name_t guard_flavors[] = {
    { FLAVOR(MACH_PORT, 1), "GUARD_EXC_DESTROY" },
    { FLAVOR(MACH_PORT, 2), "GUARD_EXC_MOD_REFS" },
    { FLAVOR(MACH_PORT, 3), "GUARD_EXC_INVALID_OPTIONS" },
    { FLAVOR(MACH_PORT, 4), "GUARD_EXC_SET_CONTEXT" },
    { FLAVOR(MACH_PORT, 5), "GUARD_EXC_THREAD_SET_STATE" },
    { FLAVOR(MACH_PORT, 0x8), "GUARD_EXC_UNGUARDED" },
    { FLAVOR(MACH_PORT, 0x10), "GUARD_EXC_INCORRECT_GUARD" },
    { FLAVOR(MACH_PORT, 0x20), "GUARD_EXC_IMMOVABLE" },
    { FLAVOR(MACH_PORT, 0x40), "GUARD_EXC_STRICT_REPLY" },
    { FLAVOR(MACH_PORT, 0x80), "GUARD_EXC_MSG_FILTERED" },
    { FLAVOR(MACH_PORT, 0x100), "GUARD_EXC_INVALID_RIGHT" },
    { FLAVOR(MACH_PORT, 0x200), "GUARD_EXC_INVALID_NAME" },
    { FLAVOR(MACH_PORT, 0x400), "GUARD_EXC_INVALID_VALUE" },
    { FLAVOR(MACH_PORT, 0x800), "GUARD_EXC_INVALID_ARGUMENT" },
    { FLAVOR(MACH_PORT, 0x1000), "GUARD_EXC_RIGHT_EXISTS" },
    { FLAVOR(MACH_PORT, 0x2000), "GUARD_EXC_KERN_NO_SPACE" },
    { FLAVOR(MACH_PORT, 0x4000), "GUARD_EXC_KERN_FAILURE" },
    { FLAVOR(MACH_PORT, 0x8000), "GUARD_EXC_KERN_RESOURCE" },
    { FLAVOR(MACH_PORT, 0x10000), "GUARD_EXC_SEND_INVALID_REPLY" },
    { FLAVOR(MACH_PORT, 0x20000), "GUARD_EXC_SEND_INVALID_VOUCHER" },
    { FLAVOR(MACH_PORT, 0x40000), "GUARD_EXC_SEND_INVALID_RIGHT" },
    { FLAVOR(MACH_PORT, 0x80000), "GUARD_EXC_RCV_INVALID_NAME" },
    { FLAVOR(MACH_PORT, 0x100000), "GUARD_EXC_RCV_GUARDED_DESC" },
    { FLAVOR(MACH_PORT, 0x200000), "GUARD_EXC_MOD_REFS_NON_FATAL" },
    { FLAVOR(MACH_PORT, 0x400000), "GUARD_EXC_IMMOVABLE_NON_FATAL" },
    { FLAVOR(MACH_PORT, 0x800000), "GUARD_EXC_REQUIRE_REPLY_PORT_SEMANTICS" },
    { FLAVOR(MACH_PORT, 0x1000000), "GUARD_EXC_EXCEPTION_BEHAVIOR_ENFORCE" },
    { FLAVOR(FD, 0x1), "GUARD_EXC_CLOSE" },
    { FLAVOR(FD, 0x2), "GUARD_EXC_DUP" },
    { FLAVOR(FD, 0x4), "GUARD_EXC_NOCLOEXEC" },
    { FLAVOR(FD, 0x8), "GUARD_EXC_SOCKET_IPC" },
    { FLAVOR(FD, 0x10), "GUARD_EXC_FILEPORT" },
    { FLAVOR(FD, 0x20), "GUARD_EXC_MISMATCH" },
    { FLAVOR(FD, 0x40), "GUARD_EXC_WRITE" },
    { FLAVOR(VNODE, 0x1), "GUARD_EXC_RENAME_TO" },
    { FLAVOR(VNODE, 0x2), "GUARD_EXC_RENAME_FROM" },
    { FLAVOR(VNODE, 0x4), "GUARD_EXC_UNLINK" },
    { FLAVOR(VNODE, 0x8), "GUARD_EXC_WRITE_OTHER" },
    { FLAVOR(VNODE, 0x10), "GUARD_EXC_TRUNC_OTHER" },
    { FLAVOR(VNODE, 0x20), "GUARD_EXC_LINK" },
    { FLAVOR(VNODE, 0x40), "GUARD_EXC_EXCHDATA" },
    { FLAVOR(VIRT_MEMORY, 0x1), "GUARD_EXC_DEALLOC_GAP" },
    { FLAVOR(REJECTED_SC, 0), "GUARD_EXC_MACH_TRAP" },
};

/* The low bits of a code. */
#define BITS(code, n) ((unsigned long long) (code) & ((1ull << (n)) - 1))

/* The flavor: the bits from 32 on or from 58 on. */
#define GUARD_FLAVOR(code) ((code) >> 32 & 0x1fffffff)
#define RESOURCE_FLAVOR(code) ((code) >> 58 & 7)


/* Codes whose flavor is unknown. */
static sym_str_t
bare(minidump_t *d, const char *exception, const char *type, uint64_t code,
     uint64_t subcode)
{
    return minidump_format(d, "%s / %s / 0x%016llx / 0x%016llx", exception,
                           type, (unsigned long long) code,
                           (unsigned long long) subcode);
}


sym_str_t
minidump_resource_reason(minidump_t *d)
{
    const minidump_exception_t *e = &d->exception;
    const uint64_t code = e->parameters[1], subcode = e->parameters[2];
    const unsigned type = e->flags >> 29;
    const char *name = MINIDUMP_NAME(resources, type);
    const char *flavor =
        MINIDUMP_NAME(resource_flavors, FLAVOR(type, RESOURCE_FLAVOR(code)));

    if (name == NULL) {
        return sym_str(NULL, 0);
    }

    if (flavor == NULL) {
        return bare(d, "EXC_RESOURCE", name, code, subcode);
    }

    switch (type) {
    case CPU:
        return minidump_format(
            d,
            "EXC_RESOURCE / %s / %s interval: %llus CPU limit: %llu%% CPU "
            "consumed: %llu%%",
            name, flavor, BITS(code >> 7, 25), BITS(code, 3), BITS(subcode, 3));
    case WAKEUPS:
        return minidump_format(
            d,
            "EXC_RESOURCE / %s / %s interval: %llus wakeups permitted: %llu "
            "wakeups observed: %llu",
            name, flavor, BITS(code >> 20, 20), BITS(code, 12),
            BITS(subcode, 12));
    case IO:
        return minidump_format(
            d,
            "EXC_RESOURCE / %s / %s interval: %llus I/O limit: %llu%% I/O "
            "observed: %llu%%",
            name, flavor, BITS(code >> 15, 17), BITS(code, 15),
            BITS(subcode, 15));
    case MEMORY:
        return minidump_format(
            d, "EXC_RESOURCE / %s / %s high watermark limit: %lluMiB", name,
            flavor, BITS(code, 13));
    default:
        return minidump_format(
            d, "EXC_RESOURCE / %s / %s high watermark limit: %llu", name,
            flavor, BITS(code, 15));
    }
}


sym_str_t
minidump_guard_reason(minidump_t *d)
{
    const minidump_exception_t *e = &d->exception;
    const uint64_t code = e->parameters[1], subcode = e->parameters[2];
    const unsigned long long other = subcode, low = BITS(code, 28);
    const unsigned type = e->flags >> 29;
    const char *name = MINIDUMP_NAME(guards, type);
    const char *flavor =
        MINIDUMP_NAME(guard_flavors, FLAVOR(type, GUARD_FLAVOR(code)));

    if (name == NULL) {
        return sym_str(NULL, 0);
    }

    switch (type) {
    case NONE:
        return minidump_format(d, "EXC_GUARD / %s", name);
    case USER:
        /* Symbolicator has no blank before this '/' */
        return minidump_format(
            d, "EXC_GUARD / %s/ namespace: %llu guard identifier: %llu", name,
            BITS(code, 32), other);
    default:
        break;
    }

    if (flavor == NULL) {
        return bare(d, "EXC_GUARD", name, code, subcode);
    }

    switch (type) {
    case MACH_PORT:
        return other != 0
                   ? minidump_format(
                       d, "EXC_GUARD / %s / %s port name: %llu subcode: %llu",
                       name, flavor, low, other)
                   : minidump_format(d, "EXC_GUARD / %s / %s port name: %llu",
                                     name, flavor, low);
    case FD:
        return minidump_format(d,
                               "EXC_GUARD / %s / %s file descriptor: %llu "
                               "guard identifier: %llu",
                               name, flavor, low, other);
    case VNODE:
        return minidump_format(
            d, "EXC_GUARD / %s / %s pid: %llu guard identifier: %llu", name,
            flavor, low, other);
    case VIRT_MEMORY:
        return minidump_format(d, "EXC_GUARD / %s / %s offset: %llu", name,
                               flavor, other);
    default:
        return minidump_format(d, "EXC_GUARD / %s / %s syscall: %llu", name,
                               flavor, other);
    }
}
