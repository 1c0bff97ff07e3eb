#include "api/atos/request.h"

#include <stdlib.h>

#include "base/hex.h"
#include "api/atos/query.h"
#include "json/load.h"

#define IMAGE_NONE UINT32_MAX

/* The item that a message names: "image 3", "address 17". */
typedef struct {
    const char *what;
    size_t number;
} about_t;


static sym_status_t
refuse_item(atos_t *a, about_t at, const char *what)
{
    return at.what != NULL
               ? sym_request_refuse(&a->base, SYM_MALFORMED, "%s %zu: %s",
                                    at.what, at.number, what)
               : sym_request_refuse(&a->base, SYM_MALFORMED, "%s", what);
}


static sym_str_t
string_of(const json_t *value)
{
    return sym_str(json_string_value(value), json_string_length(value));
}


/* --- numbers --- */

/* Accepts JSON numbers, too, if they can be addresses. */
static bool
integer_of(const json_t *value, uint64_t *number)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        return false;
    }

    *number = (uint64_t) json_integer_value(value);
    return true;
}


static sym_status_t
read_address(atos_t *a, about_t at, const json_t *value, address_t *address)
{
    char digits[24];
    sym_str_t text = string_of(value);

    if (integer_of(value, &address->value)) {
        text = sym_str(
            digits, (size_t) (sym_dec_write(digits, address->value) - digits));
    } else if (!json_is_string(value)
               || !sym_atos_address_read(text, &address->value))
    {
        return refuse_item(a, at, "not an address like \"0x10035d580\"");
    }

    address->text = sym_arena_copy(a->base.arena, text);
    return address->text.data != NULL ? SYM_OK : SYM_NOMEM;
}


/* --- images --- */

static sym_status_t
read_base(atos_t *a, about_t at, const json_t *object, sym_atos_base_t *base)
{
    const json_t *load = json_object_get(object, "load_address");
    const json_t *slide = json_object_get(object, "slide");
    const json_t *offset = json_object_get(object, "offset");
    const json_t *value = load != NULL ? load : slide;

    if (offset != NULL && !json_is_boolean(offset)) {
        return refuse_item(a, at, "offset must be true or false");
    }

    if ((load != NULL) + (slide != NULL) + json_is_true(offset) > 1) {
        return refuse_item(a, at, "give one of load_address, slide and offset");
    }

    base->from = json_is_true(offset) ? SYM_ATOS_OFFSET
                 : load != NULL       ? SYM_ATOS_LOAD
                                      : SYM_ATOS_SLIDE;

    if (value != NULL && !integer_of(value, &base->value)
        && (!json_is_string(value)
            || !sym_atos_base_read(string_of(value), &base->value)))
    {
        return refuse_item(a, at,
                           load != NULL ? "load_address is not an address"
                                        : "slide is not a number");
    }

    return SYM_OK;
}


static sym_status_t
read_image(atos_t *a, about_t at, const json_t *object, image_t *image)
{
    const json_t *uuid = json_object_get(object, "uuid");
    const json_t *name = json_object_get(object, "image");
    sym_str_t file_name;

    if (!json_is_object(object)) {
        return refuse_item(a, at, "an image must be an object");
    }

    image->id_len = json_is_string(uuid)
                        ? sym_uuid_canonical(string_of(uuid), image->id)
                        : 0;

    if (image->id_len == 0) {
        return refuse_item(a, at, "uuid must be 32 hexadecimal digits");
    }

    /* crash reports may have paths as image names */
    file_name = json_is_string(name)
                    ? sym_str_after_last(string_of(name), SYM_STR("/"))
                    : SYM_STR("");
    if (!sym_module_name_ok(file_name)) {
        return refuse_item(a, at, "image must be the name of a binary");
    }

    image->name = sym_arena_copy(a->base.arena, file_name);
    return image->name.data != NULL ? read_base(a, at, object, &image->base)
                                    : SYM_NOMEM;
}


