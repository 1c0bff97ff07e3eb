/*
 * Which requests are valid, and the errors for invalid ones and their order:
 * the messages are those of the server that ours replaces (Mozilla's Eliot),
 * also where it accidentally answers 500.  Every body goes through both
 * readers, at once and in the smallest slices, and must come to the same.
 */
#include "tap.h"
#include "tecken_kit.h"

#define JSON "Payload is not valid JSON"
#define MODULES "job 0 has invalid modules: "
#define STACKS "job 0 has invalid stacks: "
#define NO_PAIR " does not have a debug_filename and debug_id"
#define ID "0123456789ABCDEF0123456789ABCDEF0"
#define MAP "\"memoryMap\":[[\"a.so\",\"" ID "\"]]"
#define FOUND "\"found_modules\": {\"a.so/" ID "\": "

typedef struct {
    sym_str_t body;
    const char *want; /* message, or the answer if it begins with a brace */
} case_t;

#define CASE(body, want)                                                       \
    {                                                                          \
        { (body), sizeof(body) - 1 }, (want)                                   \
    }


static void
check(unsigned version, sym_str_t body, sym_request_limits_t limits,
      const char *want)
{
    const kit_options_t ways[] = {
        { .version = version, .limits = limits },
        { .version = version, .limits = limits, .budget = 1, .window = 1 },
        { .version = version, .limits = limits, .general = true },
    };
    static const char *const names[] = { "", "slices: ", "general: " };
    char name[64];
    size_t n = 0;

    for (size_t i = 0; i < body.len && n < sizeof(name) - 1; i++) {
        char c = body.data[i];

        /* TAP takes what follows a # for a comment */
        name[n++] = '?';
        if (c >= ' ' && c <= '~' && c != '#') {
            name[n - 1] = c;
        }
    }
    name[n] = '\0';

    for (size_t i = 0; i < 3; i++) {
        kit_result_t r = kit_run(body, &ways[i]);
        bool is_answer = want[0] == '{';
        bool right = is_answer
                         ? r.status == SYM_OK
                         : r.status == SYM_MALFORMED || r.status == SYM_LIMIT;

        if (!ok(right && r.text != NULL && r.len == strlen(want)
                    && memcmp(r.text, want, r.len) == 0,
                "v%u %s%s", version, names[i], name))
        {
            printf("#   got %s: %s\n#   want %s\n", sym_status_name(r.status),
                   r.text == NULL ? "" : r.text, want);
        }
        free(r.text);
    }
}


static void
check_all(unsigned version, const case_t *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        check(version, cases[i].body, (sym_request_limits_t){ 0 },
              cases[i].want);
    }
}

#define CHECK_ALL(version, cases)                                              \
    check_all((version), (cases), sizeof(cases) / sizeof(*(cases)))


