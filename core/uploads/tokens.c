#include "uploads/tokens.h"

#include <stdio.h>
#include <string.h>

#include "base/date.h"
#include "base/digits.h"
#include "base/hex.h"

static sym_status_t
fail(sym_error_t *err, uint64_t line, const char *what)
{
    if (err->status == SYM_OK) {
        err->line = line;
    }

    return sym_fail(err, SYM_MALFORMED, what);
}


/* Takes the next word of a line; "": none. */
static sym_str_t
next_word(sym_str_t *line)
{
    sym_str_t word;

    while (line->len != 0 && (*line->data == ' ' || *line->data == '\t')) {
        line->data++;
        line->len--;
    }

    word = sym_str(line->data, 0);
    while (line->len != 0 && *line->data != ' ' && *line->data != '\t') {
        line->data++;
        line->len--;
        word.len++;
    }

    return word;
}


static bool
read_hash(sym_str_t word, uint8_t hash[SYM_SHA256_LEN])
{
    return word.len == SYM_SHA256_HEX_LEN
           && sym_digits_read(word.data, SYM_SHA256_LEN, hash);
}


static bool
read_rights(sym_str_t list, unsigned *rights)
{
    *rights = 0;
    while (list.data != NULL) {
        sym_str_t word = sym_str_cut(&list, ',');

        if (sym_str_eq(word, SYM_STR("upload"))) {
            *rights |= SYM_UPLOAD_MAY_UPLOAD;
        } else if (sym_str_eq(word, SYM_STR("try"))) {
            *rights |= SYM_UPLOAD_MAY_TRY;
        } else {
            return false;
        }
    }

    return true;
}


/* Returns the end of the day. */
static bool
read_date(sym_str_t date, uint64_t *expires_s)
{
    char text[SYM_ISO_DATE_LEN + 1];

    if (date.len != 10) {
        return false;
    }

    (void) snprintf(text, sizeof(text), "%.10sT00:00:00Z", date.data);
    if (!sym_iso_date_read(sym_str(text, SYM_ISO_DATE_LEN), expires_s)) {
        return false;
    }

    *expires_s += 86400;
    return true;
}


/* Returns the value of "KEY=VALUE". */
static bool
is_key(sym_str_t word, sym_str_t key, sym_str_t *value)
{
    if (!sym_str_starts(word, key) || word.len == key.len) {
        return false;
    }

    *value = sym_str(word.data + key.len, word.len - key.len);
    return true;
}


static bool
read_option(sym_arena_t *arena, sym_str_t word, sym_upload_token_t *t)
{
    sym_str_t value;
    uint64_t n;

    if (is_key(word, SYM_STR("rights="), &value)) {
        return read_rights(value, &t->rights);
    }
    if (is_key(word, SYM_STR("sources="), &value)) {
        t->sources = sym_arena_copy(arena, value);
        return t->sources.data != NULL;
    }
    if (is_key(word, SYM_STR("expires="), &value)) {
        return read_date(value, &t->expires_s);
    }
    if (is_key(word, SYM_STR("bytes="), &value)) {
        return sym_dec_read(value, &t->bytes) && t->bytes != 0;
    }
    if (is_key(word, SYM_STR("at_once="), &value) && sym_dec_read(value, &n)
        && n >= 1 && n <= 1000)
    {
        t->at_once = (unsigned) n;
        return true;
    }
    if (is_key(word, SYM_STR("mozilla="), &value) && sym_dec_read(value, &n)
        && (n == 1 || n == 2))
    {
        t->version = (unsigned) n;
        return true;
    }

    return false;
}