static sym_status_t
read_images(atos_t *a, const json_t *list)
{
    size_t n = json_array_size(list);
    uint32_t limit = a->base.options->limits.modules;
    sym_status_t rc = SYM_OK;

    if (!json_is_array(list)) {
        return sym_request_refuse(&a->base, SYM_MALFORMED,
                                  "images must be a list");
    }

    if (n >= IMAGE_NONE || (limit != 0 && n > limit)) {
        return sym_request_refuse(&a->base, SYM_LIMIT,
                                  "please limit number of images to <= %u",
                                  limit);
    }

    a->images = sym_arena_calloc(a->base.arena, n, sizeof(*a->images));
    if (a->images == NULL) {
        return SYM_NOMEM;
    }

    a->n_images = (uint32_t) n;
    for (size_t i = 0; i < n && rc == SYM_OK; i++) {
        rc = read_image(a, (about_t){ "image", i }, json_array_get(list, i),
                        &a->images[i]);
    }

    return rc;
}


static sym_status_t
read_single_image(atos_t *a, const json_t *root)
{
    a->images = sym_arena_calloc(a->base.arena, 1, sizeof(*a->images));
    a->n_images = 1;
    return a->images != NULL ? read_image(a, (about_t){ 0 }, root, a->images)
                             : SYM_NOMEM;
}


/* --- addresses --- */

/* [image, address] */
static sym_status_t
read_frame(atos_t *a, about_t at, const json_t *frame, address_t *address)
{
    uint64_t image;

    if (json_array_size(frame) != 2
        || !integer_of(json_array_get(frame, 0), &image)
        || image >= a->n_images)
    {
        return refuse_item(a, at, "not the index of an image and an address");
    }

    address->image = (uint32_t) image;
    return read_address(a, at, json_array_get(frame, 1), address);
}


/* Reads `key`: a list of addresses in the only image, or of [image, address]
 * pairs. */
static sym_status_t
read_list(atos_t *a, const json_t *root, const char *key, bool are_frames)
{
    const json_t *list = json_object_get(root, key);
    size_t n = json_array_size(list);
    uint32_t limit = a->base.options->limits.frames;
    sym_status_t rc = SYM_OK;

    if (!json_is_array(list)) {
        return sym_request_refuse(&a->base, SYM_MALFORMED, "%s must be a list",
                                  key);
    }

    if (n >= UINT32_MAX || (limit != 0 && n > limit)) {
        return sym_request_refuse(&a->base, SYM_LIMIT,
                                  "please limit number of %s to <= %u", key,
                                  limit);
    }

    a->addresses = sym_arena_calloc(a->base.arena, n, sizeof(*a->addresses));
    if (a->addresses == NULL) {
        return SYM_NOMEM;
    }

    for (size_t i = 0; i < n && rc == SYM_OK; i++) {
        const json_t *item = json_array_get(list, i);

        rc = are_frames ? read_frame(a, (about_t){ "frame", i }, item,
                                     &a->addresses[i])
                        : read_address(a, (about_t){ "address", i }, item,
                                       &a->addresses[i]);

        if (rc == SYM_OK) {
            a->images[a->addresses[i].image].is_used = true;
        }
    }

    a->base.stats.frames = (uint32_t) n;
    return rc;
}


/* --- other members of the request --- */

static sym_status_t
read_flag(atos_t *a, const json_t *root, const char *key, bool *flag)
{
    const json_t *value = json_object_get(root, key);

    if (value != NULL && !json_is_boolean(value)) {
        return sym_request_refuse(&a->base, SYM_MALFORMED,
                                  "%s must be true or false", key);
    }

    *flag = json_is_true(value);
    return SYM_OK;
}


static sym_status_t
read_mode(atos_t *a, const json_t *root)
{
    const json_t *value = json_object_get(root, "inline");

    if (value != NULL
        && (!json_is_string(value)
            || !sym_atos_inline_read(string_of(value), &a->mode)))
    {
        return sym_request_refuse(&a->base, SYM_MALFORMED,
                                  "inline must be outer, decl, line or all");
    }

    return SYM_OK;
}