/* Step 1: is it JSON? */
static void
not_json(void)
{
    static const case_t cases[] = {
        CASE("", JSON),
        CASE(" ", JSON),
        CASE("{", JSON),
        CASE("}", JSON),
        CASE("nul", JSON),
        CASE("{} x", JSON),
        CASE("{}{}", JSON),
        CASE("{\"stacks\":[[[0,1],]]," MAP "}", JSON),
        CASE("{\"stacks\":[[[0,1]],]," MAP "}", JSON),
        CASE("{\"stacks\":[[[0,1]]]," MAP ",}", JSON),
        CASE("{\"stacks\":[[[0 1]]]," MAP "}", JSON),
        CASE("{\"stacks\":[[[0,01]]]," MAP "}", JSON),
        CASE("{\"stacks\":[[[0,+1]]]," MAP "}", JSON),
        CASE("{\"stacks\":[[[0,0x1]]]," MAP "}", JSON),
        CASE("{\"stacks\":[[[0,1.]]]," MAP "}", JSON),
        CASE("{\"stacks\":[[[0,.5]]]," MAP "}", JSON),
        CASE("{\"stacks\":[[[0,1e]]]," MAP "}", JSON),
        CASE("{\"stacks\":[[[0,-]]]," MAP "}", JSON),
        CASE("{\"stacks\":[[[0,--1]]]," MAP "}", JSON),
        CASE("{\"stacks\":[[[0,1.5.5]]]," MAP "}", JSON),
        CASE("{\"stacks\":[[[0,1NaN]]]," MAP "}", JSON),
        CASE("{\"stacks\":[[[0,NaN5]]]," MAP "}", JSON),
        CASE("{\"stacks\":[[[0,NaNe5]]]," MAP "}", JSON),
        CASE("{\"stacks\":[[[0,-NaN]]]," MAP "}", JSON),
        CASE("{\"stacks\":[[[0,1-2.5]]]," MAP "}", JSON),
        CASE("{\"stacks\":[[[0,1 2.5]]]," MAP "}", JSON),
        CASE("{\"stacks\":[[[0,true1.5]]]," MAP "}", JSON),
        CASE("{\"stacks\":[[[0,nan]]]," MAP "}", JSON),
        CASE("{\"stacks\":[[[0,12345678901234567890.]]]," MAP "}", JSON),
        CASE("{\"stacks\":[[[0,12345678901234567890x]]]," MAP "}", JSON),
        CASE("{\"stacks\":[[[0,1]]]," MAP ",\"x\":truex}", JSON),
        CASE("{\"stacks\":[[[0,1]]]," MAP ",x:1}", JSON),
        CASE("{\"stacks\":[[[0,1]]]," MAP ",'x':1}", JSON),
        CASE("{\"a\":\"\n\"}", JSON),
        CASE("{\"a\":\"\x01\"}", JSON),
        CASE("{\"a\":\"\\x\"}", JSON),
        CASE("{\"a\":\"\\u12\"}", JSON),
        CASE("{\"a\":\"", JSON),
        CASE("{\"a\":\"\\", JSON),
        CASE("{\"a\":\"\\\"}", JSON),
        CASE("{}\0", JSON),
        CASE("{\"a\":\"\0\"}", JSON),
        /* requests that Python answered with 500 */
        CASE("{\"a\":\"\xff\"}", JSON),
        CASE("{\"a\":\"\xc3\"}", JSON),
        CASE("{\"a\":\"\xc0\x80\"}", JSON),
        CASE("{\"a\":\"\xed\xa0\x80\"}", JSON),
        CASE("\xef\xbb\xbf", JSON),
        CASE("\xef\xbb\xbf\xef\xbb\xbf{}", JSON),
        /* UTF-16 and UTF-32 are refused on purpose */
        CASE("\xff\xfe{\0}\0", JSON),
        CASE("{\0}\0", JSON),
        CASE("{\0\0\0}\0\0\0", JSON),
    };

    CHECK_ALL(5, cases);
    CHECK_ALL(4, cases);
}