static sym_status_t
read_line(sym_arena_t *arena, sym_str_t line, uint64_t number,
          sym_upload_token_t *t, sym_error_t *err)
{
    sym_str_t word = next_word(&line);

    *t = (sym_upload_token_t){ .rights =
                                   SYM_UPLOAD_MAY_UPLOAD | SYM_UPLOAD_MAY_TRY,
                               .at_once = SYM_UPLOAD_AT_ONCE,
                               .version = 1 };
    if (!read_hash(word, t->hash)) {
        return fail(err, number,
                    "the line does not begin with a SHA-256 of 64 digits");
    }

    t->name = sym_arena_copy(arena, next_word(&line));
    if (t->name.data == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }
    if (t->name.len == 0) {
        return fail(err, number, "the token has no name");
    }

    while ((word = next_word(&line)).len != 0) {
        if (!read_option(arena, word, t)) {
            return fail(err, number,
                        "not one of rights=, sources=, expires=YYYY-MM-DD, "
                        "bytes=NUMBER, at_once=NUMBER, mozilla=1|2");
        }
    }

    return SYM_OK;
}


/* Takes the next line; data NULL: none. */
static sym_str_t
next_line(sym_str_t *text)
{
    sym_str_t line = sym_str_cut(text, '\n');

    if (line.len != 0 && line.data[line.len - 1] == '\r') {
        line.len--;
    }

    return line;
}


sym_status_t
sym_upload_tokens_read(sym_arena_t *arena, sym_str_t text,
                       sym_upload_tokens_t *tokens, sym_error_t *err)
{
    sym_upload_token_t *list =
        sym_arena_calloc(arena, SYM_UPLOAD_TOKENS_MAX, sizeof(*list));
    uint64_t number = 0;

    *tokens = (sym_upload_tokens_t){ .list = list };
    if (list == NULL) {
        return sym_fail(err, SYM_NOMEM, NULL);
    }

    while (text.data != NULL) {
        sym_str_t line = next_line(&text), rest = line;

        number++;
        if (next_word(&rest).len == 0 || *line.data == '#') {
            continue;
        }
        if (tokens->n == SYM_UPLOAD_TOKENS_MAX) {
            return sym_fail(err, SYM_LIMIT, "more than 4096 tokens");
        }
        if (read_line(arena, line, number, &list[tokens->n], err) != SYM_OK) {
            return err->status;
        }
        tokens->n++;
    }

    return SYM_OK;
}


bool
sym_upload_secret_is(sym_str_t a, sym_str_t b)
{
    unsigned differ = a.len != b.len;

    for (size_t i = 0; i < a.len && i < b.len; i++) {
        differ |= (unsigned) (a.data[i] ^ b.data[i]);
    }

    return differ == 0;
}


static sym_str_t
hash_of(const uint8_t hash[SYM_SHA256_LEN])
{
    return sym_str((const char *) hash, SYM_SHA256_LEN);
}


const sym_upload_token_t *
sym_upload_token_find(const sym_upload_tokens_t *tokens, sym_str_t secret)
{
    const sym_upload_token_t *found = NULL;
    sym_sha256_t hash;

    if (!sym_sha256(secret, &hash)) {
        return NULL;
    }

    for (size_t i = 0; i < tokens->n; i++) {
        if (sym_upload_secret_is(hash_of(tokens->list[i].hash),
                                 hash_of(hash.bytes))) {
            found = &tokens->list[i];
        }
    }

    return found;
}


uint32_t
sym_upload_token_id(const sym_upload_token_t *token)
{
    uint32_t id = 0;

    if (token != NULL) {
        memcpy(&id, token->hash, sizeof(id));
    }

    return id & INT32_MAX;
}


const sym_upload_token_t *
sym_upload_token_by_id(const sym_upload_tokens_t *tokens, uint32_t id)
{
    for (size_t i = 0; i < tokens->n; i++) {
        if (sym_upload_token_id(&tokens->list[i]) == id) {
            return &tokens->list[i];
        }
    }

    return NULL;
}


bool
sym_upload_token_is_try(const sym_upload_token_t *token)
{
    return token != NULL && (token->rights & SYM_UPLOAD_MAY_UPLOAD) == 0;
}


bool
sym_upload_token_has_source(const sym_upload_token_t *token, sym_str_t source)
{
    sym_str_t list = token->sources;

    if (list.len == 0) {
        return true;
    }

    while (list.data != NULL) {
        if (sym_str_eq(sym_str_cut(&list, ','), source)) {
            return true;
        }
    }

    return false;
}
