#include "common/store_messages.h"

#include "common/say.h"
#include "store/write.h"

int
file_failure(const char *file, const sym_error_t *err)
{
    char text[256];

    complain_about(file, "%s", sym_error_text(err, text, sizeof(text)));
    return err->status == SYM_BUSY ? EXIT_BUSY : EXIT_STORE;
}


int
store_failure(const options_t *options, const sym_error_t *err)
{
    if (err->status == SYM_NOT_FOUND) {
        complain_about(options->store,
                       "no store there (make one with symloader init or load)");
        return EXIT_STORE;
    }

    return file_failure(options->store, err);
}


void
store_warn_large(const options_t *options, const sym_store_t *store)
{
    char text[OUTPUT_SIZE_TEXT];
    uint64_t bytes = sym_store_surplus(store);

    if (bytes != 0) {
        complain_about(options->store,
                       "warning: data.mdb is larger than the quota allows, by "
                       "%s: it will not grow, but LMDB files never shrink; "
                       "for a smaller one, delete the store and let symloader "
                       "make a new one",
                       output_size(bytes, text));
    }
}
