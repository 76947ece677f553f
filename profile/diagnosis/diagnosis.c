#include "profile/diagnosis/diagnosis.h"

#include "profile/diagnosis/finder.h"

/* In the order of findings that weigh the same. */
static void (*const FINDERS[])(struct finder *d) = {
    find_faults_and_settings,
    find_failures,
    find_export_constraints,
    find_asserts,
    find_unfinished,
    find_recompiles,
    find_restarts,
    find_breaks,
    find_eager,
    find_cuda_graphs,
    find_caches,
    find_ranks,
    find_costs,
};

static const struct finding_kind_row {
    const char *name, *detail, *title;
    int weight;
} KINDS[] = {
#define FINDING(id, kind, detail, title, weight) { kind, detail, title, weight },
#include "profile/diagnosis/finding_kinds.def"
#undef FINDING
};

static const char *const REMEDIES[] = {
#define REMEDY(id, name, condition) name,
#include "profile/diagnosis/remedies.def"
#undef REMEDY
};

const char *finding_kind_name(enum finding_kind kind)
{
    return KINDS[kind].name;
}

const char *finding_detail(enum finding_kind kind)
{
    return KINDS[kind].detail;
}

const char *finding_kind_title(enum finding_kind kind)
{
    return KINDS[kind].title;
}

const char *remedy_kind_name(enum remedy_kind kind)
{
    return REMEDIES[kind];
}

const char *basis_name(enum basis basis)
{
    return basis == BASIS_MEASURED ? "measured" : "estimated";
}

/* ---- The order ---- */

/* A finding with the time by which it is ordered. */
struct ordered_finding {
    struct finding finding;
    int64_t weight;
    size_t added;
};

static int compare_findings(const void *a, const void *b)
{
    const struct ordered_finding *x = a, *y = b;
    if (x->finding.ended_program != y->finding.ended_program)
        return x->finding.ended_program ? -1 : 1;
    int by_weight = build_descending(x->weight, y->weight);
    return by_weight ? by_weight : (x->added > y->added) - (x->added < y->added);
}

/* A part of the compiler without a line of the program is no cause: causes come before it. What
 * another finding is a part of keeps its place, even if that part cost little. */
static int64_t finding_weight(const struct finder *d, const struct finding_build *f)
{
    bool is_part = f->finding.kind == FINDING_COST && f->finding.file.n == 0;
    int64_t weight = f->weight_ns;
    if (weight < 0)
        weight = d->p->compile_ns / 100 * KINDS[f->finding.kind].weight;
    if (f->finding.ns < 0 || is_part || (f->absorbs && weight > f->finding.ns))
        return weight;
    return f->finding.ns;
}

static bool order_findings(struct finder *d)
{
    struct ordered_finding *order = calloc(d->n + 1, sizeof *order);
    d->findings = arena_array(&d->arena, struct finding, d->n + 1);
    if (!order || !d->findings) {
        free(order);
        return err_nomem(&d->err);
    }
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++) {
        struct finding_build *f = d->items[i];
        f->finding.evidence = f->evidence.v;
        f->finding.n_evidence = (uint32_t)f->evidence.n;
        f->finding.remedies = f->remedies.v;
        f->finding.n_remedies = (uint32_t)f->remedies.n;
        /* Phases and metrics are measured apart, and compiles can be inside of others. */
        if (d->p->compile_ns > 0 && f->finding.ns > d->p->compile_ns)
            f->finding.ns = d->p->compile_ns;
        if (!f->absorbed)
            order[n++] = (struct ordered_finding){ f->finding, finding_weight(d, f), i };
    }
    qsort(order, n, sizeof *order, compare_findings);
    for (size_t i = 0; i < n; i++)
        d->findings[i] = order[i].finding;
    free(order);
    d->diagnosis.findings = d->findings;
    d->diagnosis.n_findings = (uint32_t)n;
    return true;
}

/* ---- All of it ---- */

struct diagnosis *diagnosis_build(const struct profile *profile, struct err *err)
{
    struct finder *d = calloc(1, sizeof *d);
    if (!d) {
        err_nomem(err);
        return NULL;
    }
    d->p = d->diagnosis.profile = profile;
    for (size_t i = 0; i < sizeof FINDERS / sizeof *FINDERS; i++)
        if (!err_is_set(&d->err))
            FINDERS[i](d);
    if (!err_is_set(&d->err) && order_findings(d))
        return &d->diagnosis;
    *err = d->err;
    diagnosis_free(&d->diagnosis);
    return NULL;
}

void diagnosis_set_proof(struct diagnosis *diagnosis, uint32_t finding, uint32_t remedy,
                         const struct remedy_proof *proof)
{
    struct remedy *of_finding = (struct remedy *)diagnosis->findings[finding].remedies;
    of_finding[remedy].proof = proof;
}

void diagnosis_free(struct diagnosis *diagnosis)
{
    struct finder *d = (struct finder *)diagnosis;
    if (!d)
        return;
    for (size_t i = 0; i < d->n; i++) {
        vec_release(&d->items[i]->evidence);
        vec_release(&d->items[i]->remedies);
    }
    for (uint32_t i = 0; d->settings && i < d->p->n_traces; i++)
        settings_free(d->settings[i]);
    free(d->settings);
    free(d->items);
    intern_release(&d->keys);
    arena_release(&d->arena);
    free(d);
}
