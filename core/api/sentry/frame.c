#include "api/sentry/sentry.h"

#include "api/sentry/path.h"
#include "base/hex.h"
#include "base/language.h"

/* Room for most paths. */
#define PATH_ROOM 4096

/* Longer texts are not cached. */
#define PACKAGE_MAX 1024

#define BEGINNING(status)                                                      \
    {                                                                          \
        "{\"status\": \"" status "\", \"original_index\": ",                   \
            sizeof("{\"status\": \"" status "\", \"original_index\": ") - 1    \
    }

static const sym_str_t beginnings[] = {
    [SENTRY_SYMBOLICATED] = BEGINNING("symbolicated"),
    [SENTRY_MISSING_SYMBOL] = BEGINNING("missing_symbol"),
    [SENTRY_UNKNOWN_IMAGE] = BEGINNING("unknown_image"),
    [SENTRY_MISSING] = BEGINNING("missing"),
    [SENTRY_MALFORMED] = BEGINNING("malformed"),
};

static const sym_str_t keys[SENTRY_KEYS] = {
    [SENTRY_PLATFORM] = { ", \"platform\": ", 14 },
    [SENTRY_PACKAGE] = { ", \"package\": ", 13 },
    [SENTRY_LANG] = { ", \"lang\": ", 10 },
    [SENTRY_SYMBOL] = { ", \"symbol\": ", 12 },
    [SENTRY_FUNCTION] = { ", \"function\": ", 14 },
    [SENTRY_FILENAME] = { ", \"filename\": ", 14 },
    [SENTRY_ABS_PATH] = { ", \"abs_path\": ", 14 },
    [SENTRY_CONTEXT_LINE] = { ", \"context_line\": ", 18 },
    [SENTRY_SOURCE_LINK] = { ", \"source_link\": ", 17 },
    [SENTRY_FUNCTION_ID] = { ", \"function_id\": ", 17 },
    [SENTRY_SYM_ADDR] = { ", \"sym_addr\": ", 14 },
    [SENTRY_LINENO] = { ", \"lineno\": ", 12 },
    [SENTRY_PRE_CONTEXT] = { ", \"pre_context\": ", 17 },
    [SENTRY_POST_CONTEXT] = { ", \"post_context\": ", 18 },
    [SENTRY_IN_APP] = { ", \"in_app\": ", 12 },
    [SENTRY_VARS] = { ", \"vars\": ", 10 },
};


static void
write_text(sym_out_t *out, sentry_key_t key, sym_str_t text)
{
    sym_out_raw(out, keys[key]);
    sym_out_string(out, text);
}


static void
write_hex(sym_out_t *out, sentry_key_t key, uint64_t number)
{
    sym_out_raw(out, keys[key]);
    sym_out_hex_string(out, number);
}


static void
write_field(sym_out_t *out, const sentry_field_t *field)
{
    if (field->key < SENTRY_STRINGS) {
        write_text(out, field->key, field->value.text);
    } else if (field->key < SENTRY_HEXES) {
        write_hex(out, field->key, field->value.number);
    } else {
        sym_out_raw(out, keys[field->key]);
        sym_out_raw(out, field->value.text);
    }
}


/* Writes the request's value of a key, if the frame has one. */
static void
write_own(sym_out_t *out, const sentry_frame_t *frame, sentry_key_t key)
{
    const sentry_field_t *field =
        frame->fields != NULL ? sentry_field(frame, key) : NULL;

    if (field != NULL) {
        write_field(out, field);
    }
}


/* Writes the beginning of every frame. */
static void
write_head(sym_out_t *out, sentry_status_t status, uint32_t index,
           bool is_relative, uint64_t relative_to, uint64_t addr)
{
    sym_out_raw(out, beginnings[status]);
    sym_out_dec(out, index);

    if (is_relative) {
        sym_out_raw(out, SYM_STR(", \"addr_mode\": \"rel:"));
        sym_out_dec(out, relative_to);
        sym_out_raw(out, SYM_STR("\""));
    }

    sym_out_raw(out, SYM_STR(", \"instruction_addr\": "));
    sym_out_hex_string(out, addr);
}


/* Writes the keys that the answer repeats for every frame. */
static void
write_kept(sym_out_t *out, const sentry_frame_t *frame)
{
    if (frame->adjust != SENTRY_ADJUST_AUTO) {
        sym_out_raw(out, frame->adjust == SENTRY_ADJUST_YES
                             ? SYM_STR(", \"adjust_instruction_addr\": true")
                             : SYM_STR(", \"adjust_instruction_addr\": false"));
    }

    if (frame->trust != SENTRY_TRUST_NONE) {
        sym_out_raw(out, SYM_STR(", \"trust\": \""));
        sym_out_raw(out, sentry_trusts[frame->trust]);
        sym_out_raw(out, SYM_STR("\""));
    }
}