/* Steps 2 to 4, in their order. */
static void
messages(void)
{
    static const case_t cases[] = {
        CASE("null", "job 0 is invalid"),
        CASE("7", "job 0 is invalid"),
        CASE("true", "job 0 is invalid"),
        CASE("1.5", "job 0 is invalid"),
        CASE("\"jobs\"", "job 0 is invalid"),
        CASE("[]", "job 0 is invalid"),
        CASE("[\"jobs\"]", "job 0 is invalid"),
        CASE("{}", "job 0 is invalid: no stacks specified"),
        CASE("{\"memoryMap\":[]}", "job 0 is invalid: no stacks specified"),
        CASE("{\"memoryMap\":7}", "job 0 is invalid: no stacks specified"),
        CASE("{\"stacks\":7}", "job 0 is invalid: no memoryMap specified"),
        CASE("{\"stacks\":[]}", "job 0 is invalid: no memoryMap specified"),
        CASE("{\"stacks\":1,\"memoryMap\":{}}",
             MODULES "modules must be a list"),
        CASE("{\"stacks\":1,\"memoryMap\":null}",
             MODULES "modules must be a list"),
        CASE("{\"stacks\":1,\"memoryMap\":\"ab\"}",
             MODULES "modules must be a list"),
        CASE("{\"stacks\":1,\"memoryMap\":[[\"a\",\"1\"],[\"a\"]]}",
             MODULES "module index 1" NO_PAIR),
        CASE("{\"stacks\":1,\"memoryMap\":[[\"a\",\"1\",\"2\"]]}",
             MODULES "module index 0" NO_PAIR),
        CASE("{\"stacks\":1,\"memoryMap\":[\"ab\"]}",
             MODULES "module index 0" NO_PAIR),
        CASE("{\"stacks\":1,\"memoryMap\":[{\"a\":1,\"b\":2}]}",
             MODULES "module index 0" NO_PAIR),
        CASE("{\"stacks\":1,\"memoryMap\":[[1,2]]}",
             MODULES "module index 0 has an invalid debug_filename"),
        CASE("{\"stacks\":1,\"memoryMap\":[[\"a/b\",\"zz\"]]}",
             MODULES "module index 0 has an invalid debug_filename"),
        CASE("{\"stacks\":1,\"memoryMap\":[[\"a\\n\",\"A\"]]}",
             MODULES "module index 0 has an invalid debug_filename"),
        CASE("{\"stacks\":1,\"memoryMap\":[[\"a\\u0000\",\"A\"]]}",
             MODULES "module index 0 has an invalid debug_filename"),
        CASE("{\"stacks\":1,\"memoryMap\":[[\"a\\ud800\",\"A\"]]}",
             MODULES "module index 0 has an invalid debug_filename"),
        CASE("{\"stacks\":1,\"memoryMap\":[[\"\xc3\xa9\",\"A\"]]}",
             MODULES "module index 0 has an invalid debug_filename"),
        CASE("{\"stacks\":1,\"memoryMap\":[[\"a\",\"1\"],[\"b c\",\"xyz\"]]}",
             MODULES "module index 1 has an invalid debug_id"),
        CASE("{\"stacks\":1,\"memoryMap\":[[\"a\",7]]}",
             MODULES "module index 0 has an invalid debug_id"),
        CASE("{\"stacks\":1,\"memoryMap\":[[\"a\",null]]}",
             MODULES "module index 0 has an invalid debug_id"),
        CASE("{\"stacks\":1,\"memoryMap\":[[\"a\",\"A\\n\"]]}",
             MODULES "module index 0 has an invalid debug_id"),
        /* all modules are judged before any stack */
        CASE("{\"stacks\":1,\"memoryMap\":[[\"a\",\"1\"],2]}",
             MODULES "module index 1" NO_PAIR),
        CASE("{\"stacks\":{}," MAP "}",
             STACKS "stacks must be a list of lists"),
        CASE("{\"stacks\":\"\"," MAP "}",
             STACKS "stacks must be a list of lists"),
        CASE("{\"stacks\":null," MAP "}",
             STACKS "stacks must be a list of lists"),
        CASE("{\"stacks\":[]," MAP "}", STACKS "no stacks specified"),
        CASE("{\"stacks\":[[],1]," MAP "}", STACKS "stack 1 is not a list"),
        CASE("{\"stacks\":[\"ab\"]," MAP "}", STACKS "stack 0 is not a list"),
        CASE("{\"stacks\":[[[0,1],[0]]]," MAP "}",
             STACKS "stack 0 frame 1 is not a list of two items"),
        CASE("{\"stacks\":[[],[[0,1,2]]]," MAP "}",
             STACKS "stack 1 frame 0 is not a list of two items"),
        CASE("{\"stacks\":[[\"ab\"]]," MAP "}",
             STACKS "stack 0 frame 0 is not a list of two items"),
        CASE("{\"stacks\":[[[]]]," MAP "}",
             STACKS "stack 0 frame 0 is not a list of two items"),
        CASE("{\"stacks\":[[[\"0\",1]]]," MAP "}",
             STACKS "stack 0 frame 0 has an invalid module_index"),
        CASE("{\"stacks\":[[[null,1]]]," MAP "}",
             STACKS "stack 0 frame 0 has an invalid module_index"),
        CASE("{\"stacks\":[[[0.0,1]]]," MAP "}",
             STACKS "stack 0 frame 0 has an invalid module_index"),
        CASE("{\"stacks\":[[[1e0,1]]]," MAP "}",
             STACKS "stack 0 frame 0 has an invalid module_index"),
        CASE("{\"stacks\":[[[NaN,\"x\"]]]," MAP "}",
             STACKS "stack 0 frame 0 has an invalid module_index"),
        CASE("{\"stacks\":[[[1,1]]]," MAP "}",
             STACKS "stack 0 frame 0 has a module_index that isn't in modules"),
        CASE("{\"stacks\":[[[-2,1]]]," MAP "}",
             STACKS "stack 0 frame 0 has a module_index that isn't in modules"),
        CASE("{\"stacks\":[[[0,1],[true,1]]]," MAP "}",
             STACKS "stack 0 frame 1 has a module_index that isn't in modules"),
        CASE("{\"stacks\":[[[4294967296,1]]]," MAP "}",
             STACKS "stack 0 frame 0 has a module_index that isn't in modules"),
        CASE("{\"stacks\":[[[18446744073709551616,1]]]," MAP "}",
             STACKS "stack 0 frame 0 has a module_index that isn't in modules"),
        CASE("{\"stacks\":[[[0,1]]],\"memoryMap\":[]}",
             STACKS "stack 0 frame 0 has a module_index that isn't in modules"),
        CASE("{\"stacks\":[[[5,\"x\"]]]," MAP "}",
             STACKS "stack 0 frame 0 has a module_index that isn't in modules"),
        CASE("{\"stacks\":[[[0,-2]]]," MAP "}",
             STACKS "stack 0 frame 0 has an invalid module_offset"),
        CASE("{\"stacks\":[[[0,-99999999999999999999]]]," MAP "}",
             STACKS "stack 0 frame 0 has an invalid module_offset"),
    };
    static const case_t v5[] = {
        CASE("{\"stacks\":[[[0,1.0]]]," MAP "}",
             STACKS "stack 0 frame 0 has an invalid module_offset"),
        CASE("{\"stacks\":[[[0,1e3]]]," MAP "}",
             STACKS "stack 0 frame 0 has an invalid module_offset"),
        CASE("{\"stacks\":[[[0,\"1\"]]]," MAP "}",
             STACKS "stack 0 frame 0 has an invalid module_offset"),
        CASE("{\"stacks\":[[[0,null]]]," MAP "}",
             STACKS "stack 0 frame 0 has an invalid module_offset"),
        CASE("{\"stacks\":[[[0,[]]]]," MAP "}",
             STACKS "stack 0 frame 0 has an invalid module_offset"),
        CASE("{\"stacks\":[[[0,-Infinity]]]," MAP "}",
             STACKS "stack 0 frame 0 has an invalid module_offset"),
        CASE("{\"jobs\":null}", "job 0 is invalid"),
        CASE("{\"jobs\":3}", "job 0 is invalid"),
        CASE("{\"jobs\":true}", "job 0 is invalid"),
        CASE("{\"jobs\":[3]}", "job 0 is invalid"),
        CASE("{\"jobs\":[[\"stacks\"]]}", "job 0 is invalid"),
        CASE("{\"jobs\":[{}]}", "job 0 is invalid: no stacks specified"),
        CASE("{\"jobs\":[{\"jobs\":[]}]}",
             "job 0 is invalid: no stacks specified"),
        CASE("{\"jobs\":[{\"stacks\":[[]]," MAP "},[]]}", "job 1 is invalid"),
        CASE("{\"jobs\":[{\"stacks\":[[]]," MAP "},{\"stacks\":[[]]," MAP
             "},{\"stacks\":[[7]],\"memoryMap\":[]}]}",
             "job 2 has invalid stacks: stack 0 frame 0 is not a list of two "
             "items"),
        /* the key decides, not the members next to it */
        CASE("{\"stacks\":[[]]," MAP ",\"jobs\":[3]}", "job 0 is invalid"),
        /* the last of equal keys counts */
        CASE("{\"stacks\":[[]]," MAP ",\"stacks\":[]}",
             STACKS "no stacks specified"),
        CASE("{\"jobs\":[],\"jobs\":[1]}", "job 0 is invalid"),
    };
    static const case_t v4[] = {
        CASE("{\"jobs\":[]}", "job 0 is invalid: no stacks specified"),
        CASE("{\"jobs\":[{\"stacks\":[[]]," MAP "}]}",
             "job 0 is invalid: no stacks specified"),
    };

    CHECK_ALL(5, cases);
    CHECK_ALL(4, cases);
    CHECK_ALL(5, v5);
    CHECK_ALL(4, v4);
}

