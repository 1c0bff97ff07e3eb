/*
 * AWS keys are read from the two kinds of text in which services and users
 * write them.  A text that lacks a part, or whose keys could break out of a
 * header, gives none.  Texts that break a rule are in t/bad/aws/ (aws_bad.c).
 */
#include <stdlib.h>

#include "sources/aws/credentials.h"
#include "base/date.h"
#include "tap.h"

#define JSON(id, secret, token, expiration)                                    \
    "{\"AccessKeyId\":\"" id "\",\"SecretAccessKey\":\"" secret                \
    "\",\"Token\":\"" token "\",\"Expiration\":\"" expiration "\"}"
#define EXPIRATION "2012-05-17T15:09:54Z"

typedef struct {
    sym_arena_t arena;
    sym_aws_credentials_t keys;
    sym_error_t err;
} read_t;

static const sym_aws_credentials_t old = { .token = { "old", 3 } };

static read_t
read_json(sym_str_t text)
{
    read_t r = { .keys = old };

    sym_arena_init(&r.arena, 0);
    (void) sym_aws_credentials_json(&r.arena, text, &r.keys, &r.err);
    return r;
}


static read_t
read_ini(sym_str_t text, const char *profile)
{
    read_t r = { .keys = old };

    sym_arena_init(&r.arena, 0);
    (void) sym_aws_credentials_ini(&r.arena, text, sym_cstr(profile), &r.keys,
                                   &r.err);
    return r;
}


static void
is_read(read_t r, const char *id, const char *secret, const char *token,
        uint64_t expires_s, const char *name)
{
    is_status(r.err.status, SYM_OK, &r.err, name);
    is_str(r.keys.access_key, id, "... access key");
    is_str(r.keys.secret_key, secret, "... secret key");
    is_str(r.keys.token, token, "... token");
    is_u64(r.keys.expires_s, expires_s, "... expiry");
    sym_arena_drop(&r.arena);
}


static void
is_refused(read_t r, sym_status_t want, const char *name)
{
    is_status(r.err.status, want, &r.err, name);
    ok(r.keys.access_key.len == 0 && r.keys.secret_key.len == 0
           && r.keys.token.len == 0 && r.keys.expires_s == 0,
       "... no keys are returned");
    sym_arena_drop(&r.arena);
}


/* --- JSON --- */

