#include "texts.h"

#include <stdio.h>
#include <stdlib.h>

#include "demangle/demangle.h"
#include "resolve/recent.h"

/* Forms of a text: as it is kept, or as a name of a language. */
#define FORM_KEPT 0u
#define FORM_NAME(lang) ((lang) + 1u)
#define FORM_LANG(form) ((uint8_t) ((form) -1))

/* An escape in JSON has six bytes. */
#define PRINTED_MAX (6 * SYM_STRING_MAX)

struct texts_s {
    texts_style_t style;
    sym_recent_t *recent;
    char demangled[SYM_DEMANGLED_MAX];
    char printed[PRINTED_MAX];
};


texts_t *
texts_create(const texts_style_t *style)
{
    texts_t *t = malloc(sizeof(*t));
    sym_recent_t *recent = sym_recent_create(style->bytes);

    if (t == NULL || recent == NULL) {
        fprintf(stderr, "symloader: out of memory\n");
        free(t);
        sym_recent_free(recent);
        return NULL;
    }

    t->style = *style;
    t->recent = recent;
    return t;
}


void
texts_free(texts_t *t)
{
    sym_recent_free(t->recent);
    free(t);
}


static sym_recent_key_t
key_of(const module_t *m, sym_string_ref_t ref, uint32_t form)
{
    return (sym_recent_key_t){ m->record.module_id, ref, form };
}


static uint32_t
name_form(const texts_t *t, const module_t *m, const sym_answer_t *answer,
          uint32_t level)
{
    return m->cache.has_linker_names && !t->style.is_mangled
               ? FORM_NAME(sym_answer_lang(answer, level))
               : FORM_KEPT;
}


/* What the string is printed as, in t->printed. */
static sym_str_t
print(texts_t *t, module_t *m, sym_string_ref_t ref, uint32_t form)
{
    output_t out = { .json = sym_out_fixed(t->printed, sizeof(t->printed)) };
    sym_str_t text = module_string(m, ref);
    size_t len = 0;

    if (form != FORM_KEPT) {
        len = sym_demangle(text, FORM_LANG(form), SYM_DEMANGLE_FULL,
                           t->demangled, sizeof(t->demangled));
    }

    if (len != 0) {
        text = sym_str(t->demangled, len);
    }

    if (t->style.is_json) {
        sym_out_escaped(&out.json, text);

    } else {
        output_text(&out, text);
    }

    return sym_str(t->printed, (size_t) (out.json.pos - t->printed));
}


static sym_str_t
get(texts_t *t, module_t *m, sym_string_ref_t ref, uint32_t form)
{
    const sym_recent_key_t key = key_of(m, ref, form);
    sym_recent_ref_t kept;
    sym_str_t text;

    if (ref == SYM_NO_REF) {
        return SYM_STR("");
    }

    if (sym_recent_meet(t->recent, &key, &kept) == SYM_RECENT_KEPT) {
        text = sym_str(sym_recent_text(t->recent, &key, &kept), kept.len);

        if (text.data != NULL) {
            return text;
        }
    }

    text = print(t, m, ref, form);
    sym_recent_keep(t->recent, &key, text.data, text.len);
    return text;
}


void
texts_expect(texts_t *t, module_t *m, const sym_answer_t *answer)
{
    for (uint32_t i = 0; i < answer->n_levels; i++) {
        const sym_level_t *level = &answer->levels[i];
        sym_recent_key_t key =
            key_of(m, level->name, name_form(t, m, answer, i));

        sym_recent_expect(t->recent, &key);
        sym_symcache_expect(&m->cache, level->name);

        key = key_of(m, level->file, FORM_KEPT);
        sym_recent_expect(t->recent, &key);
    }
}


sym_str_t
texts_name(texts_t *t, module_t *m, const sym_answer_t *answer, uint32_t level)
{
    return get(t, m, answer->levels[level].name,
               name_form(t, m, answer, level));
}


sym_str_t
texts_file(texts_t *t, module_t *m, const sym_level_t *level)
{
    return get(t, m, level->file, FORM_KEPT);
}
