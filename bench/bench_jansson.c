/*
 * bench_jansson - how fast jansson alone parses request bodies.
 *
 *     build/bench/bench_jansson SECONDS BODY.json...
 *
 * Parses the bodies in turn with json_loadb() and drops the result, as the
 * first thing that any answer made with jansson must do.  Prints bodies a
 * second.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <jansson.h>

typedef struct {
    char *data;
    size_t len;
} body_t;


static double
now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}


static body_t
read_body(const char *name)
{
    FILE *f = fopen(name, "rb");
    body_t body = { NULL, 0 };
    long len;

    if (f == NULL || fseek(f, 0, SEEK_END) != 0 || (len = ftell(f)) < 0) {
        perror(name);
        exit(1);
    }

    rewind(f);
    body.len = (size_t) len;
    body.data = malloc(body.len + 1);
    if (body.data == NULL || fread(body.data, 1, body.len, f) != body.len) {
        perror(name);
        exit(1);
    }

    fclose(f);
    return body;
}


static void
parse(const body_t *body)
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
    body_t *bodies;
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
        bodies[i] = read_body(argv[i]);
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
        free(bodies[i].data);
    }
    free(bodies);
    return 0;
}