static sym_status_t
read_root(atos_t *a, const json_t *root)
{
    const json_t *images = json_object_get(root, "images");
    sym_status_t rc;

    if (!json_is_object(root)) {
        return sym_request_refuse(&a->base, SYM_MALFORMED,
                                  "the request must be an object");
    }

    rc = read_mode(a, root);
    rc = rc != SYM_OK ? rc : read_flag(a, root, "full_path", &a->full_path);
    rc = rc != SYM_OK
             ? rc
             : read_flag(a, root, "return_addresses", &a->has_return_addresses);

    if (images != NULL) {
        rc = rc != SYM_OK ? rc : read_images(a, images);
        return rc != SYM_OK ? rc : read_list(a, root, "frames", true);
    }

    rc = rc != SYM_OK ? rc : read_single_image(a, root);
    return rc != SYM_OK ? rc : read_list(a, root, "addresses", false);
}


/* --- modules --- */

static sym_str_t
id_of(const image_t *image)
{
    return sym_str(image->id, image->id_len);
}


static int
compare_images(const void *x, const void *y)
{
    const image_t *a = *(image_t *const *) x, *b = *(image_t *const *) y;
    int order = sym_str_cmp(id_of(a), id_of(b));

    return order != 0 ? order : sym_str_cmp(a->name, b->name);
}


/* Images that differ only in their load address share one module. */
static sym_status_t
collect_modules(atos_t *a)
{
    image_t **used =
        sym_arena_calloc(a->base.arena, a->n_images, sizeof(image_t *));
    sym_object_ref_t *refs =
        sym_arena_alloc(a->base.arena, a->n_images * sizeof(*refs));
    uint32_t n = 0, n_modules = 0;

    a->base.needs =
        sym_arena_calloc(a->base.arena, a->n_images, sizeof(*a->base.needs));
    if (used == NULL || refs == NULL || a->base.needs == NULL) {
        return SYM_NOMEM;
    }

    for (uint32_t i = 0; i < a->n_images; i++) {
        if (a->images[i].is_used) {
            used[n++] = &a->images[i];
        }
    }

    if (n != 0) {
        qsort(used, n, sizeof(*used), compare_images);
    }

    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || compare_images(&used[i - 1], &used[i]) != 0) {
            sym_object_ref_named(&refs[n_modules], used[i]->name,
                                 id_of(used[i]));
            a->base.needs[n_modules] = (sym_need_t){
                .ref = &refs[n_modules],
                .kind = SYM_KIND_SYMCACHE,
                .found = SYM_NEED_MISSING,
            };
            n_modules++;
        }
        used[i]->module = n_modules - 1;
    }

    a->base.stats.modules = n_modules;
    return SYM_OK;
}


static sym_status_t
read_body(atos_t *a)
{
    sym_error_t err = { 0 };
    sym_json_t json;
    sym_status_t rc = sym_json_load_charged(
        &json, a->base.arena->account, a->base.body, JSON_REJECT_DUPLICATES,
        "the request is not JSON", &err);

    if (rc == SYM_OK) {
        rc = read_root(a, json.root);
    } else if (rc == SYM_MALFORMED) {
        rc = sym_request_refuse(&a->base, rc, "%s", err.what);
    } else if (rc == SYM_LIMIT) {
        rc = sym_request_refuse(&a->base, rc,
                                "please limit the request to %zu bytes, "
                                "%zu keys and %zu bytes of memory",
                                SYM_JSON_BYTES_MAX, SYM_JSON_KEYS_MAX,
                                SYM_JSON_MEMORY_MAX);
    }

    sym_json_drop(&json);
    return rc;
}


static sym_status_t
read_query(atos_t *a)
{
    json_t *root;
    sym_status_t rc = atos_query_read(a, &root);

    if (rc == SYM_OK) {
        rc = read_root(a, root);
        json_decref(root);
    }

    return rc;
}


sym_status_t
atos_read(atos_t *a)
{
    sym_status_t rc = a->is_query ? read_query(a) : read_body(a);

    return rc != SYM_OK ? rc : collect_modules(a);
}
