/*
 * The reader of symbfiles, with bytes made here by docs/formats/symbfile.md.
 */
#include "formats/symbfile/reader.h"

#include <stdlib.h>

#include "base/protobuf.h"
#include "tap.h"

#define HEAD "symbfile\0\1"

/* Records of a reader, as text; strings are numbered in their order. */
typedef struct {
    char text[4096];
    size_t len;
    uint32_t n_strings;
} said_t;

__attribute__((format(printf, 2, 3))) static void
say(said_t *said, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    said->len += (size_t) vsnprintf(
        said->text + said->len, sizeof(said->text) - said->len, format, args);
    va_end(args);
}


static sym_status_t
string(void *ctx, sym_str_t text, uint32_t *id, sym_error_t *err)
{
    said_t *said = ctx;

    (void) err;
    *id = said->n_strings++;
    say(said, "%u=%.*s ", *id, (int) text.len, text.data);
    return SYM_OK;
}


static sym_status_t
range(void *ctx, const sym_symbfile_range_t *r, sym_error_t *err)
{
    (void) err;
    say(ctx, "%" PRIx64 "+%x/%u name=%d file=%d call=%d:%u", r->addr, r->size,
        r->depth, (int) r->name, (int) r->file, (int) r->call_file,
        r->call_line);

    for (size_t i = 0; i < r->n_lines; i++) {
        say(ctx, " %u:%u", r->lines[i].offset, r->lines[i].line);
    }

    say(ctx, "\n");
    return SYM_OK;
}


static sym_status_t
pad(void *ctx, const sym_symbfile_pad_t *p, sym_error_t *err)
{
    (void) err;
    say(ctx, "pad %" PRIx64, p->addr);

    for (size_t i = 0; i < p->n_frames; i++) {
        say(ctx, " %d %d:%u", (int) p->frames[i].name, (int) p->frames[i].file,
            p->frames[i].line);
    }

    say(ctx, "\n");
    return SYM_OK;
}


/* Reads the file in two parts, or byte by byte (split 0). */
static sym_status_t
read_split(sym_str_t file, size_t split, said_t *said, sym_error_t *err)
{
    const sym_symbfile_sink_t sink = { string, range, pad, said };
    sym_symbfile_t *s = sym_symbfile_create(&sink, err);
    sym_status_t rc = SYM_OK;
    size_t len, at = 0;

    *said = (said_t){ .len = 0 };

    for (; rc == SYM_OK && at < file.len; at += len) {
        char *copy;

        len = split == 0 ? 1 : at == 0 ? split : file.len - at;
        copy = malloc(len); /* a block of its own: a sanitizer sees every byte
                             * past it */
        memcpy(copy, file.data + at, len);
        rc = sym_symbfile_feed(s, copy, len);
        free(copy);
    }

    rc = rc == SYM_OK ? sym_symbfile_end(s) : rc;
    sym_symbfile_free(s);
    return rc;
}


static void
read_is(sym_str_t file, const char *want, const char *name)
{
    sym_error_t err = { 0 };
    said_t said;
    bool all = true;

    (void) read_split(file, file.len, &said, &err);
    ok(err.status == SYM_OK, "%s: %s", name, err.what);
    is_str(sym_str(said.text, said.len), want, name);

    for (size_t split = 0; split < file.len; split++) {
        all &= read_split(file, split, &said, &err) == SYM_OK
               && sym_str_eq(sym_str(said.text, said.len), sym_cstr(want));
    }

    ok(all, "... in pieces of any size");
}


#define READ_IS(bytes, want, name) read_is(SYM_STR(HEAD bytes), want, name)

