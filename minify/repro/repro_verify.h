/* Runs a repro in a fresh process to verify that it reproduces the failure. */
#ifndef SYMTAPE_MINIFY_REPRO_REPRO_VERIFY_H
#define SYMTAPE_MINIFY_REPRO_REPRO_VERIFY_H

#include <stdatomic.h>

#include "minify/process/torch_python.h"
#include "minify/program/program_setup.h"

enum repro_seen {
    REPRO_SHOWN,     /* exit 1 each time */
    REPRO_NOT_SHOWN, /* exit 0, or a code that is not one of the repro's, at least once */
    REPRO_CANNOT,    /* exit 125: it cannot run with this PyTorch or on this machine */
    REPRO_NO_TORCH   /* there is no Python with PyTorch */
};

struct repro_verified {
    enum repro_seen seen;
    uint32_t asked, shown;
    int status; /* of the last run */
    bool timed_out;
    char version[64]; /* of PyTorch: "2.13.0+cpu"; "" */
    char last[400];   /* the last line that the last run printed; "" */
};

/* Runs a repro `times` times with `python`, each at most `timeout` seconds (0: 300). Each run
 * reads it once and checks it before it runs (minify/program/program_check.py); a file that symtape
 * would not write is REPRO_CANNOT, and `last` has the reason. Returns false with err set; a repro
 * that does not show the failure is no error. */
bool repro_verify(const char *path, const struct torch_python *python,
                  const struct program_setup *setup, uint32_t times, double timeout,
                  const atomic_bool *cancel, struct repro_verified *ret, struct err *err);

/* Appends the end of a sentence: "shown 1 of 1 times with PyTorch 2.13.0+cpu". */
struct buf;
void repro_verified_print(const struct repro_verified *verified, struct buf *out);

#endif