#define ONE(frame) "{\"results\": [{\"stacks\": [[" frame "]], "
#define FRAME(offset)                                                          \
    "{\"frame\": 0, \"module\": \"a.so\", \"module_offset\": \"" offset "\"}"
#define MISS FOUND "false}}]}"

/* Requests that look odd and are served. */
static void
accepted(void)
{
    static const case_t v5[] = {
        CASE("{\"jobs\":[]}", "{\"results\": []}"),
        CASE(" \t\r\n{ \"jobs\" : [ ] } \n", "{\"results\": []}"),
        CASE("\xef\xbb\xbf{\"jobs\":[]}", "{\"results\": []}"),
        CASE("{\"jobs\":{}}", "{\"results\": []}"),
        CASE("{\"jobs\":\"\"}", "{\"results\": []}"),
        CASE("{\"jobs\":[1],\"jobs\":[]}", "{\"results\": []}"),
        CASE("{\"jobs\":[],\"x\":[NaN,-Infinity,Infinity,1e400],\"y\":{}}",
             "{\"results\": []}"),
        CASE("{\"jobs\":[],\"\\ud800\":\"\\udc00\\ud800\\ud83d\\ude00\"}",
             "{\"results\": []}"),
        CASE("{\"jobs\":[],\"\\u0000\":\"\\u0000\"}", "{\"results\": []}"),
        CASE("{\"jobs\":[],\"\":\"\xf0\x9f\x98\x80\"}", "{\"results\": []}"),
        CASE("{\"\\u006aobs\":[]}", "{\"results\": []}"),
        CASE("{\"stacks\":[[]],\"memoryMap\":[]}",
             "{\"results\": [{\"stacks\": [[]], \"found_modules\": {}}]}"),
        CASE("{\"memoryMap\":[],\"stacks\":[[[-1,-1]]]}",
             ONE("{\"frame\": 0, \"module\": \"<unknown>\", \"module_offset\": "
                 "\"-0x1\"}") "\"found_modules\": {}}]}"),
        CASE("{\"stacks\":[[[0,21376]]]," MAP "}", ONE(FRAME("0x5380")) MISS),
        CASE("{\"stacks\":[[[false,true]]]," MAP "}", ONE(FRAME("0x1")) MISS),
        CASE("{\"stacks\":[[[-0,-0]]]," MAP "}", ONE(FRAME("0x0")) MISS),
        CASE("{\"stacks\":[[[0,4294967295]]]," MAP "}",
             ONE(FRAME("0xffffffff")) MISS),
        CASE("{\"stacks\":[[[0,4294967296]]]," MAP "}",
             ONE(FRAME("0x100000000")) MISS),
        CASE("{\"stacks\":[[[0,999999999999999999]]]," MAP "}",
             ONE(FRAME("0xde0b6b3a763ffff")) MISS),
        CASE("{\"stacks\":[[[0,18446744073709551615]]]," MAP "}",
             ONE(FRAME("0xffffffffffffffff")) MISS),
        CASE("{\"stacks\":[[[0,18446744073709551616]]]," MAP "}",
             ONE(FRAME("0x10000000000000000")) MISS),
        CASE("{\"stacks\":[[[0,340282366920938463463374607431768211456]]]," MAP
             "}",
             ONE(FRAME("0x100000000000000000000000000000000")) MISS),
        CASE("{\"stacks\":[[[0,100000000000000000000000000000000000000000]]]"
             "," MAP "}",
             ONE(FRAME("0x125dfa371a19e6f7cb54395ca0000000000")) MISS),
        /* any order of keys is valid, with any members in between */
        CASE("{ \"version\" : 5 , \"a\":null,\"b\":false,\"c\":\"}]\" , "
             "\"stacks\" : [ [ [ 0 , 1 ] ] ] , \"memoryMap\" : [ [ \"a.so\" , "
             "\"" ID "\" ] ] } ",
             ONE(FRAME("0x1")) MISS),
        CASE("{\"memoryMap\":[[\"\\u0061.so\",\"" ID "\"]],\"stacks\":[[[0,1]]]"
             "}",
             ONE(FRAME("0x1")) MISS),
        /* no name, no id: nothing to look up */
        CASE("{\"stacks\":[[[0,1],[1,2]]],\"memoryMap\":[[\"\",\"" ID
             "\"],[\"b\",\"\"]]}",
             "{\"results\": [{\"stacks\": [[{\"frame\": 0, \"module\": "
             "\"<unknown>\", \"module_offset\": \"0x1\"}, {\"frame\": 1, "
             "\"module\": \"b\", \"module_offset\": \"0x2\"}]], "
             "\"found_modules\": {\"/" ID "\": null, \"b/\": null}}]}"),
        /* equal entries share a key, in the first one's position; case
         * matters */
        CASE("{\"stacks\":[[[2,1]]],\"memoryMap\":[[\"b\",\"AB\"],[\"c\",\"1\"]"
             ",[\"b\",\"AB\"],[\"b\",\"ab\"]]}",
             "{\"results\": [{\"stacks\": [[{\"frame\": 0, \"module\": \"b\", "
             "\"module_offset\": \"0x1\"}]], \"found_modules\": {\"b/AB\": "
             "false, \"c/1\": null, \"b/ab\": null}}]}"),
        /* a module is looked up once for all jobs */
        CASE("{\"jobs\":[{\"stacks\":[[[0,1]]]," MAP "},{\"stacks\":[[]]," MAP
             "}]}",
             ONE(FRAME("0x1")) FOUND "false}}, {\"stacks\": [[]], " MISS),
        CASE("{\"stacks\":[[[0,1]]],\"memoryMap\":[[\"a +~@<>{}.-_\",\"aF\"]]}",
             "{\"results\": [{\"stacks\": [[{\"frame\": 0, \"module\": \"a "
             "+~@<>{}.-_\", \"module_offset\": \"0x1\"}]], \"found_modules\": "
             "{\"a +~@<>{}.-_/aF\": false}}]}"),
    };
    static const case_t v4[] = {
        CASE(
            "{\"stacks\":[[[-1,11723767],[0,0]],[],[[0,4294967296]]]," MAP "}",
            "{\"symbolicatedStacks\": [[\"0xb2e3f7 (in <unknown>)\", \"0x0 (in "
            "a.so)\"], [], [\"0x100000000 (in a.so)\"]], \"knownModules\": "
            "[false]}"),
        CASE("{\"stacks\":[[[1,true]]],\"memoryMap\":[[\"b\",\"AB\"],[\"c\","
             "\"1\"],[\"c\",\"1\"],[\"\",\"1\"]]}",
             "{\"symbolicatedStacks\": [[\"0x1 (in c)\"]], \"knownModules\": "
             "[null, false, false, null]}"),
        /* an offset that is not an integer is returned unchanged */
        CASE("{\"stacks\":[[[0,1.00000],[0,16]]]," MAP "}",
             "{\"symbolicatedStacks\": [[\"1.00000\", \"0x10 (in a.so)\"]], "
             "\"knownModules\": [false]}"),
        CASE("{\"stacks\":[[[0,-1E+3],[0,NaN],[0,-Infinity],[0,null],[0,"
             "\"a\\\"\xc3\xa9\\u00e9\\n\"],[-1,\"\"]]]," MAP "}",
             "{\"symbolicatedStacks\": [[\"-1E+3\", \"NaN\", \"-Infinity\", "
             "\"null\", \"a\\\"\\u00e9\\u00e9\\n\", \"\"]], \"knownModules\": "
             "[null]}"),
        CASE("{\"jobs\":7,\"stacks\":[[]],\"memoryMap\":[]}",
             "{\"symbolicatedStacks\": [[]], \"knownModules\": []}"),
    };

    CHECK_ALL(5, v5);
    CHECK_ALL(4, v4);
}


