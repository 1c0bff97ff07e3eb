#include "sources/aws/credentials.h"

#include "base/date.h"
#include "json/load.h"

/* --- checks for every source --- */

static sym_status_t
fail_part(sym_error_t *err, sym_status_t status, const char *what,
          const char *section, size_t at)
{
    if (err->status == SYM_OK) {
        err->section = section;
        err->offset = at;
    }

    return sym_fail(err, status, what);
}


static sym_status_t
check_part(sym_str_t s, size_t max, const char *section, const char *forbidden,
           sym_error_t *err)
{
    if (s.len > max) {
        return fail_part(err, SYM_LIMIT, "too long", section, max);
    }

    for (size_t i = 0; i < s.len; i++) {
        if (s.data[i] < 0x21 || s.data[i] > 0x7e
            || strchr(forbidden, s.data[i]) != NULL)
        {
            return fail_part(err, SYM_MALFORMED, "a byte that no key may hold",
                             section, i);
        }
    }

    return SYM_OK;
}


sym_status_t
sym_aws_credentials_check(const sym_aws_credentials_t *c, sym_error_t *err)
{
    if (c->access_key.len == 0) {
        return fail_part(err, SYM_MALFORMED, "empty", "access key id", 0);
    }
    if (c->secret_key.len == 0) {
        return fail_part(err, SYM_MALFORMED, "empty", "secret access key", 0);
    }

    if (check_part(c->access_key, SYM_AWS_ACCESS_KEY_MAX, "access key id",
                   ",=", err)
            != SYM_OK
        || check_part(c->secret_key, SYM_AWS_SECRET_KEY_MAX,
                      "secret access key", "", err)
               != SYM_OK
        || check_part(c->token, SYM_AWS_TOKEN_MAX, "session token", "", err)
               != SYM_OK)
    {
        return err->status;
    }

    return SYM_OK;
}


/* Checks keys and copies them from a text that is freed later. */
static sym_status_t
keep(sym_arena_t *arena, const sym_aws_credentials_t *found,
     sym_aws_credentials_t *out, sym_error_t *err)
{
    sym_aws_credentials_t c = *found;

    if (sym_aws_credentials_check(found, err) != SYM_OK) {
        return err->status;
    }

    c.access_key = sym_arena_copy(arena, found->access_key);
    c.secret_key = sym_arena_copy(arena, found->secret_key);
    c.token = sym_arena_copy(arena, found->token);

    if (c.access_key.data == NULL || c.secret_key.data == NULL
        || c.token.data == NULL)
    {
        return sym_fail(err, SYM_NOMEM, "no memory for AWS keys");
    }

    *out = c;
    return SYM_OK;
}


/* --- JSON --- */

static sym_str_t
member(const json_t *root, const char *name)
{
    const json_t *value = json_object_get(root, name);

    return json_is_string(value)
               ? sym_str(json_string_value(value), json_string_length(value))
               : sym_str(NULL, 0);
}


static sym_status_t
read_answer(sym_arena_t *arena, const json_t *root, sym_aws_credentials_t *out,
            sym_error_t *err)
{
    sym_aws_credentials_t c = { 0 };
    sym_str_t expiration;

    if (!json_is_object(root)) {
        return sym_fail(err, SYM_MALFORMED, "the answer is not a JSON object");
    }

    if (json_object_get(root, "Code") != NULL
        && !sym_str_eq(member(root, "Code"), SYM_STR("Success")))
    {
        return sym_fail(err, SYM_UNSUPPORTED,
                        "the answer's Code is not Success");
    }

    c.access_key = member(root, "AccessKeyId");
    c.secret_key = member(root, "SecretAccessKey");
    c.token = member(root, "Token");
    expiration = member(root, "Expiration");

    if (c.access_key.data == NULL) {
        return sym_fail(err, SYM_MALFORMED, "the answer has no AccessKeyId");
    }
    if (c.secret_key.data == NULL) {
        return sym_fail(err, SYM_MALFORMED,
                        "the answer has no SecretAccessKey");
    }
    /* both endpoints return temporary keys, which are useless without the token
     * and the expiry time */
    if (c.token.len == 0) {
        return sym_fail(err, SYM_MALFORMED, "the answer has no Token");
    }
    if (expiration.data == NULL) {
        return sym_fail(err, SYM_MALFORMED, "the answer has no Expiration");
    }
    if (!sym_iso_date_read(expiration, &c.expires_s)) {
        return sym_fail(err, SYM_MALFORMED,
                        "Expiration is not like 2012-05-17T15:09:54Z");
    }

    return keep(arena, &c, out, err);
}


sym_status_t
sym_aws_credentials_json(sym_arena_t *arena, sym_str_t text,
                         sym_aws_credentials_t *out, sym_error_t *err)
{
    sym_json_t json;

    *out = (sym_aws_credentials_t){ 0 };

    if (err->status != SYM_OK) {
        return err->status;
    }
    if (text.len > SYM_AWS_ANSWER_MAX) {
        return sym_fail(err, SYM_LIMIT, "the answer is too long");
    }

    /* two keys with the same name would be ambiguous */
    if (sym_json_load(&json, text, SYM_JSON_MEMORY_MAX, JSON_REJECT_DUPLICATES,
                      "the answer is not JSON", err)
        == SYM_OK)
    {
        (void) read_answer(arena, json.root, out, err);
    }

    sym_json_drop(&json);
    return err->status;
}


/* --- the shared credentials file --- */

typedef struct {
    sym_str_t profile;            /* requested profile */
    sym_aws_credentials_t *found; /* views into the text; data NULL: not yet
                                     read */
    bool is_in_section;           /* the current line is in a profile */
    bool is_ours;                 /* the current line is in the requested one */
    bool is_profile_seen;
    bool is_nesting; /* the last value was empty, so indented lines belong to
                        it */
} ini_t;

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}


