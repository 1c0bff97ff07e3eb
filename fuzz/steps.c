/*
 * steps.c - the work on an input is bounded by its bytes, in every target.
 *
 * The compiler calls __sanitizer_cov_trace_pc() at each edge of the program's
 * control flow, and the linker replaces it and the target's entry point by
 * these functions (--wrap).  An input that takes more edges than its length
 * allows crashes at that edge.  Unlike time, edges do not depend on the
 * machine.
 */
#include <stddef.h>
#include <stdint.h>

#include "check.h"

/* Ten times the edges of the most expensive input of the corpora: for any
 * input, and for each byte. */
#define EDGES_OF_ANY UINT64_C(2000000)
#define EDGES_PER_BYTE UINT64_C(5000)

#if defined(__clang__)
#define UNCOUNTED __attribute__((no_sanitize("coverage")))
#else
#define UNCOUNTED
#endif

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker's names for --wrap */
void __wrap___sanitizer_cov_trace_pc(void);
int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __real_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t edges, edges_max = UINT64_MAX;


UNCOUNTED void
__wrap___sanitizer_cov_trace_pc(void)
{
    if (++edges > edges_max) {
        edges_max = UINT64_MAX;
        check(false);
    }
}


UNCOUNTED int
__wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int rc;

    edges = 0;
    edges_max = EDGES_OF_ANY + EDGES_PER_BYTE * size;
    rc = __real_LLVMFuzzerTestOneInput(data, size);
    edges_max = UINT64_MAX;
    return rc;
}
/* NOLINTEND(bugprone-reserved-identifier) */