/* Digits of an integer, brackets of lists: as deep as the limits say. */
static void
extremes(void)
{
    static char body[40000];
    static const char head[] = "{\"stacks\":[[[-1,", tail[] =
                                                         "]]],\"memoryMap\":"
                                                         "[]}";
    size_t digits[] = { 4300, 4301 };

    for (size_t i = 0; i < 2; i++) {
        kit_options_t o = { .version = 5 };
        kit_result_t r;
        char *p = body;

        memcpy(p, head, sizeof(head) - 1);
        p += sizeof(head) - 1;
        memset(p, '9', digits[i]);
        p += digits[i];
        memcpy(p, tail, sizeof(tail) - 1);
        p += sizeof(tail) - 1;

        r = kit_run(sym_str(body, (size_t) (p - body)), &o);
        if (digits[i] == 4300) {
            /* 10^4300 - 1 has 3572 hexadecimal digits: 4300 * log16(10) */
            const char *hex = r.text == NULL ? NULL : strstr(r.text, "0x");

            ok(r.status == SYM_OK && hex != NULL
                   && strspn(hex + 2, "0123456789abcdef") == 3572,
               "an offset of 4300 digits");
        } else {
            ok(r.status == SYM_MALFORMED && strcmp(r.text, JSON) == 0,
               "an integer of 4301 digits");
        }
        free(r.text);
    }

    for (size_t depth = 500; depth <= 20000; depth += 19500) {
        kit_options_t o = { .version = 5 };
        kit_result_t r;
        static const char jobs[] = "{\"jobs\":[],\"x\":";
        char *p = body;

        memcpy(p, jobs, sizeof(jobs) - 1);
        p += sizeof(jobs) - 1;
        memset(p, '[', depth / 2);
        memset(p + depth / 2, ']', depth / 2);
        p += depth;
        *p++ = '}';
        r = kit_run(sym_str(body, (size_t) (p - body)), &o);
        ok(depth == 500
               ? r.status == SYM_OK
               : r.status == SYM_MALFORMED && strcmp(r.text, JSON) == 0,
           "lists %zu deep", depth / 2);
        free(r.text);
    }
}


