#include "daemon/owners.h"

#include <stdlib.h>

/* A place; exists while a search has it. */
struct owner_place_s {
    table_node_t node; /* in the table by path; the first member */
    uint64_t checksum;
    owner_t *owner; /* NULL: none */
    owner_visit_t *first;
};

/* NULL: out of memory. */
static owner_place_t *
get_place(table_t *all, uint64_t path, uint64_t checksum)
{
    table_node_t *node = table_first(all, path);
    owner_place_t *place;

    while (node != NULL && ((owner_place_t *) node)->checksum != checksum) {
        node = table_next(node);
    }

    if (node != NULL) {
        return (owner_place_t *) node;
    }

    place = calloc(1, sizeof(*place));
    if (place != NULL) {
        place->checksum = checksum;
        table_add(all, &place->node, path);
    }

    return place;
}


static void
link_visit(owner_visit_t *visit, owner_place_t *place)
{
    visit->place = place;
    visit->next = place->first;
    visit->at = &place->first;
    if (visit->next != NULL) {
        visit->next->at = &visit->next;
    }
    place->first = visit;
}


static void
unlink_visit(table_t *all, owner_visit_t *visit)
{
    *visit->at = visit->next;
    if (visit->next != NULL) {
        visit->next->at = visit->at;
    }

    if (visit->place->first == NULL) {
        table_remove(all, &visit->place->node);
        free(visit->place);
    }
}


bool
owner_create(table_t *all, owner_t *search, const owner_plan_t *plan)
{
    *search =
        (owner_t){ .places = calloc(plan->n + 1U, sizeof(owner_visit_t)) };

    if (search->places == NULL) {
        return false;
    }

    for (; search->n < plan->n; search->n++) {
        owner_visit_t *visit = &search->places[search->n];
        owner_place_t *place =
            get_place(all, plan->paths[search->n], plan->checksum);

        if (place == NULL) {
            owner_drop(all, search, NULL, NULL);
            return false;
        }

        visit->search = search;
        link_visit(visit, place);
    }

    return true;
}


static void
give_back(owner_place_t *place, const owner_t *search, owner_event_t free_again,
          void *ctx)
{
    place->owner = NULL;
    for (owner_visit_t *v = place->first; v != NULL; v = v->next) {
        if (v->search != search) {
            free_again(ctx, v->search, (unsigned) (v - v->search->places));
        }
    }
}


void
owner_own(owner_t *search, uint64_t places, owner_event_t free_again, void *ctx)
{
    uint64_t before = search->owned;

    search->owned = places;
    for (unsigned i = 0; i < search->n; i++) {
        owner_place_t *place = search->places[i].place;

        if ((places >> i & 1) != 0) {
            place->owner = search;
        } else if ((before >> i & 1) != 0) {
            give_back(place, search, free_again, ctx);
        }
    }
}


void
owner_drop(table_t *all, owner_t *search, owner_event_t free_again, void *ctx)
{
    owner_own(search, 0, free_again, ctx);
    while (search->n > 0) {
        unlink_visit(all, &search->places[--search->n]);
    }

    free(search->places);
}


uint64_t
owner_free_places(const owner_t *search, uint64_t open)
{
    uint64_t places = 0;

    for (unsigned i = 0; i < search->n; i++) {
        const owner_t *owner = search->places[i].place->owner;

        if ((open >> i & 1) == 0) {
            continue;
        }

        if (owner != NULL && owner != search) {
            break;
        }

        places |= (uint64_t) 1 << i;
    }

    return places;
}


void
owner_each(const table_t *all, uint64_t path, owner_event_t fn, void *ctx)
{
    const table_node_t *node = table_first(all, path);

    for (; node != NULL; node = table_next(node)) {
        const owner_place_t *place = (const owner_place_t *) node;

        for (owner_visit_t *v = place->first; v != NULL; v = v->next) {
            fn(ctx, v->search, (unsigned) (v - v->search->places));
        }
    }
}


void
owner_each_owner(const owner_t *search, void (*fn)(void *ctx, owner_t *),
                 void *ctx)
{
    for (unsigned i = 0; i < search->n; i++) {
        owner_t *owner = search->places[i].place->owner;

        if (owner != NULL && owner != search) {
            fn(ctx, owner);
        }
    }
}


uint64_t
owner_path(const owner_t *search, unsigned number)
{
    return search->places[number].place->node.hash;
}
