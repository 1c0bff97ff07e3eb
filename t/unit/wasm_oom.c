/*
 * Memory runs out while a WebAssembly module is converted.
 */
#include "oom_format.h"

int
main(void)
{
    /* with DWARF and names */
    oom_format(SYM_CONVERSION_wasm, "wasm", "whole", 30);
    return done_testing();
}
