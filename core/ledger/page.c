#include "ledger/page.h"

#include <stdlib.h>

#include "base/date.h"
#include "explain/member.h"

/* Maximum length of a Prometheus label; longer ones are cut between
 * characters. */
#define LABEL_MAX 120

const sym_str_t sym_ledger_orders[SYM_LEDGER_ORDERS] = {
    { "requests", 8 }, { "frames", 6 }, { "first", 5 },
    { "last", 4 },     { "name", 4 },
};

const sym_str_t sym_ledger_shows[SYM_LEDGER_SHOWS] = {
    { "missing", 7 },
    { "arrived", 7 },
    { "all", 3 },
};

static sym_str_t
type_word(sym_object_type_t type)
{
    static const char *const words[] = {
        [SYM_OBJECT_UNKNOWN] = "",
        [SYM_OBJECT_ELF] = "elf",
        [SYM_OBJECT_MACHO] = "macho",
        [SYM_OBJECT_PE] = "pe",
        [SYM_OBJECT_PE_DOTNET] = "pe_dotnet",
        [SYM_OBJECT_WASM] = "wasm",
    };

    return sym_cstr(words[type]);
}


static sym_str_t
state_word(const sym_ledger_entry_t *e)
{
    return sym_cstr(e->came_s != 0  ? "arrived"
                    : e->state == 0 ? "pending"
                                    : sym_module_state_name(e->state));
}


static sym_str_t
told_word(const sym_ledger_entry_t *e)
{
    static const char *const words[] = {
        [SYM_LEDGER_UNTOLD] = "no",      [SYM_LEDGER_DUE] = "due",
        [SYM_LEDGER_TOLD] = "delivered", [SYM_LEDGER_GIVEN_UP] = "failed",
        [SYM_LEDGER_TELLING] = "due",
    };

    return sym_cstr(words[e->told]);
}


/* --- filter and order --- */

static bool
is_seen(const sym_ledger_entry_t *e, const sym_scopes_t *scopes)
{
    sym_str_t sources = e->sources, source;

    if (scopes == NULL || sources.len == 0) {
        return true;
    }

    while (sym_ledger_source(&sources, &source)) {
        for (uint32_t i = 0; i < scopes->n; i++) {
            if (sym_str_eq(scopes->names[i], source)) {
                return true;
            }
        }
    }

    return false;
}


static int
descending(uint64_t a, uint64_t b)
{
    return (a < b) - (a > b);
}


static int
by_name(const sym_ledger_entry_t *a, const sym_ledger_entry_t *b)
{
    int order = sym_str_cmp(a->key.name, b->key.name);

    order = order != 0 ? order : sym_str_cmp(a->key.id, b->key.id);
    order = order != 0 ? order : sym_str_cmp(a->key.code_id, b->key.code_id);
    order = order != 0 ? order : sym_str_cmp(a->sources, b->sources);
    return order != 0 ? order : (int) a->kind - (int) b->kind;
}


static int
compare(const void *one, const void *two, void *arg)
{
    const sym_ledger_entry_t *a = one, *b = two;
    int order = 0;

    switch (*(const sym_ledger_order_t *) arg) {
    case SYM_LEDGER_BY_REQUESTS:
        order = descending(a->requests, b->requests);
        break;
    case SYM_LEDGER_BY_FRAMES:
        order = descending(a->frames, b->frames);
        break;
    case SYM_LEDGER_BY_FIRST:
        order = descending((uint64_t) a->first_s, (uint64_t) b->first_s);
        break;
    case SYM_LEDGER_BY_LAST:
        order = descending((uint64_t) a->last_s, (uint64_t) b->last_s);
        break;
    case SYM_LEDGER_BY_NAME:
        break;
    }

    return order != 0 ? order : by_name(a, b);
}


uint32_t
sym_ledger_select(sym_ledger_entry_t *entries, uint32_t n,
                  const sym_ledger_query_t *query)
{
    sym_ledger_order_t order = query->order;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < n; i++) {
        bool came = entries[i].came_s != 0;

        if ((query->show == SYM_LEDGER_ALL
             || came == (query->show == SYM_LEDGER_CAME))
            && is_seen(&entries[i], query->scopes))
        {
            entries[kept++] = entries[i];
        }
    }

    if (kept > 1) {
        qsort_r(entries, kept, sizeof(*entries), compare, &order);
    }

    return kept;
}


/* --- JSON --- */

static sym_str_t
date(int64_t time_s, char buf[SYM_ISO_DATE_LEN])
{
    return time_s > 0 && sym_iso_date_write((uint64_t) time_s, buf)
               ? sym_str(buf, SYM_ISO_DATE_LEN)
               : SYM_STR("");
}


