#include "artifacts/export/tools.h"

#define DECLARE(number, NAME, name)                                            \
    extern const sym_kind_tools_t sym_##name##_tools;
#define ROW(number, NAME, name) &sym_##name##_tools,

SYM_ARTIFACT_KINDS(DECLARE)

static const sym_kind_tools_t *const all[SYM_KINDS] = { SYM_ARTIFACT_KINDS(
    ROW) };


const sym_kind_tools_t *
sym_kind_tools(sym_kind_t kind)
{
    for (size_t i = 0; i < SYM_KINDS; i++) {
        if (all[i]->kind == kind) {
            return all[i];
        }
    }

    return NULL;
}
