/* Every graph of the recordings named on the command line (by default those of ../shared): nothing
 * in it is opaque, and its printed form parses to an equal graph.
 *
 * Prints a case a recording, as tests/cases.py does, and ends with 77 when there is none to read.
 */
#include <dirent.h>
#include <stdlib.h>

#include "tests/harness.h"
#include "trace/graphs.h"

struct tally {
    unsigned graphs, nodes, opaque, different, unreadable;
    char first[300]; /* what was wrong first */
};

static void note(struct tally *tally, const struct graph_ref *ref, uint64_t line, const char *what,
                 struct str detail)
{
    if (!tally->first[0])
        snprintf(tally->first, sizeof tally->first, "line %llu: %.*s #%u: %s%.*s",
                 (unsigned long long)line, STR_ARG(ref->name), ref->index, what, STR_ARG(detail));
}

static void check_graph(struct trace *trace, const struct graph_list *list, uint32_t index,
                        struct tally *tally)
{
    const struct graph_ref *ref = &list->refs[index];
    uint64_t line = trace->records[ref->record].line;
    struct err err = ERR_INIT;
    struct buf text = BUF_INIT;
    const struct graph *graph = trace_graph(trace, index, &err);
    tally->graphs++;
    if (!graph) {
        tally->unreadable++;
        note(tally, ref, line, "", str_of(err.text));
        return;
    }
    struct graph_counts counts = graph_counts(graph);
    tally->nodes += counts.nodes;
    tally->opaque += counts.opaque;
    if (counts.opaque)
        note(tally, ref, line, "opaque nodes", STR(""));
    graph_print(graph, &text);
    struct graph *again = text.failed ? NULL : graph_parse(buf_str(&text), &err);
    node_id node = NODE_NONE;
    if (!again || !graph_equal(graph, again, &node)) {
        tally->different++;
        struct str name = node < graph->n_nodes ? graph->nodes[node].name : str_of(err.text);
        note(tally, ref, line, "printed and parsed differs at ", name);
    }
    graph_free(again);
    buf_release(&text);
}

static bool check_recording(const char *path)
{
    struct err err = ERR_INIT;
    struct tally tally = { 0 };
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    struct trace *trace = trace_open(path, NULL, &err);
    const struct graph_list *list = trace ? trace_graphs(trace, &err) : NULL;
    for (uint32_t i = 0; list && i < list->n; i++)
        check_graph(trace, list, i, &tally);
    trace_close(trace);
    bool right = list && tally.opaque + tally.different + tally.unreadable == 0;
    if (right)
        printf("ok - %s: %u graphs, %u nodes\n", name, tally.graphs, tally.nodes);
    else
        printf("not ok - %s: %u graphs, %u different, %u unreadable, %u opaque nodes; %s\n", name,
               tally.graphs, tally.different, tally.unreadable, tally.opaque,
               list ? tally.first : err.text);
    fflush(stdout);
    return right;
}

static int is_recording(const struct dirent *entry)
{
    struct str name = str_of(entry->d_name);
    return str_ends(name, STR(".log.zst")) || str_ends(name, STR(".pt2"));
}

static unsigned check_folder(const char *folder, unsigned *wrong)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, is_recording, alphasort);
    for (int i = 0; i < n; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        *wrong += !check_recording(path);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return n > 0 ? (unsigned)n : 0;
}

int main(int argc, char **argv)
{
    static const char *const folders[] = { "traces", "failures", "variety", "exports" };
    unsigned read = 0, wrong = 0;
    for (int i = 1; i < argc; i++, read++)
        wrong += !check_recording(argv[i]);
    for (size_t i = 0; argc == 1 && i < sizeof folders / sizeof *folders; i++) {
        const char *folder = shared_path(folders[i]);
        read += folder ? check_folder(folder, &wrong) : 0;
    }
    if (read == 0)
        puts("skip - graphs: no ../shared and no SYMTAPE_SHARED");
    return wrong ? 1 : read ? 0 : 77;
}