/* Writes members of a module that both documents have. */
static void
write_module(const sym_ledger_entry_t *e, sym_out_t *out)
{
    const sym_kind_row_t *kind = sym_kind_find(e->kind);

    sym_out_raw(out, SYM_STR("\"name\": "));
    sym_out_string(out, e->key.name);
    sym_member_text(out, "id", e->key.id);
    sym_member_text(out, "code_id", e->key.code_id);
    sym_member_text(out, "type", type_word(e->type));
    sym_member_text(out, "kind", sym_cstr(kind != NULL ? kind->name : ""));
    sym_member_number(out, "requests", e->requests);
    sym_member_number(out, "frames", e->frames);
    sym_member_time(out, "first_asked", e->first_s);
    sym_member_time(out, "last_asked", e->last_s);
}


void
sym_ledger_write_entry(const sym_ledger_entry_t *e, sym_out_t *out)
{
    write_module(e, out);
    sym_member_text(out, "state", state_word(e));
    sym_member_text(out, "reason", e->reason);
    sym_member_time(out, "arrived", e->came_s);
    sym_member_text(out, "source",
                    e->came_s != 0 ? sym_scope_word(e->from) : SYM_STR(""));
    sym_member_text(out, "webhook", told_word(e));
}


void
sym_ledger_write_arrival(const sym_ledger_entry_t *e, sym_out_t *out)
{
    sym_out_raw(out, SYM_STR("{"));
    write_module(e, out);
    sym_member_time(out, "arrived", e->came_s);
    sym_member_text(out, "source", sym_scope_word(e->from));
    sym_out_raw(out, SYM_STR("}"));
}


typedef struct {
    const char *name, *help;
    uint64_t value;
} total_t;

#define TOTALS SYM_LEDGER_TOTALS

static void
list_totals(const sym_ledger_totals_t *t, total_t list[TOTALS])
{
    const total_t totals[TOTALS] = {
        { "requests", "Requests that did not get a module, for each module.",
          t->requests },
        { "frames", "Frames that lost names because of them.", t->frames },
        { "refused", "Requests for modules that did not fit into the ledger.",
          t->refused },
        { "evicted", "Modules that were evicted from the ledger.", t->evicted },
        { "arrived", "Modules that arrived after all.", t->came },
        { "delivered", "Modules that the webhook accepted.", t->told },
        { "webhook_failures", "Requests to the webhook that failed.",
          t->told_failed },
        { "undelivered", "Modules that were never reported to the webhook.",
          t->told_dropped },
    };

    memcpy(list, totals, sizeof(totals));
}


void
sym_ledger_write_totals(const sym_ledger_totals_t *totals, sym_out_t *out)
{
    total_t list[TOTALS];

    list_totals(totals, list);
    for (unsigned i = 0; i < TOTALS; i++) {
        sym_out_raw(out, i == 0 ? SYM_STR("\"") : SYM_STR(", \""));
        sym_out_raw(out, sym_cstr(list[i].name));
        sym_out_raw(out, SYM_STR("\": "));
        sym_out_dec(out, list[i].value);
    }
}


/* --- CSV --- */

/*
 * Fields are always quoted.  A spreadsheet treats a field that begins with one
 * of these characters, or with spaces before one, as a formula (OWASP, "CSV
 * Injection").
 */
static void
csv_text(sym_out_t *out, sym_str_t value, const char *end)
{
    size_t i = 0;

    sym_out_raw(out, SYM_STR("\""));

    while (i < value.len && (unsigned char) value.data[i] <= ' ') {
        i++;
    }

    if (i < value.len && strchr("=+-@|%", value.data[i]) != NULL) {
        sym_out_raw(out, SYM_STR("'"));
    }

    for (i = 0; i < value.len;) {
        size_t begin = i, control = sym_out_control_len(value, i);
        uint32_t code = sym_utf8_next(value, &i);

        if (control != 0) {
            sym_out_raw(out, SYM_STR(" "));
        } else if (code == '"') {
            sym_out_raw(out, SYM_STR("\"\""));
        } else if (code == 0xfffd) {
            sym_out_raw(out, SYM_STR("\xef\xbf\xbd"));
        } else {
            sym_out_raw(out, sym_str(value.data + begin, i - begin));
        }
    }

    sym_out_raw(out, SYM_STR("\""));
    sym_out_raw(out, sym_cstr(end));
}


static void
csv_number(sym_out_t *out, uint64_t value)
{
    sym_out_dec(out, value);
    sym_out_raw(out, SYM_STR(","));
}


static void
csv_when(sym_out_t *out, int64_t time_s)
{
    char buf[SYM_ISO_DATE_LEN];

    sym_out_raw(out, date(time_s, buf));
    sym_out_raw(out, SYM_STR(","));
}


void
sym_ledger_csv_head(sym_out_t *out)
{
    sym_out_raw(out, SYM_STR("name,id,code_id,type,kind,state,requests,frames,"
                             "first_asked,last_asked,arrived,source,webhook,"
                             "reason\r\n"));
}