/* A body that is larger than the input of jansson. */
static void
unknown_values(void)
{
    static char body[(5 << 20) + 256];
    static const char *const values[] = {
        "[]",
        "{\"a\":[1.5,{\"b\":null}]}",
        "\"C:\\\\a \\u00e9\"",
        "-1e9",
    };
    const kit_options_t o = { .version = 5, .budget = 1 };

    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        int n =
            sprintf(body, "{\"stacks\":[[[0,1]]]," MAP ",\"x\":%s,\"pad\":\"",
                    values[i]);
        kit_result_t r;

        memset(body + n, 'x', 5 << 20);
        n += 5 << 20;
        n += sprintf(body + n, "\"}");
        r = kit_run(sym_str(body, (size_t) n), &o);
        ok(r.status == SYM_OK && r.stats.frames == 1,
           "5 MiB with an unknown %s", values[i]);
        free(r.text);
    }
}


/* A request at the limit is served, one more is refused. */
static void
limits(void)
{
    static const char two_jobs[] =
        "{\"jobs\":[{\"stacks\":[[[0,1]],[[0,2]]]," MAP
        "},{\"stacks\":[[],[[0,3]]]," MAP "}]}";
    static const struct {
        sym_request_limits_t limits;
        const char *want;
    } cases[] = {
        { { .jobs = 1 },
          "please limit number of jobs in a single request to <= 1" },
        { { .stacks = 1 },
          "please limit number of stacks in a single job to <= 1" },
        { { .frames = 2 },
          "please limit number of frames in a single request to <= 2" },
    };
    sym_str_t body = { two_jobs, sizeof(two_jobs) - 1 };
    const kit_options_t all = { .version = 5, .limits = { 2, 2, 3, 1 } };
    kit_result_t r = kit_run(body, &all);

    ok(r.status == SYM_OK && r.stats.jobs == 2 && r.stats.stacks == 4
           && r.stats.frames == 3 && r.stats.modules == 1
           && r.stats.missing == 1,
       "exactly what the limits allow, and counted");
    free(r.text);

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        check(5, body, cases[i].limits, cases[i].want);
    }

    check(5,
          SYM_STR("{\"stacks\":[[[0,1]]],\"memoryMap\":[[\"a\",\"1\"],[\"b\","
                  "\"2\"]]}"),
          (sym_request_limits_t){ .modules = 1 },
          "please limit number of modules in a single job to <= 1");
    check(4, SYM_STR("{\"stacks\":[[],[]],\"memoryMap\":[]}"),
          (sym_request_limits_t){ .jobs = 1, .stacks = 1 },
          "please limit number of stacks in a single job to <= 1");
    check(4, SYM_STR("{\"stacks\":[[[-1,1],[-1,\"x\"]]],\"memoryMap\":[]}"),
          (sym_request_limits_t){ .frames = 1 },
          "please limit number of frames in a single request to <= 1");
    /* too many are detected before any of them is read */
    check(5, SYM_STR("{\"jobs\":[1,2]}"), (sym_request_limits_t){ .jobs = 1 },
          "please limit number of jobs in a single request to <= 1");
}