static sym_str_t
trim(sym_str_t s)
{
    while (s.len > 0 && is_blank(s.data[0])) {
        s = sym_str(s.data + 1, s.len - 1);
    }
    while (s.len > 0 && is_blank(s.data[s.len - 1])) {
        s.len--;
    }

    return s;
}


/* `want` is in lower case */
static bool
is_name(sym_str_t s, sym_str_t want)
{
    if (s.len != want.len) {
        return false;
    }

    for (size_t i = 0; i < s.len; i++) {
        if (sym_lower(s.data[i]) != want.data[i]) {
            return false;
        }
    }

    return true;
}


static sym_status_t
read_section(ini_t *ini, sym_str_t line, sym_error_t *err)
{
    const char *end = memchr(line.data, ']', line.len);
    size_t len = end == NULL ? 0 : (size_t) (end - line.data);
    sym_str_t name, rest;

    if (end == NULL) {
        return sym_fail(err, SYM_MALFORMED, "a [profile] without its ]");
    }

    name = trim(sym_str(line.data + 1, len - 1));
    rest = trim(sym_str(end + 1, line.len - len - 1));

    if (name.len == 0) {
        return sym_fail(err, SYM_MALFORMED, "a [profile] without a name");
    }
    if (rest.len != 0 && rest.data[0] != '#' && rest.data[0] != ';') {
        return sym_fail(err, SYM_MALFORMED, "text after a [profile]");
    }

    ini->is_in_section = true;
    ini->is_nesting = false;
    ini->is_ours = sym_str_eq(name, ini->profile);
    ini->is_profile_seen = ini->is_profile_seen || ini->is_ours;
    return SYM_OK;
}


static sym_status_t
read_setting(ini_t *ini, sym_str_t line, sym_error_t *err)
{
    const char *equals = memchr(line.data, '=', line.len);
    size_t len = equals == NULL ? 0 : (size_t) (equals - line.data);
    sym_str_t name = trim(sym_str(line.data, len)), value;
    sym_str_t *part = NULL;

    if (name.len == 0) {
        return sym_fail(err, SYM_MALFORMED,
                        "neither [profile] nor name = value nor # comment");
    }
    if (!ini->is_in_section) {
        return sym_fail(err, SYM_MALFORMED, "a setting before any [profile]");
    }

    value = trim(sym_str(equals + 1, line.len - len - 1));
    ini->is_nesting = value.len == 0;

    if (!ini->is_ours) {
        return SYM_OK;
    }

    if (is_name(name, SYM_STR("aws_access_key_id"))) {
        part = &ini->found->access_key;
    } else if (is_name(name, SYM_STR("aws_secret_access_key"))) {
        part = &ini->found->secret_key;
    } else if (is_name(name, SYM_STR("aws_session_token"))) {
        part = &ini->found->token;
    } else {
        return SYM_OK;
    }

    if (part->data != NULL) {
        return sym_fail(err, SYM_MALFORMED, "a key is given twice");
    }

    *part = value;
    return SYM_OK;
}


static sym_status_t
read_line(ini_t *ini, sym_str_t line, sym_error_t *err)
{
    bool is_indented = line.len > 0 && is_blank(line.data[0]);

    if (memchr(line.data, '\0', line.len) != NULL) {
        return sym_fail(err, SYM_MALFORMED, "a NUL");
    }

    line = trim(line);

    if (line.len == 0 || line.data[0] == '#' || line.data[0] == ';'
        || (is_indented && ini->is_nesting))
    {
        return SYM_OK;
    }

    return line.data[0] == '[' ? read_section(ini, line, err)
                               : read_setting(ini, line, err);
}


static sym_status_t
read_lines(ini_t *ini, sym_str_t text, sym_error_t *err)
{
    size_t at = 0;

    for (uint64_t number = 1; at < text.len; number++) {
        const char *start = text.data + at;
        const char *end = memchr(start, '\n', text.len - at);
        size_t len = end != NULL ? (size_t) (end - start) : text.len - at;

        if (read_line(ini, sym_str(start, len), err) != SYM_OK) {
            err->section = "credentials file";
            err->line = number;
            err->offset = at;
            return err->status;
        }

        at += len + 1;
    }

    return SYM_OK;
}


sym_status_t
sym_aws_credentials_ini(sym_arena_t *arena, sym_str_t text, sym_str_t profile,
                        sym_aws_credentials_t *out, sym_error_t *err)
{
    sym_aws_credentials_t found = { 0 };
    ini_t ini = { .profile = profile, .found = &found };

    *out = (sym_aws_credentials_t){ 0 };

    if (err->status != SYM_OK) {
        return err->status;
    }
    if (text.len > SYM_AWS_INI_MAX) {
        return sym_fail(err, SYM_LIMIT, "the credentials file is too long");
    }
    if (profile.len > SYM_AWS_PROFILE_NAME_MAX) {
        return sym_fail(err, SYM_LIMIT, "the name of the profile is too long");
    }

    if (read_lines(&ini, text, err) != SYM_OK) {
        return err->status;
    }

    if (!ini.is_profile_seen) {
        return sym_fail(err, SYM_NOT_FOUND,
                        "the credentials file has no such profile");
    }
    if (found.access_key.data == NULL) {
        return sym_fail(err, SYM_MALFORMED,
                        "the profile has no aws_access_key_id");
    }
    if (found.secret_key.data == NULL) {
        return sym_fail(err, SYM_MALFORMED,
                        "the profile has no aws_secret_access_key");
    }

    return keep(arena, &found, out, err);
}
