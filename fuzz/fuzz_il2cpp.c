/*
 * Any bytes as a map of C# lines.  Lines must move to files in the map; those
 * without a file must stay.
 */
#include "check.h"
#include "formats/il2cpp/line_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_move(const sym_moves_t *moves, const sym_move_t *m)
{
    uint32_t file = m->file, line = m->line;

    sym_moves_apply(moves, &file, &line);
    check(file != SYM_NO_STRING);

    file = SYM_NO_STRING;
    line = m->line;
    sym_moves_apply(moves, &file, &line);
    check(file == SYM_NO_STRING && line == m->line);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sym_str_t in = sym_str((const char *) data, size);
    sym_error_t err = { 0 }, bad = { 0 };
    sym_writer_t *w = sym_writer_create(&err);
    sym_moves_t moves;
    uint32_t known;

    check(w != NULL
          && sym_writer_string(w, SYM_STR("a.cpp"), &known) == SYM_OK);

    if (sym_il2cpp_read(&moves, w, in, &bad) == SYM_OK) {
        for (size_t i = 0; i < moves.n; i++) {
            check(moves.list[i].file != SYM_NO_STRING);
            check_move(&moves, &moves.list[i]);
        }
    } else {
        check(bad.what != NULL && moves.list == NULL && moves.n == 0);
    }

    sym_moves_free(&moves);
    sym_writer_free(w);
    return 0;
}
