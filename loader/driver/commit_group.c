#include "driver/commit_group.h"

#include <stdlib.h>

#include "common/now.h"

bool
commit_group_add(commit_group_t *group, const commit_entry_t *entry)
{
    commit_entry_t *one = malloc(sizeof(*one));
    char *text;

    if (one == NULL) {
        return false;
    }

    *one = *entry;
    text = one->text;
    one->key =
        (sym_module_key_t){ .scope = sym_str_append(&text, entry->key.scope),
                            .name = sym_str_append(&text, entry->key.name),
                            .id = sym_str_append(&text, entry->key.id) };
    one->next = NULL;

    if (group->first == NULL) {
        group->first = one;
        group->since_ms = now_ms();
    } else {
        group->last->next = one;
    }

    group->last = one;
    group->n++;
    return true;
}


commit_entry_t *
commit_group_take(commit_group_t *group)
{
    commit_entry_t *one = group->first;

    if (one != NULL) {
        group->first = one->next;
        group->n--;
    }

    return one;
}


bool
commit_group_has(const commit_group_t *group, const sym_module_key_t *key,
                 sym_kind_t kind)
{
    const commit_entry_t *one = group->first;

    while (one != NULL
           && !(one->kind == kind && sym_str_eq(one->key.scope, key->scope)
                && sym_str_eq(one->key.id, key->id)))
    {
        one = one->next;
    }

    return one != NULL;
}


bool
commit_group_has_large(const commit_group_t *group)
{
    return group->first != NULL && group->last->done.bytes > COMMIT_GROUP_BYTES;
}


int
commit_group_left_ms(const commit_group_t *group, int wait_ms)
{
    int64_t waited = now_ms() - group->since_ms;

    return group->n >= COMMIT_GROUP_MAX || commit_group_has_large(group)
                   || waited >= wait_ms
               ? 0
               : (int) (wait_ms - waited);
}