/* Long integers cost time quadratic in their digits, so there is a limit. */
static void
long_integers(void)
{
    static const struct {
        size_t n, digits;
        bool served;
    } cases[] = { { 200, 4300, true },
                  { 201, 4300, false },
                  { 20000, 40, true } };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        kit_options_t o = { .version = 5 };
        char *body = malloc(100 + cases[i].n * (cases[i].digits + 10));
        char *p = body;
        kit_result_t r;

        p += sprintf(p, "{\"memoryMap\":[],\"stacks\":[[[-1,1]");
        for (size_t k = 0; k < cases[i].n; k++) {
            p += sprintf(p, ",[-1,");
            memset(p, '9', cases[i].digits);
            p += cases[i].digits;
            *p++ = ']';
        }
        p += sprintf(p, "]]}");

        r = kit_run(sym_str(body, (size_t) (p - body)), &o);
        ok(cases[i].served
               ? r.status == SYM_OK
               : r.status == SYM_LIMIT
                     && strcmp(r.text, "please limit number of integers beyond "
                                       "64 bits in a single request")
                            == 0,
           "%zu integers of %zu digits", cases[i].n, cases[i].digits);
        free(r.text);
        free(body);
    }
}


int
main(void)
{
    not_json();
    messages();
    accepted();
    extremes();
    unknown_values();
    limits();
    long_integers();
    return done_testing();
}
