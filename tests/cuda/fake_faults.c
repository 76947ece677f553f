#include "tests/cuda/fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    bool initialized, current;
    int idle; /* 0: not looked for, 1: no, 2: yes */
    int broken;
    double now;
    uint64_t launches;
    struct {
        const char *name;
        uint64_t n;
    } calls[128];
    uint64_t n_calls;
    const char *failed;  /* the call that was made to fail; NULL */
    char rule[512];      /* $SYMTAPE_FAKE_FAIL, when a call looked last */
    uint64_t n_injected; /* since it is that */
    uint64_t exist[FAKE_KINDS], left[FAKE_KINDS];
} state;

static const char *const kind_names[] = { "memory", "host memory", "stream",          "event",
                                          "module", "graph",       "executable graph" };

__attribute__((destructor)) static void write_report(void)
{
    const char *path = getenv("SYMTAPE_FAKE_REPORT");
    FILE *file = path && *path ? fopen(path, "w") : NULL;
    if (!file)
        return;
    fprintf(file, "calls %llu\n", (unsigned long long)state.n_calls);
    if (state.failed)
        fprintf(file, "failed %s\n", state.failed);
    for (int k = 0; k < FAKE_KINDS; k++)
        if (state.left[k] + state.exist[k])
            fprintf(file, "left %llu %s\n", (unsigned long long)(state.left[k] + state.exist[k]),
                    kind_names[k]);
    fclose(file);
}

void fake_made(enum fake_kind kind)
{
    state.exist[kind]++;
}

void fake_gone(enum fake_kind kind)
{
    state.exist[kind] -= state.exist[kind] > 0;
}

void fake_end_context(bool reset)
{
    for (int k = 0; k < FAKE_KINDS; k++) {
        state.left[k] += reset ? 0 : state.exist[k];
        state.exist[k] = 0;
    }
    if (!fake_setting("SYMTAPE_FAKE_GONE", 0))
        state.broken = CU_OK;
    state.current = false;
}

int64_t fake_setting(const char *name, int64_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoll(text, NULL, 10) : otherwise;
}

bool fake_idles(void)
{
    if (state.idle == 0)
        state.idle = fake_setting("SYMTAPE_FAKE_IDLE", 0) ? 2 : 1;
    return state.idle == 2;
}

/* How often it was called, this call included. */
static uint64_t count(const char *name)
{
    for (size_t i = 0; i < sizeof state.calls / sizeof *state.calls; i++) {
        if (!state.calls[i].name)
            state.calls[i].name = name;
        if (strcmp(state.calls[i].name, name) == 0)
            return ++state.calls[i].n;
    }
    return 0;
}

uint64_t fake_injected(void)
{
    return state.n_injected;
}

/* Returns $SYMTAPE_FAKE_FAIL. Calls are counted from when it was set. */
static const char *fail_rule(void)
{
    const char *rule = getenv("SYMTAPE_FAKE_FAIL");
    rule = rule ? rule : "";
    if (strncmp(rule, state.rule, sizeof state.rule - 1) == 0)
        return rule;
    snprintf(state.rule, sizeof state.rule, "%s", rule);
    memset(state.calls, 0, sizeof state.calls);
    state.n_injected = 0;
    return rule;
}

static int injected(const char *name)
{
    const char *rule = fail_rule();
    uint64_t n = count(name);
    size_t length = strlen(name);
    const char *call = getenv("SYMTAPE_FAKE_FAIL_CALL");
    unsigned long long wanted;
    int with;
    if (++state.n_calls && call && sscanf(call, "%llu:%d", &wanted, &with) == 2 &&
        wanted == state.n_calls) {
        state.failed = name;
        return with;
    }
    for (; rule && *rule; rule = strchr(rule, ',') ? strchr(rule, ',') + 1 : NULL) {
        unsigned long long at = 0;
        int error = 0;
        if (strncmp(rule, name, length) == 0 && rule[length] == ':' &&
            sscanf(rule + length, ":%llu:%d", &at, &error) == 2 && (at == 0 || at == n)) {
            state.n_injected++;
            return error;
        }
    }
    return 0;
}

int fake_enter(const char *name)
{
    if (fake_idles())
        return CU_OK;
    int error = injected(name);
    if (error)
        return error;
    return state.initialized || strcmp(name, "cuInit") == 0 ? CU_OK : NOT_INITIALIZED;
}

int fake_enter_context(const char *name)
{
    if (fake_idles())
        return CU_OK;
    int error = fake_enter(name);
    if (error)
        return error;
    if (state.broken)
        return state.broken;
    return state.current ? CU_OK : INVALID_CONTEXT;
}

void fake_break(int error)
{
    state.broken = error;
}

void fake_initialized(void)
{
    state.initialized = true;
}

void fake_use(bool current)
{
    state.current = current;
}

void fake_pass_time(double us)
{
    state.now += us;
}

double fake_now(void)
{
    return state.now;
}

int fake_launched(void)
{
    unsigned long long at;
    int error;
    const char *lost = getenv("SYMTAPE_FAKE_LOST"), *breaks = getenv("SYMTAPE_FAKE_BREAK");
    state.launches++;
    if (breaks && sscanf(breaks, "%llu:%d", &at, &error) == 2 && state.launches == at)
        state.broken = error;
    if (lost && sscanf(lost, "%llu:%d", &at, &error) == 2 && state.launches >= at)
        state.broken = error;
    return state.broken;
}