int
main(void)
{
    READ_IS("", "", "an empty file");

    READ_IS("\005\115\141\142\143\144\145\000\004\310\001\254\002\170"
            "\170\170\170\170\170\170\170\170\170\170\170\170\170\170"
            "\170\170\170\170\170\170\170\170\170\170\170\170\170\170"
            "\170\170\170\170\170\170\170\170\170\170\170\170\170\170"
            "\170\170\170\170\170\170\170\170\170\170\170\170\170\170"
            "\170\170\170\170\170\170\170\170\170\170\170\170\170\170"
            "\170\170\170\170\170\170\170\170\170\170\170\170\170\170"
            "\170\170\170\170\170\170\170\170\170\170\170\170\170\170"
            "\170\170\170\170\170\170\170\170\170\170\170\170\170\170"
            "\170\170\170\170\170\170\170\170\170\170\170\170\170\170"
            "\170\170\170\170\170\170\170\170\170\170\170\170\170\170"
            "\170\170\170\170\170\170\170\170\170\170\170\170\170\170"
            "\170\170\170\170\170\170\170\170\170\170\170\170\170\170"
            "\170\170\170\170\170\170\170\170\170\170\170\170\170\170"
            "\170\170\170\170\170\170\170\170\170\170\170\170\170\170"
            "\170\170\170",
            "", "messages of unknown types");

    READ_IS("\010\002\140\200\040\020\020\032\001\146",
            "0=f 1000+10/0 name=0 file=-1 call=-1:0\n", "a function");

    READ_IS("\006\004\012\001\141\012\001\142\011\002\140\200\040\020"
            "\020\110\000\120\001\012\002\010\003\020\001\110\001\130"
            "\000\050\007\004\004\012\002\172\172\007\002\010\000\110"
            "\000\070\377\001",
            "0=a 1=b 1000+10/0 name=0 file=1 call=-1:0\n"
            "ffe+1/0 name=1 file=-1 call=0:7\n"
            "2=zz ffe+0/255 name=2 file=-1 call=-1:0\n",
            "tables replace each other; deltas go both ways");

    READ_IS("\020\002\140\377\377\377\377\377\377\377\377\377\001\020"
            "\001\032\001\146\007\002\010\004\020\001\032\001\147",
            "0=f ffffffffffffffff+1/0 name=0 file=-1 call=-1:0\n"
            "1=g 1+1/0 name=1 file=-1 call=-1:0\n",
            "addresses wrap");

    READ_IS("\017\002\140\007\140\011\020\001\032\001\146\032\001\147"
            "\042\001\150",
            "0=f 1=g 2=h 9+1/0 name=1 file=2 call=-1:0\n",
            "the last member of a choice counts");

    READ_IS("\045\002\070\002\230\006\005\222\006\003\141\142\143\211"
            "\006\061\062\063\064\065\066\067\070\205\006\061\062\063"
            "\064\032\001\146\020\001\140\011\022\001\170",
            "0=f 9+1/2 name=0 file=-1 call=-1:0\n",
            "unknown fields, in any order");

    READ_IS("\026\002\140\011\020\144\032\001\146\102\015\012\002\000"
            "\004\010\254\002\020\005\022\002\006\007",
            "0=f 9+64/0 name=0 file=-1 call=-1:0 0:5 4:6 304:7\n",
            "line tables, packed or not, or both");

    READ_IS("\015\004\012\001\146\012\003\146\056\143\012\001\147\012"
            "\000\017\003\050\377\077\022\002\000\002\032\002\001\003"
            "\042\002\003\000\010\003\010\010\020\002\030\001\040\011",
            "0=f 1=f.c 2=g 3= pad 1fff 0 1:3 2 3:0\n"
            "pad 2003 2 1:9\n",
            "return pads, packed or not");

    READ_IS("\007\002\140\020\020\001\032\001\146\002\003\010\002\007"
            "\002\010\002\020\001\032\001\147",
            "0=f 10+1/0 name=0 file=-1 call=-1:0\n"
            "pad 11\n"
            "1=g 12+1/0 name=1 file=-1 call=-1:0\n",
            "ranges and pads share the address");

    return done_testing();
}