void
sym_ledger_csv_row(const sym_ledger_entry_t *e, sym_out_t *out)
{
    const sym_kind_row_t *kind = sym_kind_find(e->kind);

    csv_text(out, e->key.name, ",");
    csv_text(out, e->key.id, ",");
    csv_text(out, e->key.code_id, ",");
    csv_text(out, type_word(e->type), ",");
    csv_text(out, sym_cstr(kind != NULL ? kind->name : ""), ",");
    csv_text(out, state_word(e), ",");
    csv_number(out, e->requests);
    csv_number(out, e->frames);
    csv_when(out, e->first_s);
    csv_when(out, e->last_s);
    csv_when(out, e->came_s);
    csv_text(out, e->came_s != 0 ? sym_scope_word(e->from) : SYM_STR(""), ",");
    csv_text(out, told_word(e), ",");
    csv_text(out, e->reason, "\r\n");
}


/* --- Prometheus (its text format, 0.0.4) --- */

static void
label(sym_out_t *out, const char *name, sym_str_t value)
{
    sym_out_raw(out, sym_cstr(name));
    sym_out_raw(out, SYM_STR("=\""));

    for (size_t i = 0; i < value.len && i < LABEL_MAX;) {
        size_t begin = i, control = sym_out_control_len(value, i);
        uint32_t code = sym_utf8_next(value, &i);

        if (code == 0xfffd || control != 0) {
            sym_out_raw(out, SYM_STR("?"));
        } else {
            sym_out_raw(out, code == '"' || code == '\\' ? SYM_STR("\\")
                                                         : SYM_STR(""));
            sym_out_raw(out, sym_str(value.data + begin, i - begin));
        }
    }

    sym_out_raw(out, SYM_STR("\""));
}


static void
family(sym_out_t *out, const char *name, const char *end, const char *type,
       const char *help)
{
    sym_out_raw(out, SYM_STR("# HELP symbolicate_missing_"));
    sym_out_raw(out, sym_cstr(name));
    sym_out_raw(out, sym_cstr(end));
    sym_out_raw(out, SYM_STR(" "));
    sym_out_raw(out, sym_cstr(help));
    sym_out_raw(out, SYM_STR("\n# TYPE symbolicate_missing_"));
    sym_out_raw(out, sym_cstr(name));
    sym_out_raw(out, sym_cstr(end));
    sym_out_raw(out, SYM_STR(" "));
    sym_out_raw(out, sym_cstr(type));
    sym_out_raw(out, SYM_STR("\n"));
}


static void
sample(sym_out_t *out, const char *name, const char *end, uint64_t value)
{
    sym_out_raw(out, SYM_STR("symbolicate_missing_"));
    sym_out_raw(out, sym_cstr(name));
    sym_out_raw(out, sym_cstr(end));
    sym_out_raw(out, SYM_STR(" "));
    sym_out_dec(out, value);
    sym_out_raw(out, SYM_STR("\n"));
}


/* Cut labels must not merge two series, so the rank is a label, too. */
static void
top(const sym_ledger_entry_t *entries, uint32_t n, bool is_frames,
    sym_out_t *out)
{
    const char *name = is_frames ? "module_frames" : "module_requests";

    family(out, name, "", "gauge",
           is_frames ? "Frames that lost names, of the modules asked for most."
                     : "Requests, of the modules asked for most.");

    for (uint32_t i = 0; i < n; i++) {
        const sym_ledger_entry_t *e = &entries[i];

        sym_out_raw(out, SYM_STR("symbolicate_missing_"));
        sym_out_raw(out, sym_cstr(name));
        sym_out_raw(out, SYM_STR("{"));
        sym_out_raw(out, SYM_STR("rank=\""));
        sym_out_dec(out, i + 1);
        sym_out_raw(out, SYM_STR("\","));
        label(out, "module", e->key.name);
        sym_out_raw(out, SYM_STR(","));
        label(out, "id", e->key.id);
        sym_out_raw(out, SYM_STR(","));
        label(out, "state", state_word(e));
        sym_out_raw(out, SYM_STR("} "));
        sym_out_dec(out, is_frames ? e->frames : e->requests);
        sym_out_raw(out, SYM_STR("\n"));
    }
}


void
sym_ledger_metrics(const sym_ledger_entry_t *entries, uint32_t n,
                   uint32_t missing, uint32_t arrived,
                   const sym_ledger_totals_t *totals, sym_out_t *out)
{
    total_t list[TOTALS];

    family(out, "modules", "", "gauge", "Modules that are missing.");
    sample(out, "modules", "", missing);
    family(out, "modules_arrived", "", "gauge",
           "Modules that were missing and arrived within a day.");
    sample(out, "modules_arrived", "", arrived);

    list_totals(totals, list);
    for (unsigned i = 0; i < TOTALS; i++) {
        family(out, list[i].name, "_total", "counter", list[i].help);
        sample(out, list[i].name, "_total", list[i].value);
    }

    top(entries, n, false, out);
    top(entries, n, true, out);
}