/* The written text is cached, because many frames show it. */
static void
write_package(const sentry_t *s, uint32_t module, sym_out_t *out)
{
    sym_str_t package = s->request.modules[module].code_file;
    sym_str_t *kept = &s->answer->packages[module];
    uint64_t before = out->before;
    const char *start = out->pos;

    if (kept->data != NULL) {
        sym_out_raw(out, *kept);
        return;
    }

    if (package.data == NULL) {
        return;
    }

    write_text(out, SENTRY_PACKAGE, package);

    /* not if it spans two windows */
    if (out->before == before && !out->failed && package.len <= PACKAGE_MAX) {
        *kept = sym_arena_copy(s->base.arena,
                               sym_str(start, (size_t) (out->pos - start)));
    }
}


/* --- frames with symbols --- */

/* Finds the module that contains an address of the answer: an address relative
 * to a module may be beyond the module's end. */
static uint32_t
module_shown(const sentry_t *s, const sentry_frame_t *frame,
             const sentry_place_t *place)
{
    uint64_t base = s->request.modules[place->module].addr;

    return frame->is_relative && base != 0
               ? sentry_module_at(&s->request, base + place->relative)
               : place->module;
}


void
sentry_write_path(sym_str_t path, uint32_t line, sym_out_t *out)
{
    sym_str_t name = sentry_path_name(path);

    if (name.len != 0) {
        write_text(out, SENTRY_FILENAME, name);
    }

    if (path.len != 0) {
        write_text(out, SENTRY_ABS_PATH, path);
    }

    sym_out_raw(out, keys[SENTRY_LINENO]);
    sym_out_dec(out, line);
}


static sym_status_t
write_place(sentry_t *s, const sentry_frame_t *frame, uint32_t module,
            sym_str_t path, uint32_t line, sym_out_t *out)
{
    sym_str_t name = sentry_path_name(path);
    sentry_context_t context;
    sym_status_t rc;

    if (name.len != 0) {
        write_text(out, SENTRY_FILENAME, name);
    } else {
        write_own(out, frame, SENTRY_FILENAME);
    }

    if (path.len != 0) {
        write_text(out, SENTRY_ABS_PATH, path);
    } else {
        const sentry_field_t *own = sentry_field(frame, SENTRY_ABS_PATH);

        write_own(out, frame, SENTRY_ABS_PATH);
        path = own != NULL ? own->value.text : path;
    }

    sym_out_raw(out, keys[SENTRY_LINENO]);
    sym_out_dec(out, line);

    rc = sentry_find_context(s, module, path, line, &context);
    sentry_own_frame(s, module);
    sentry_write_context(&context, out);
    return rc;
}


void
sentry_write_names(sentry_answer_t *a, uint32_t need,
                   const sym_answer_t *answer, uint32_t level, sym_out_t *out)
{
    const char *lang = sym_language_name(answer->lang);

    if (lang[0] != '\0') {
        write_text(out, SENTRY_LANG, sym_cstr(lang));
    }

    sym_out_raw(out, SYM_STR(", \"symbol\": \""));
    sym_resolver_write(a->resolver, need, answer->levels[level].name, out);
    sym_out_raw(out, SYM_STR("\", \"function\": \""));
    sym_resolver_write_name(a->resolver, need, answer, level, out);
    sym_out_raw(out, SYM_STR("\""));
}


bool
sentry_path_of(sentry_t *s, const sentry_place_t *place,
               const sym_level_t *level, sym_str_t *path)
{
    sentry_answer_t *a = s->answer;

    if (!sym_resolver_text(a->resolver, place->need, level->file, path)) {
        return false;
    }

    if (sentry_path_is_clean(*path)) {
        return true;
    }

    if (path->len > a->path_room) {
        a->path_room = path->len < PATH_ROOM ? PATH_ROOM : 2 * path->len;
        a->path = sym_arena_alloc(s->base.arena, a->path_room);
        if (a->path == NULL) {
            return false;
        }
    }

    *path = sym_str(a->path, sentry_path_clean(*path, a->path));
    return true;
}


void
sentry_write_head(const sentry_t *s, uint32_t index,
                  const sentry_frame_t *frame, const sentry_place_t *place,
                  sym_out_t *out)
{
    uint64_t base = s->request.modules[place->module].addr;

    write_head(out, SENTRY_SYMBOLICATED, index, base == 0, place->module,
               base + place->relative);
    write_own(out, frame, SENTRY_PLATFORM);
    write_own(out, frame, SENTRY_FUNCTION_ID);
    write_kept(out, frame);
    write_package(s, place->module, out);
}


