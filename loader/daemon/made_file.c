#include "daemon/made_file.h"

#include <stdio.h>

/* Length of the text in a MAKE for symbols: the module's name, a slash, and its
 * debug id. */
static bool
read_module(submission_t *c, sym_str_t text, sym_error_t *err)
{
    const char *slash =
        text.len != 0 ? memrchr(text.data, '/', text.len) : NULL;
    sym_module_key_t key = { 0 };

    if (slash == NULL) {
        return sym_fail(err, SYM_MALFORMED, "not a module") == SYM_OK;
    }

    key.name = sym_str(text.data, (size_t) (slash - text.data));
    key.id = sym_str(slash + 1, text.len - key.name.len - 1);
    if (key.name.len > SYM_NAME_MAX || key.id.len > SYM_ID_MAX) {
        return sym_fail(err, SYM_MALFORMED, "not a module") == SYM_OK;
    }

    memcpy(c->conversion.make_name, key.name.data, key.name.len);
    if (key.id.len != 0) {
        store_upload_set_key(&c->conversion.upload, &key, NULL);
        c->conversion.has_key = true;
    }

    return true;
}


bool
made_file_begin(submission_t *c, const sym_rpc_message_t *m, const char *folder,
                sym_error_t *err)
{
    conversion_t *conversion = &c->conversion;

    if (m->kind > SYM_MAKE_LAST) {
        return sym_fail(err, SYM_UNSUPPORTED, "nothing like that is made")
               == SYM_OK;
    }

    switch ((sym_make_t) m->kind) {
    case SYM_MAKE_SECTION:
    case SYM_MAKE_SOURCE:
        if (m->text.len > SYM_MAKE_TEXT_MAX) {
            return sym_fail(err, SYM_LIMIT, "nothing has such a name")
                   == SYM_OK;
        }
        if (m->text.len != 0) {
            memcpy(conversion->make_name, m->text.data, m->text.len);
        }
        break;
    case SYM_MAKE_SYM:
    case SYM_MAKE_RULES:
    case SYM_MAKE_NAME:
        if (!read_module(c, m->text, err)) {
            return false;
        }
        /* a stripped file has only unwind rules */
        conversion->kinds =
            1U << SYM_KIND_CFI
            | (m->kind != SYM_MAKE_RULES ? 1U << SYM_KIND_SYMCACHE : 0);
        break;
    default:
        break;
    }

    c->is_made = true;
    conversion->make = 1 + m->kind;
    conversion->symcache = temporary_file_create(folder, m->limit, err);
    return conversion->symcache != NULL;
}


void
made_file_ended(submission_t *c, const conversion_end_t *how)
{
    sym_rpc_message_t m = { .type = SYM_RPC_DONE, .ticket = c->ticket };
    uint64_t length;
    char text[32];
    int fd = temporary_file_get(c->conversion.symcache, &length);

    if (how->state != SYM_MODULE_READY || length == 0) {
        fd = -1;
        m.flags = how->state == SYM_MODULE_MALFORMED ? SYM_RPC_NOTHING : 0;
        m.text = how->state != SYM_MODULE_READY
                     ? sym_cstr(how->reason)
                     : SYM_STR("the converter broke the protocol");
    } else {
        (void) snprintf(text, sizeof(text), "%llu",
                        (unsigned long long) length);
        m.text = sym_cstr(text);
        m.flags = SYM_RPC_MADE;
        if ((how->done->features & SYM_FEATURE_UNWIND_INFO) != 0) {
            m.flags |= SYM_RPC_HAS_RULES;
        }
    }

    if (c->client != NULL) {
        c->client->n_deposits--;
        client_send_with(c->client, &m, fd);
    }
}