static void
json(void)
{
    char *copy;
    sym_str_t text = SYM_STR(JSON("AKIA", "s/+=", "t", EXPIRATION));
    read_t r;

    is_read(
        read_json(SYM_STR("{\n  \"Code\" : \"Success\",\n"
                          "  \"LastUpdated\" : \"2012-04-26T16:39:16Z\",\n"
                          "  \"Type\" : \"AWS-HMAC\",\n"
                          "  \"AccessKeyId\" : \"ASIAIOSFODNN7EXAMPLE\",\n"
                          "  \"SecretAccessKey\" : "
                          "\"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\",\n"
                          "  \"Token\" : \"token\",\n"
                          "  \"Expiration\" : \"2017-05-17T15:09:54Z\"\n}")),
        "ASIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "token", 1495033794, "instance metadata");
    is_read(read_json(text), "AKIA", "s/+=", "t", 1337267394, "a container");
    is_read(read_json(SYM_STR("{\"Code\":\"Success\",\"RoleArn\":null,"
                              "\"Token\":\"\\u0074\",\"AccessKeyId\":\"i\","
                              "\"SecretAccessKey\":\"s\","
                              "\"Expiration\":\"" EXPIRATION "\"}")),
            "i", "s", "t", 1337267394, "any order, escapes, other members");

    for (size_t len = 0; len < text.len; len++) {
        r = read_json(sym_str(text.data, len));
        if (r.err.status != SYM_MALFORMED || r.keys.access_key.len != 0) {
            ok(false, "cut at %zu", len);
        }
        sym_arena_drop(&r.arena);
    }

    /* no result points into the text */
    copy = malloc(text.len);
    memcpy(copy, text.data, text.len);
    r = read_json(sym_str(copy, text.len));
    memset(copy, 'x', text.len);
    free(copy);
    is_read(r, "AKIA", "s/+=", "t", 1337267394, "after the text was freed");
}


/* A JSON text of len bytes. */
static read_t
read_padded(size_t len)
{
    sym_str_t text = SYM_STR(JSON("i", "s", "t", EXPIRATION));
    char *padded = malloc(len);
    read_t r;

    memset(padded, ' ', len);
    memcpy(padded, text.data, text.len);
    r = read_json(sym_str(padded, len));
    free(padded);
    return r;
}


/* One part is len bytes long, the others are short. */
static read_t
read_long(const char *format, size_t len)
{
    size_t size = len + 512;
    char *part = malloc(len + 1), *text = malloc(size);
    read_t r;

    memset(part, 'a', len);
    part[len] = '\0';
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    (void) snprintf(text, size, format, part);
#pragma GCC diagnostic pop
    r = text[0] == '{' ? read_json(sym_cstr(text))
                       : read_ini(sym_cstr(text), "p");
    free(part);
    free(text);
    return r;
}


static void
is_limit(const char *format, size_t max, const char *name)
{
    read_t r = read_long(format, max);

    is_status(r.err.status, SYM_OK, &r.err, name);
    sym_arena_drop(&r.arena);
    is_refused(read_long(format, max + 1), SYM_LIMIT, "... one byte more");
}


static void
limits(void)
{
    char *big = calloc(1, SYM_AWS_INI_MAX + 1);
    sym_str_t ini = SYM_STR("[p]\naws_access_key_id=i\n"
                            "aws_secret_access_key=s\n");
    read_t r;

    is_limit(JSON("%s", "s", "t", EXPIRATION), SYM_AWS_ACCESS_KEY_MAX,
             "JSON: the longest access key");
    is_limit(JSON("i", "%s", "t", EXPIRATION), SYM_AWS_SECRET_KEY_MAX,
             "JSON: the longest secret key");
    is_limit(JSON("i", "s", "%s", EXPIRATION), SYM_AWS_TOKEN_MAX,
             "JSON: the longest token");
    is_limit("[p]\naws_access_key_id=%s\naws_secret_access_key=s\n",
             SYM_AWS_ACCESS_KEY_MAX, "file: the longest access key");
    is_limit("[p]\naws_access_key_id=i\naws_secret_access_key=%s\n",
             SYM_AWS_SECRET_KEY_MAX, "file: the longest secret key");
    is_limit("[p]\naws_access_key_id=i\naws_secret_access_key=s\n"
             "aws_session_token=%s\n",
             SYM_AWS_TOKEN_MAX, "file: the longest token");

    is_read(read_padded(SYM_AWS_ANSWER_MAX), "i", "s", "t", 1337267394,
            "the longest answer");
    is_refused(read_padded(SYM_AWS_ANSWER_MAX + 1), SYM_LIMIT,
               "an answer too long");

    memset(big, '\n', SYM_AWS_INI_MAX + 1);
    memcpy(big, ini.data, ini.len);
    is_read(read_ini(sym_str(big, SYM_AWS_INI_MAX), "p"), "i", "s", "", 0,
            "the longest file");
    is_refused(read_ini(sym_str(big, SYM_AWS_INI_MAX + 1), "p"), SYM_LIMIT,
               "a file too long");

    memset(big, 'p', SYM_AWS_PROFILE_NAME_MAX + 1);
    big[SYM_AWS_PROFILE_NAME_MAX + 1] = '\0';
    is_refused(read_ini(ini, big), SYM_LIMIT,
               "a profile name that is too long");
    big[SYM_AWS_PROFILE_NAME_MAX] = '\0';
    is_refused(read_ini(ini, big), SYM_NOT_FOUND, "the longest name");

    /* nested as deeply as the text may be */
    memset(big, '[', SYM_AWS_ANSWER_MAX);
    r = read_json(sym_str(big, SYM_AWS_ANSWER_MAX));
    is_refused(r, SYM_MALFORMED, "JSON too deep");
    free(big);
}


/* --- the shared file --- */

static void
ini(void)
{
    sym_str_t text = SYM_STR("# a comment\n"
                             "[default]\n"
                             "aws_access_key_id = AKIAIOSFODNN7EXAMPLE\n"
                             "aws_secret_access_key=secret/+=\r\n"
                             "; another\n"
                             "\n"
                             "[ user 1 ] # spaces\n"
                             "  AWS_Access_Key_Id\t=\tid=1x\n"
                             "region = eu-west-1\n"
                             "s3 =\n"
                             "  aws_secret_access_key = nested\n"
                             "  no setting\n"
                             "aws_secret_access_key = s1\n"
                             "[empty]\n"
                             "[session]\n"
                             "aws_access_key_id = i2\n"
                             "[other]\n"
                             "aws_access_key_id = i3\n"
                             "[session]\n"
                             "aws_session_token = t2==\n"
                             "aws_secret_access_key = s2");

    is_read(read_ini(text, "default"), "AKIAIOSFODNN7EXAMPLE", "secret/+=", "",
            0, "the first profile");
    is_read(read_ini(text, "session"), "i2", "s2", "t2==", 0,
            "in pieces, with a token, no end of line");
    is_refused(read_ini(text, "user 1"), SYM_MALFORMED, "= in an access key");
    is_refused(read_ini(text, "empty"), SYM_MALFORMED, "an empty profile");
    is_refused(read_ini(text, "other"), SYM_MALFORMED, "no secret key");
    is_refused(read_ini(text, "Default"), SYM_NOT_FOUND, "case of a profile");
    is_refused(read_ini(text, ""), SYM_NOT_FOUND, "a profile without a name");
    is_refused(read_ini(SYM_STR(""), "default"), SYM_NOT_FOUND,
               "an empty file");
    is_refused(read_ini(sym_str(NULL, 0), "default"), SYM_NOT_FOUND, "NULL");
    is_read(read_ini(SYM_STR("[p]\ns3 =\n  x = 1\n  AWS_Access_Key_Id = no\n"
                             "AWS_Access_Key_Id = i\n"
                             " aws_secret_access_key = s\n"),
                     "p"),
            "i", "s", "", 0, "nested, any case, indented");
}


/* --- dates --- */

static void
dates(void)
{
    static const struct {
        const char *text;
        uint64_t time_s;
    } good[] = {
        { "1970-01-01T00:00:00Z", 0 },
        { "2000-02-29T23:59:59Z", 951868799 },
        { "2012-05-17T15:09:54Z", 1337267394 },
        { "2100-03-01T00:00:00Z", 4107542400 },
        { "9999-12-31T23:59:59Z", SYM_DATE_MAX_S },
    };
    static const char *const bad[] = {
        "",
        "2012-05-17T15:09:54",
        "2012-05-17T15:09:54z",
        "2012-05-17 15:09:54Z",
        "2012-05-17T15:09:54.0Z",
        "2012-05-17T15:09:54+00:00",
        " 2012-05-17T15:09:54Z",
        "2012-5-017T15:09:54Z",
        "2012-00-17T15:09:54Z",
        "2012-13-17T15:09:54Z",
        "2012-05-00T15:09:54Z",
        "2012-04-31T15:09:54Z",
        "2013-02-29T15:09:54Z",
        "2100-02-29T15:09:54Z",
        "2012-05-17T24:00:00Z",
        "2012-05-17T15:60:54Z",
        "2012-05-17T15:09:60Z",
        "1969-12-31T23:59:59Z",
        "-012-05-17T15:09:54Z",
    };
    char date[SYM_AMZ_DATE_LEN], iso_text[SYM_ISO_DATE_LEN];
    size_t different = 0;

    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        uint64_t time_s = 1;

        ok(sym_iso_date_read(sym_cstr(good[i].text), &time_s), "%s",
           good[i].text);
        is_u64(time_s, good[i].time_s, "... in seconds");
        ok(sym_iso_date_write(good[i].time_s, iso_text), "... and written");
        is_str(sym_str(iso_text, sizeof(iso_text)), good[i].text,
               "... the same");
    }
    ok(!sym_iso_date_write(SYM_DATE_MAX_S + UINT64_C(1), iso_text),
       "the year 10000 is refused");

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        uint64_t time_s = 7;

        ok(!sym_iso_date_read(sym_cstr(bad[i]), &time_s) && time_s == 7,
           "no date: '%s'", bad[i]);
    }

    /* about every second day up to the year 9999, written and read back */
    for (uint64_t t = 0; t <= SYM_DATE_MAX_S; t += 172787) {
        char iso[] = "yyyy-mm-ddThh:mm:ssZ";
        uint64_t back = 0;

        (void) sym_amz_date_write(t, date);
        memcpy(iso, date, 4);
        memcpy(iso + 5, date + 4, 2);
        memcpy(iso + 8, date + 6, 2);
        memcpy(iso + 11, date + 9, 2);
        memcpy(iso + 14, date + 11, 2);
        memcpy(iso + 17, date + 13, 2);
        different += !sym_iso_date_read(sym_cstr(iso), &back) || back != t;
    }
    is_u64(different, 0, "all days survive writing and reading");
}


static void
no_memory(void)
{
    read_t r = { .keys = old };

    sym_arena_init(&r.arena, 1);
    (void) sym_aws_credentials_json(
        &r.arena, SYM_STR(JSON("i", "s", "t", EXPIRATION)), &r.keys, &r.err);
    is_refused(r, SYM_NOMEM, "JSON without memory");

    r = (read_t){ .keys = old };
    sym_arena_init(&r.arena, 1);
    (void) sym_aws_credentials_ini(
        &r.arena,
        SYM_STR("[p]\naws_access_key_id=i\naws_secret_access_key=s\n"),
        SYM_STR("p"), &r.keys, &r.err);
    is_refused(r, SYM_NOMEM, "a file without memory");
}


int
main(void)
{
    json();
    limits();
    ini();
    dates();
    no_memory();
    return done_testing();
}
