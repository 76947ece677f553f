/* A profile as trees of frames with weights, for viewers of stacks: flame graphs, speedscope,
 * pprof.
 *
 *     bool asked[STACK_VIEWS] = { [VIEW_PHASES] = true };
 *     struct stack_views *views = stack_views_build(profile, asked, err);
 *     const struct stack_view *view = &views->views[VIEW_PHASES];
 *     for (uint32_t i = view->first; i < view->first + view->n; i++)
 *         use(views->nodes.v[i].weight);
 *     stack_views_free(views);
 *
 * Views by user stack and by module need profile_options.by, that of replayed dispatches needs
 * profile_options.replay. A view has no nodes if there is nothing to show. */
#ifndef SYMTAPE_PROFILE_VIEWERS_STACK_VIEWS_H
#define SYMTAPE_PROFILE_VIEWERS_STACK_VIEWS_H

#include "profile/model/profile.h"
#include "trace/base/intern.h"

enum stack_view_id {
#define STACK_VIEW(id, name, title, unit) VIEW_##id,
#include "profile/viewers/stack_views.def"
#undef STACK_VIEW
    STACK_VIEWS
};

enum view_unit { VIEW_NANOSECONDS, VIEW_COUNT };

const char *stack_view_name(enum stack_view_id id); /* "phases" */
/* Returns "phases, by measured time"; of lines, whether their time is measured depends on the
 * profile. */
const char *stack_view_title(const struct profile *profile, enum stack_view_id id);
enum view_unit stack_view_unit(enum stack_view_id id);

struct view_frame {
    struct str name; /* one line, harmless to read */
    struct str file; /* likewise; "" */
    uint32_t line;   /* 0: of no line */
};

#define VIEW_NONE UINT32_MAX

struct view_node {
    uint32_t frame;
    uint32_t parent; /* in front of it in the array; or VIEW_NONE */
    int64_t weight;  /* without the nodes below it; not negative */
};

struct stack_view {
    uint32_t first, n; /* its nodes */
    int64_t total;     /* of their weights */
};

struct stack_views {
    struct stack_view views[STACK_VIEWS];
    vec_of(struct view_node)
    nodes;
    vec_of(struct view_frame)
    frames;
    struct intern frame_keys, node_keys; /* in the order of `frames` and of `nodes` */
    struct arena arena;
};

struct stack_views *stack_views_build(const struct profile *profile, const bool *asked,
                                      struct err *err);
void stack_views_free(struct stack_views *views); /* NULL is fine */

/* The frames of a stack. */
struct view_path {
    vec_of(uint32_t)
    frames; /* the innermost first */
};
/* Sets the frames from a node to its root. Returns false when memory ran out. */
bool stack_views_path(const struct stack_views *views, uint32_t node, struct view_path *ret);

#endif
