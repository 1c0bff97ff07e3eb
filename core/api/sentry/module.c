#include "api/sentry/sentry.h"

static const char *const type_names[] = {
    [SYM_OBJECT_UNKNOWN] = "unknown",     [SYM_OBJECT_ELF] = "elf",
    [SYM_OBJECT_MACHO] = "macho",         [SYM_OBJECT_PE] = "pe",
    [SYM_OBJECT_PE_DOTNET] = "pe_dotnet", [SYM_OBJECT_WASM] = "wasm",
};


static const sym_need_t *
need_of(const sentry_t *s, uint32_t module)
{
    uint32_t need = s->request.modules[module].need;

    return need != 0 ? &s->base.needs[need - 1] : NULL;
}


/* error: why a need is missing. */
static const char *
status_of(const sym_need_t *need, sym_module_state_t error)
{
    if (need == NULL) {
        return "unused";
    }

    switch (need->found) {
    case SYM_NEED_FOUND:
        return "found";
    case SYM_NEED_PENDING:
        return "timeout";
    default:
        break;
    }

    switch (error) {
    case SYM_MODULE_FAILED:
        return "fetching_failed";
    case SYM_MODULE_MALFORMED:
        return "malformed";
    default:
        return "missing";
    }
}


/* Whether the text contains the lower-case word, in any case. */
static bool
contains(sym_str_t text, sym_str_t word)
{
    for (size_t end = word.len; end <= text.len; end++) {
        if (sym_str_ends_nocase(sym_str(text.data, end), word)) {
            return true;
        }
    }

    return false;
}


/* Returns Sentry's name for a version control system; NULL: the PDB has
 * none. */
static const char *
vcs_of(sym_str_t name)
{
    return name.len == 0                         ? NULL
           : contains(name, SYM_STR("git"))      ? "git"
           : contains(name, SYM_STR("perforce")) ? "perforce"
                                                 : "other";
}


/* Portable PDBs that embed sources, or link to them, count, too. */
static bool
has_stored_sources(sentry_t *s, const sym_need_t *need)
{
    sym_artifact_found_t artifact;
    sym_missing_t missing;

    return sym_artifact_find(s->answer->resolver, SYM_STR(""),
                             &(sym_lookup_t){ need->ref, SYM_KIND_SOURCES, 0 },
                             &artifact, &missing)
           == SYM_OK;
}


/* Reads the facts of a symcache.  They never change, and reading them costs as
 * much as an uncached frame, so they are cached. */
static void
read_facts(sym_resolver_t *resolver, uint32_t place, sentry_facts_t *facts)
{
    char text[SYM_PART_ROOM];
    uint32_t flags;
    size_t len;

    if (sym_resolver_recall_note(resolver, place, facts, sizeof(*facts))) {
        return;
    }

    len = sym_resolver_info(resolver, place, SYM_INFO_ARCH, text);
    facts->arch = sentry_arch(sym_str(text, len));
    flags = sym_resolver_flags(resolver, place);
    facts->has_debug_info = (flags & SYM_FLAG_DEBUG_INFO) != 0;
    facts->has_symbols = (flags & SYM_FLAG_SYMBOLS) != 0;
    facts->has_unwind_info = (flags & SYM_FLAG_UNWIND_INFO) != 0;
    len = sym_resolver_source_server(resolver, place, text);
    facts->vcs = vcs_of(sym_str(text, len));
    sym_resolver_keep_note(resolver, place, facts, sizeof(*facts));
}


const sentry_facts_t *
sentry_facts(sentry_t *s, uint32_t module)
{
    sentry_facts_t *facts = &s->answer->facts[module];
    const sym_need_t *need = need_of(s, module);

    if (facts->is_read) {
        return facts;
    }

    facts->is_read = true;
    facts->arch = sentry_arch(SYM_STR(""));

    if (need == NULL || need->found != SYM_NEED_FOUND) {
        if (need != NULL && need->found == SYM_NEED_MISSING) {
            facts->error = sentry_first_error(s, need);
        }
        return facts;
    }

    if (need->kind != SYM_KIND_SYMCACHE) {
        facts->has_debug_info =
            (sym_kind_find(need->kind)->features & SYM_FEATURE_DEBUG_INFO) != 0;
        facts->has_sources = has_stored_sources(s, need);
        return facts;
    }

    read_facts(s->answer->resolver, s->request.modules[module].need - 1, facts);
    return facts;
}


static void
write_bool(sym_out_t *out, sym_str_t key, bool is_true)
{
    sym_out_raw(out, key);
    sym_out_raw(out, is_true ? SYM_STR("true") : SYM_STR("false"));
}


