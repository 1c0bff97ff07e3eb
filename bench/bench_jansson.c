/*
 * bench_jansson - how fast jansson alone parses request bodies.
 *
 *     build/bench/bench_jansson SECONDS BODY.json...
 *
 * Parses the bodies in turn with json_loadb() and drops the result.  Any answer
 * made with jansson has to do that first.  Prints bodies per second.
 */
#include <stdint.h>

#include <jansson.h>

#include "bench.h"


static void
parse(const sym_str_t *body)
{
    json_t *json = json_loadb(body->data, body->len, 0, NULL);

    if (json == NULL) {
        fprintf(stderr, "bench_jansson: a body is not JSON\n");
        exit(1);
    }

    json_decref(json);
}


int
main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 0;
    double started, spent;
    unsigned long n = 0;
    sym_str_t *bodies;
    int i;

    if (argc < 3 || seconds <= 0) {
        fprintf(stderr, "usage: bench_jansson SECONDS BODY.json...\n");
        return 2;
    }

    bodies = calloc((size_t) argc, sizeof(*bodies));
    if (bodies == NULL) {
        perror("bench_jansson");
        return 1;
    }

    for (i = 2; i < argc; i++) {
        bodies[i] = read_file(argv[i]);
    }

    started = now_s();
    do {
        for (i = 2; i < argc; i++) {
            parse(&bodies[i]);
            n++;
        }
        spent = now_s() - started;
    } while (spent < seconds);

    printf("%.1f bodies/s\n", (double) n / spent);

    for (i = 2; i < argc; i++) {
        free((void *) (uintptr_t) bodies[i].data);
    }
    free(bodies);
    return 0;
}