static sym_status_t
write_level(sentry_t *s, uint32_t index, const sentry_frame_t *frame,
            const sentry_place_t *place, const sym_answer_t *answer,
            uint32_t level, sym_out_t *out)
{
    uint64_t base = s->request.modules[place->module].addr;
    sym_str_t path;
    sym_status_t rc;

    if (!sentry_path_of(s, place, &answer->levels[level], &path)) {
        return SYM_NOMEM;
    }

    sentry_write_head(s, index, frame, place, out);
    sentry_write_names(s->answer, place->need, answer, level, out);
    if (level + 1 == answer->n_levels) {
        write_hex(out, SENTRY_SYM_ADDR, base + answer->function_addr);
    }

    rc = write_place(s, frame, module_shown(s, frame, place), path,
                     answer->levels[level].line, out);
    sym_out_raw(out, SYM_STR("}"));
    return rc;
}


void
sentry_write_comma(sentry_answer_t *a, sym_out_t *out)
{
    if (!a->is_first) {
        sym_out_raw(out, SYM_STR(", "));
    }
    a->is_first = false;
}


static sym_status_t
write_levels(sentry_t *s, uint32_t index, const sentry_frame_t *frame,
             const sentry_place_t *place, const sym_answer_t *answer,
             sym_out_t *out, uint32_t *budget)
{
    sentry_answer_t *a = s->answer;

    for (; a->level < answer->n_levels; a->level++) {
        uint32_t level = s->request.is_caller_first
                             ? answer->n_levels - 1 - a->level
                             : a->level;
        sym_status_t rc;

        if (a->level != 0 && (*budget == 0 || out->is_full)) {
            a->is_begun = true;
            return SYM_AGAIN;
        }

        sentry_write_comma(a, out);
        rc = write_level(s, index, frame, place, answer, level, out);
        if (rc != SYM_OK) {
            return rc;
        }
        sym_resolver_charge(a->resolver, budget);
    }

    a->is_begun = false;
    return SYM_OK;
}


/* --- .NET frames --- */

/* SYM_NOT_FOUND: the frame has no symbols. */
static sym_status_t
write_il(sentry_t *s, uint32_t index, const sentry_frame_t *frame,
         const sentry_place_t *place, sym_out_t *out)
{
    sym_il_frame_t found;
    sentry_context_t context;
    sym_status_t rc;
    char *path;
    size_t len;

    if (!sentry_look_up_il(s, frame, place, &found)) {
        return SYM_NOT_FOUND;
    }

    len = found.folder.len + found.file.len;
    path = sym_arena_alloc(s->base.arena, len);
    if (path == NULL) {
        return SYM_NOMEM;
    }

    memcpy(path, found.folder.data, found.folder.len);
    memcpy(path + found.folder.len, found.file.data, found.file.len);
    rc = sentry_find_context(s, place->module, sym_str(path, len), found.line,
                             &context);
    sentry_own_frame(s, place->module);

    sentry_write_comma(s->answer, out);
    write_head(out, SENTRY_SYMBOLICATED, index, frame->is_relative,
               frame->relative_to, frame->addr);
    write_kept(out, frame);
    write_package(s, place->module, out);
    write_text(out, SENTRY_LANG, sym_cstr(sym_language_name(found.lang)));
    write_text(out, SENTRY_FILENAME, sentry_path_name(sym_str(path, len)));
    write_text(out, SENTRY_ABS_PATH, sym_str(path, len));
    sym_out_raw(out, keys[SENTRY_LINENO]);
    sym_out_dec(out, found.line);

    for (const sentry_field_t *f = frame->fields; f != NULL; f = f->next) {
        if (f->key != SENTRY_PACKAGE && f->key != SENTRY_LANG
            && f->key != SENTRY_FILENAME && f->key != SENTRY_ABS_PATH
            && f->key != SENTRY_LINENO
            && !sentry_context_replaces(&context, f->key))
        {
            write_field(out, f);
        }
    }

    sentry_write_context(&context, out);
    sym_out_raw(out, SYM_STR("}"));
    return rc;
}


/* --- frames without symbols --- */

/* If the request has only one of the two names, it is treated as mangled. */
static sym_str_t
demangle(sentry_t *s, const sentry_frame_t *frame, sym_str_t *mangled)
{
    const sentry_field_t *function = sentry_field(frame, SENTRY_FUNCTION);
    const sentry_field_t *symbol = sentry_field(frame, SENTRY_SYMBOL);
    sym_str_t shown = SYM_STR("");

    if ((function == NULL) != (symbol == NULL)) {
        *mangled = function != NULL ? function->value.text : symbol->value.text;
        shown =
            sym_resolver_show(s->answer->resolver, *mangled, SYM_LANG_UNKNOWN);
    }

    return shown.len == 0 || sym_str_eq(shown, *mangled) ? SYM_STR("") : shown;
}