/* Writes the member unless it is absent. */
static void
write_text(sym_out_t *out, sym_str_t key, sym_str_t text)
{
    if (text.data != NULL) {
        sym_out_raw(out, key);
        sym_out_string(out, text);
    }
}


static void
write_features(const sentry_facts_t *facts, bool has_sources, sym_out_t *out)
{
    sym_out_raw(out, SYM_STR(", \"features\": {"));
    write_bool(out, SYM_STR("\"has_debug_info\": "), facts->has_debug_info);
    write_bool(out, SYM_STR(", \"has_unwind_info\": "), facts->has_unwind_info);
    write_bool(out, SYM_STR(", \"has_symbols\": "), facts->has_symbols);
    write_bool(out, SYM_STR(", \"has_sources\": "), has_sources);
    if (facts->vcs != NULL) {
        sym_out_raw(out, SYM_STR(", \"srcsrv_vcs\": \""));
        sym_out_raw(out, sym_cstr(facts->vcs));
        sym_out_raw(out, SYM_STR("\""));
    }
    sym_out_raw(out, SYM_STR("}, \"arch\": \""));
    sym_out_raw(out, sym_cstr(facts->arch->name));
}


static void
write_ids(const sentry_module_t *m, sym_out_t *out)
{
    char text[SYM_ID_TEXT_MAX];
    size_t len = sym_debug_id_write_sentry(&m->ref.debug_id, text);

    if (len != 0) {
        write_text(out, SYM_STR(", \"debug_id\": "), sym_str(text, len));
    }

    if (m->ref.code_id.len != 0) {
        write_text(out, SYM_STR(", \"code_id\": "),
                   sym_str(m->ref.code_id.text, m->ref.code_id.len));
    }
}


bool
sentry_is_listed(sentry_t *s, uint32_t module)
{
    const sentry_module_t *m = &s->request.modules[module];

    return !s->request.is_report || m->need != 0 || m->unwind != 0
           || m->ref.debug_id.form != SYM_DEBUG_ID_NONE
           || m->ref.code_id.len != 0;
}


/* Only crash reports have this member. */
static void
write_unwind_status(sentry_t *s, const sentry_module_t *m, sym_out_t *out)
{
    const sym_need_t *need =
        m->unwind != 0 ? &s->base.needs[m->unwind - 1] : NULL;
    sym_module_state_t error = need != NULL && need->found == SYM_NEED_MISSING
                                   ? sentry_first_error(s, need)
                                   : 0;

    sym_out_raw(out, SYM_STR(", \"unwind_status\": \""));
    sym_out_raw(out, sym_cstr(status_of(need, error)));
    sym_out_raw(out, SYM_STR("\""));
}


uint32_t
sentry_write_module(sentry_t *s, uint32_t module, sym_out_t *out)
{
    uint32_t cost = 1 + sym_request_n_scopes(&s->base); /* opened for its
                                                           status */
    const sentry_module_t *m = &s->request.modules[module];
    sentry_facts_t facts = *sentry_facts(s, module);

    sym_out_raw(out, SYM_STR("{\"debug_status\": \""));
    sym_out_raw(out,
                sentry_is_unused(s, module)
                    ? SYM_STR("unused")
                    : sym_cstr(status_of(need_of(s, module), facts.error)));
    sym_out_raw(out, SYM_STR("\""));

    if (s->request.is_report) {
        write_unwind_status(s, m, out);
        facts.has_unwind_info =
            facts.has_unwind_info
            || (m->unwind != 0
                && s->base.needs[m->unwind - 1].found == SYM_NEED_FOUND);
    }

    write_features(&facts, facts.has_sources || sentry_has_sources(s, module),
                   out);
    sym_out_raw(out, SYM_STR("\", \"type\": \""));
    sym_out_raw(out, sym_cstr(type_names[m->ref.type]));
    sym_out_raw(out, SYM_STR("\""));

    write_ids(m, out);
    write_text(out, SYM_STR(", \"code_file\": "), m->code_file);
    write_text(out, SYM_STR(", \"debug_file\": "), m->debug_file);
    write_text(out, SYM_STR(", \"debug_checksum\": "), m->debug_checksum);

    sym_out_raw(out, SYM_STR(", \"image_addr\": "));
    sym_out_hex_string(out, m->addr);
    if (m->has_size) {
        sym_out_raw(out, SYM_STR(", \"image_size\": "));
        sym_out_dec(out, m->size);
    }

    if (s->request.has_candidates) {
        cost += sentry_write_candidates(s, module, out);
    }
    sym_out_raw(out, SYM_STR("}"));
    return cost;
}
