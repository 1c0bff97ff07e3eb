/*
 * sign - signs a request with core/sources/aws, for a test to send.
 *
 *     build/t/sign METHOD HOST KEY REGION ACCESS_KEY SECRET_KEY TIME \
 *         [TOKEN]
 *
 * KEY is the path before encoding, with its '/'; TIME is in seconds.  Prints
 * the path to request, then the headers to send, one per line; the body is not
 * hashed.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sources/aws/sigv4.h"
#include "base/uri.h"


static void
print_header(const char *name, sym_str_t value)
{
    if (value.len != 0) {
        printf("%s: %.*s\n", name, (int) value.len, value.data);
    }
}


static sym_status_t
sign(sym_arena_t *arena, char **argv, sym_error_t *err)
{
    sym_aws_credentials_t keys = {
        .access_key = sym_cstr(argv[5]),
        .secret_key = sym_cstr(argv[6]),
        .token = sym_cstr(argv[8] == NULL ? "" : argv[8]),
    };
    sym_sigv4_header_t host = { SYM_STR("Host"), sym_cstr(argv[2]) };
    sym_sigv4_request_t request = {
        .method = sym_cstr(argv[1]),
        .headers = &host,
        .n_headers = 1,
        .payload_hash = SYM_SIGV4_UNSIGNED,
        .credentials = &keys,
        .region = sym_cstr(argv[4]),
        .time_s = strtoull(argv[7], NULL, 10),
    };
    sym_sigv4_key_t key = { .is_made = false };
    sym_sigv4_t made;

    if (sym_uri_encode(arena, sym_cstr(argv[3]), true, &request.path, err)
            != SYM_OK
        || sym_sigv4_sign(arena, &key, &request, &made, err) != SYM_OK)
    {
        return err->status;
    }

    printf("%.*s\n", (int) request.path.len, request.path.data);
    print_header("Authorization", made.authorization);
    print_header("X-Amz-Date", made.amz_date);
    print_header("X-Amz-Content-Sha256", made.content_sha256);
    print_header("X-Amz-Security-Token", made.security_token);
    return SYM_OK;
}


int
main(int argc, char **argv)
{
    sym_arena_t arena;
    sym_error_t err = { 0 };
    char text[256];
    sym_status_t status;

    if (argc != 8 && argc != 9) {
        (void) fputs("usage: sign METHOD HOST KEY REGION ACCESS_KEY SECRET_KEY "
                     "TIME [TOKEN]\n",
                     stderr);
        return 2;
    }

    sym_arena_init(&arena, 0);
    status = sign(&arena, argv, &err);
    if (status != SYM_OK) {
        (void) fprintf(stderr, "sign: %s\n",
                       sym_error_text(&err, text, sizeof(text)));
    }

    sym_arena_drop(&arena);
    return status == SYM_OK ? 0 : 1;
}
