/* scan.c without SSE2. */
#define SYM_SCAN_PLAIN

/* NOLINTNEXTLINE(bugprone-suspicious-include): the same tests */
#include "scan.c"
