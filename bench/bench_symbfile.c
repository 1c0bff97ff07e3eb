/*
 * bench_symbfile.c - measures how fast a symbfile is read.
 *
 *     bench_symbfile FILE [PIECE_BYTES]
 *
 * Prints MB/s of processor time of the reader alone (each record checked and
 * counted), of zlib's CRC-32 of the same bytes, piece by piece in turn, so that
 * both see the same machine, of the reader with functions (everything before the
 * symcache is written), and the peak memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <zlib.h>

#include "bench.h"
#include "formats/symbfile/functions.h"

typedef struct {
    uint64_t strings, ranges, lines, pads;
} counts_t;

static sym_status_t
string(void *ctx, sym_str_t text, uint32_t *id, sym_error_t *err)
{
    counts_t *counts = ctx;

    (void) text;
    (void) err;
    *id = (uint32_t) counts->strings++;
    return SYM_OK;
}


static sym_status_t
range(void *ctx, const sym_symbfile_range_t *r, sym_error_t *err)
{
    counts_t *counts = ctx;

    (void) err;
    counts->ranges++;
    counts->lines += r->n_lines;
    return SYM_OK;
}


static sym_status_t
pad(void *ctx, const sym_symbfile_pad_t *p, sym_error_t *err)
{
    counts_t *counts = ctx;

    (void) p;
    (void) err;
    counts->pads++;
    return SYM_OK;
}


static double
processor_s(void)
{
    struct timespec t;

    (void) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}


/* Seconds of processor time of the reader and of CRC-32. */
typedef struct {
    double reader, crc;
} taken_t;

static taken_t
read_all(FILE *in, char *piece, size_t size, const sym_symbfile_sink_t *sink)
{
    sym_error_t err = { 0 };
    sym_symbfile_t *s = sym_symbfile_create(sink, &err);
    taken_t taken = { 0 };
    uLong crc = 0;
    double before;
    char text[256];
    size_t len;

    rewind(in);
    while ((len = fread(piece, 1, size, in)) != 0) {
        before = processor_s();
        (void) sym_symbfile_feed(s, piece, len);
        taken.reader += processor_s() - before;

        before = processor_s();
        crc = crc32(crc, (const Bytef *) piece, (uInt) len);
        taken.crc += processor_s() - before;
    }

    if (sym_symbfile_end(s) != SYM_OK) {
        fprintf(stderr, "bench_symbfile: %s\n",
                sym_error_text(&err, text, sizeof(text)));
        exit(1);
    }

    sym_symbfile_free(s);
    return taken;
}


static long
peak_kb(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}


int
main(int argc, char **argv)
{
    FILE *in = argc > 1 ? fopen(argv[1], "rb") : NULL;
    size_t size = argc > 2 ? strtoul(argv[2], NULL, 10) : 65536;
    char *piece = malloc(size);
    counts_t counts = { 0 };
    sym_symbfile_sink_t sink = { string, range, pad, &counts };
    sym_symbfile_functions_t *functions;
    sym_error_t err = { 0 };
    sym_shard_t shard;
    taken_t taken;
    double mb;

    if (in == NULL || piece == NULL) {
        fprintf(stderr, "usage: bench_symbfile FILE [PIECE_BYTES]\n");
        return 2;
    }

    (void) fseek(in, 0, SEEK_END);
    mb = (double) ftell(in) / 1e6;
    taken = read_all(in, piece, size, &sink);
    printf("%.1f MB, %lu ranges, %lu lines, %lu pads\n", mb, counts.ranges,
           counts.lines, counts.pads);
    printf("reader: %.0f MB/s, %ld KB, CRC-32 %.0f MB/s\n", mb / taken.reader,
           peak_kb(), mb / taken.crc);

    sym_shard_init(&shard);
    functions = sym_symbfile_functions_create(&shard, &err);
    sink = sym_symbfile_functions_sink(functions);
    taken = read_all(in, piece, size, &sink);
    printf("reader and functions: %.0f MB/s, %ld KB\n", mb / taken.reader,
           peak_kb());
    sym_symbfile_functions_free(functions);
    sym_shard_free(&shard);
    free(piece);
    return 0;
}
