#include "profile/calls/cudagraphs/tree_manager.h"

static uint32_t node_hash(const struct graph_node *node)
{
    uint64_t hash = node->parent;
    hash = (hash ^ node->function) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ (uint64_t)node->module ^ hash >> 29) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(hash >> 32);
}

/* Returns the child of the present node that is a recording of the run, or NODE_ROOT. A recording
 * made with other parameters is none: StaticInputIdxMismatch of CUDAGraphNode.check_invariants().
 */
static uint32_t find_child(const struct tree_manager *m, const struct graph_node *wanted)
{
    uint32_t row, hash = node_hash(wanted);
    for (size_t at = hash_index_start(&m->index, hash);
         hash_index_next(&m->index, hash, &at, &row);) {
        const struct graph_node *node = &m->nodes.v[row];
        if (node->parent == wanted->parent && node->function == wanted->function &&
            node->module == wanted->module)
            return row;
    }
    return NODE_ROOT;
}

static bool add_function(struct tree_manager *m, uint32_t function)
{
    while (m->warm.n <= function)
        if (!vec_push(&m->warm, false))
            return false;
    while (m->roots.n <= function)
        if (!vec_push(&m->roots, false))
            return false;
    return true;
}

static void end_path(struct tree_manager *m)
{
    m->state = PATH_NONE;
    m->current = NODE_ROOT;
    m->path++;
}

/* can_start_new_generation() */
static bool can_end_path(const struct tree_manager *m)
{
    return m->in_path != m->generation && !m->pending;
}

static bool record(struct tree_manager *m, const struct graph_node *node)
{
    if (!hash_index_reserve(&m->index, 1) || !vec_push(&m->nodes, *node))
        return false;
    m->current = (uint32_t)m->nodes.n - 1;
    hash_index_add(&m->index, node_hash(node), m->current);
    if (node->parent == NODE_ROOT)
        m->roots.v[node->function] = true;
    m->state = PATH_RECORDING;
    return true;
}

/* Runs a function that is warm in a path that does not warm up. */
static bool replay_or_record(struct tree_manager *m, const struct wrapped_run *run,
                             enum run_action *ret)
{
    struct graph_node node = { m->current, run->function, run->module };
    bool recording = m->state == PATH_RECORDING;
    uint32_t found = recording ? NODE_ROOT : find_child(m, &node);
    if (found == NODE_ROOT && !recording && m->current != NODE_ROOT && can_end_path(m)) {
        end_path(m);
        node.parent = NODE_ROOT;
        found = m->roots.v[run->function] ? find_child(m, &node) : NODE_ROOT;
    }
    *ret = found == NODE_ROOT ? RUN_RECORD : RUN_REPLAY;
    if (found == NODE_ROOT)
        return record(m, &node);
    m->current = found;
    m->state = PATH_EXECUTION;
    return true;
}

static bool run_in_path(struct tree_manager *m, const struct wrapped_run *run, enum run_action *ret)
{
    if (m->state == PATH_NONE)
        end_path(m); /* also of a manager that is all zeros */
    if ((m->state == PATH_RECORDING || m->state == PATH_WARM_UP) && can_end_path(m))
        end_path(m);
    *ret = RUN_EAGER;
    if (run->mutates)
        return true;
    bool ok = true;
    if (!m->warm.v[run->function] || m->state == PATH_WARM_UP) {
        /* apply_checkpoint_execution_state_in_allocator() keeps what is alive, which outputs of
         * earlier calls are not. */
        m->path += m->state == PATH_EXECUTION && can_end_path(m);
        *ret = m->warm.v[run->function] ? RUN_EAGER : RUN_WARM_UP;
        m->warm.v[run->function] = true;
        m->state = PATH_WARM_UP;
    } else {
        ok = replay_or_record(m, run, ret);
    }
    m->in_path = m->generation;
    return ok;
}

bool tree_manager_run(struct tree_manager *manager, const struct wrapped_run *run,
                      enum run_action *ret)
{
    if (!add_function(manager, run->function) || !run_in_path(manager, run, ret))
        return false;
    tree_manager_pass(manager, run->mode);
    if (run->mode == MODE_FORWARD)
        manager->pending = true;
    return true;
}

void tree_manager_pass(struct tree_manager *manager, enum run_mode mode)
{
    if (mode == MODE_BACKWARD)
        manager->pending = false;
}

void tree_manager_release(struct tree_manager *manager)
{
    vec_release(&manager->nodes);
    vec_release(&manager->warm);
    vec_release(&manager->roots);
    hash_index_release(&manager->index);
}

const char *run_action_name(enum run_action action)
{
    static const char *const NAMES[RUN_ACTIONS] = { "warm-up", "record", "replay", "eager" };
    return NAMES[action];
}
