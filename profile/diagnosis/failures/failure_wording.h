/* The words for an exception that ended a compile: its cause and the remedy of exceptions.def where
 * a row applies, otherwise what the message explains. The diagnosis and the notes of all commands
 * have them from here; a finder that knows more replaces the cause (find_data_dependent.c). */
#ifndef SYMTAPE_PROFILE_DIAGNOSIS_FAILURES_FAILURE_WORDING_H
#define SYMTAPE_PROFILE_DIAGNOSIS_FAILURES_FAILURE_WORDING_H

#include "profile/diagnosis/diagnosis.h"
#include "trace/base/buf.h"
#include "trace/events/incidents/failure_text.h"
#include "trace/events/incidents/incidents.h"

struct failure_wording {
    struct failure_text text; /* the parts of the message; they point into the failure */
    struct buf cause;         /* one sentence */
    struct buf remedy;        /* empty without one */
    enum remedy_kind remedy_kind;
};

/* Finds the words; when memory ran out, `failed` of a buffer is set. The wording is to be released
 * in any case. */
void failure_word(const struct failure *failure, struct failure_wording *ret);
void failure_wording_release(struct failure_wording *words);

#endif