/* Finds the source of a frame from the request's path and line. */
static sym_status_t
find_own_context(sentry_t *s, const sentry_frame_t *frame, uint32_t module,
                 sentry_context_t *context)
{
    const sentry_field_t *path = sentry_field(frame, SENTRY_ABS_PATH);
    const sentry_field_t *line = sentry_field(frame, SENTRY_LINENO);
    uint64_t number;

    if (path == NULL || line == NULL
        || !sym_dec_read(line->value.text, &number)) {
        module = SENTRY_NO_MODULE;
        number = 0;
    }

    return sentry_find_context(s, module,
                               path != NULL ? path->value.text : SYM_STR(""),
                               number, context);
}


static sym_status_t
write_failed(sentry_t *s, uint32_t index, const sentry_frame_t *frame,
             const sentry_place_t *place, sym_out_t *out)
{
    sym_str_t mangled = SYM_STR(""), function = demangle(s, frame, &mangled);
    sentry_context_t context;
    sym_status_t rc = find_own_context(s, frame, place->module, &context);

    sentry_write_comma(s->answer, out);
    write_head(out, place->status, index, frame->is_relative,
               frame->relative_to, frame->addr);
    write_kept(out, frame);

    if (place->module != SENTRY_NO_MODULE) {
        write_package(s, place->module, out);
    }

    if (function.len != 0) {
        write_text(out, SENTRY_FUNCTION, function);
        write_text(out, SENTRY_SYMBOL, mangled);
    }

    for (const sentry_field_t *f = frame->fields; f != NULL; f = f->next) {
        bool is_written =
            (f->key == SENTRY_PACKAGE && place->module != SENTRY_NO_MODULE)
            || (function.len != 0
                && (f->key == SENTRY_FUNCTION || f->key == SENTRY_SYMBOL))
            || sentry_context_replaces(&context, f->key);

        if (!is_written) {
            write_field(out, f);
        }
    }

    sentry_own_frame(s, place->module);
    sentry_write_context(&context, out);
    sym_out_raw(out, SYM_STR("}"));
    return rc;
}


bool
sentry_is_named(const sym_answer_t *answer)
{
    return answer->n_levels > 1
           || (answer->n_levels == 1 && answer->levels[0].name != SYM_NO_REF);
}


bool
sentry_is_dropped(const sentry_frame_t *frame, sentry_status_t status)
{
    return frame->trust == SENTRY_TRUST_SCAN
           && (status == SENTRY_MISSING_SYMBOL
               || status == SENTRY_UNKNOWN_IMAGE);
}


/* If the module has no path, the request's path is shown. */
static bool
has_own_path(const sentry_frame_t *frame)
{
    return frame->fields != NULL
           && (sentry_field(frame, SENTRY_FILENAME) != NULL
               || sentry_field(frame, SENTRY_ABS_PATH) != NULL);
}


/* Writes the levels from the cache, or adds them to it.  False: nothing was
 * written. */
static bool
write_cached(sentry_t *s, uint32_t index, const sentry_frame_t *frame,
             const sentry_place_t *place, sym_out_t *out, uint32_t *budget)
{
    uint32_t module = module_shown(s, frame, place);
    sym_str_t text;

    if (s->answer->is_begun || has_own_path(frame)
        || (module != SENTRY_NO_MODULE && sentry_has_sources(s, module))
        || !sentry_render(s, place, &text, budget)
        || !sentry_write_rendered(s, index, frame, place, text, out))
    {
        return false;
    }

    sentry_own_frame(s, module);
    return true;
}


sym_status_t
sentry_write_frame(sentry_t *s, uint32_t index, const sentry_frame_t *frame,
                   const sentry_place_t *place, sym_out_t *out,
                   uint32_t *budget)
{
    sentry_place_t failed = *place;
    sym_answer_t answer = { 0 };

    if (place->is_il) {
        sym_status_t rc = write_il(s, index, frame, place, out);

        if (rc != SYM_NOT_FOUND) {
            return rc;
        }
        failed.status = SENTRY_MISSING_SYMBOL;
    } else if (place->status == SENTRY_SYMBOLICATED) {
        if (write_cached(s, index, frame, place, out, budget)) {
            return SYM_OK;
        }

        (void) sym_resolver_answer(s->answer->resolver, place->question,
                                   &answer);
        if (sentry_is_named(&answer)) {
            return write_levels(s, index, frame, place, &answer, out, budget);
        }
        failed.status = SENTRY_MISSING_SYMBOL;
    }

    return sentry_is_dropped(frame, failed.status)
               ? SYM_OK
               : write_failed(s, index, frame, &failed, out);
}
