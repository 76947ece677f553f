/* The manual of the diagnosis: why a program failed, recompiled or compiled slowly, and what to
 * change. It is made from a finished profile, and from the records behind it.
 *
 *     struct diagnosis *diagnosis = diagnosis_build(profile, &err);
 *     for (uint32_t i = 0; i < diagnosis->n_findings; i++) ...
 *     diagnosis_free(diagnosis);
 *
 * A *finding* is one cause, not one symptom: a float that restarted the compile of 22 layers is one
 * finding with a count of 22. The first finding is what ended the program, if something did; the
 * others follow by what they cost. A *remedy* is a change of the user's program or settings that
 * removes the cause. Nothing here is executed, and no file that a tape names is opened: code is the
 * code on the tape.
 *
 * Ownership: findings live until diagnosis_free(); they borrow the profile and its traces. Texts
 * are as recorded: whoever prints them escapes them (format_text() in profile/model/format.h). */
#ifndef SYMTAPE_PROFILE_DIAGNOSIS_DIAGNOSIS_H
#define SYMTAPE_PROFILE_DIAGNOSIS_DIAGNOSIS_H

#include "profile/model/profile.h"

enum finding_kind {
#define FINDING(id, kind, detail, title, weight) FINDING_##id,
#include "profile/diagnosis/finding_kinds.def"
#undef FINDING
    FINDING_KINDS
};
const char *finding_kind_name(enum finding_kind kind);  /* in JSON: "configuration" */
const char *finding_detail(enum finding_kind kind);     /* in JSON: "cache" */
const char *finding_kind_title(enum finding_kind kind); /* "nothing was compiled" */

enum remedy_kind {
#define REMEDY(id, name, condition) REMEDY_##id,
#include "profile/diagnosis/remedies.def"
#undef REMEDY
    REMEDY_KINDS
};
const char *remedy_kind_name(enum remedy_kind kind); /* "mark_dynamic" */

/* What a remedy does to the calls of the program, as far as a replay of them can tell. */
enum remedy_effect {
    EFFECT_OTHER,       /* its kind or its text tells it, or none that can be replayed */
    EFFECT_SAME_VALUE,  /* the finding's source has one value in all calls */
    EFFECT_SAME_TENSOR, /* its value becomes that of a tensor, which no guard compares */
    EFFECT_SYMBOL,      /* from its second value on, it is a symbol */
    EFFECT_SAME_MODE,   /* all calls are made in one mode, such as no_grad() */
    EFFECT_ONE_SIZE,    /* the size has one value in all calls */
    EFFECT_TWO_OR_MORE, /* the size is not 0 or 1 */
    EFFECT_CONDITION,   /* "so that CONDITION holds", in the text: sizes are padded until it does */
};

/* What a replay showed that a remedy saves: of each what is less; what is more is negative. */
struct remedy_proof {
    struct str text; /* "1 of 2 compiles; about 55 ms of 312 ms" */
    int64_t compiles, attempts, breaks, failures, eager, guards, dispatches;
    bool dispatches_known;
    double seconds; /* of compiling; estimated */
};

/* What a remedy makes of the Dim of one size, and where the symbols are that torch.export made. */
struct dim_remedy {
    struct str source;           /* "L['x'].size()[0]" */
    uint32_t recording;          /* of the profile */
    uint32_t attempt, record;    /* symbols and guards are those of the attempt before the record */
    bool removed;                /* the size has no Dim */
    int64_t lower, upper;        /* of the Dim; INT64_MAX: no bound */
    int64_t multiple, remainder; /* the size is multiple * Dim + remainder */
    struct str root; /* another size whose Dim that is, "L['y'].size()[0]"; "": one of its own */
};

struct remedy {
    enum remedy_kind kind;
    enum remedy_effect effect;
    struct str text;                  /* what to paste or to change, one line */
    struct str fact;                  /* that it states, in recorded symbols: "u0 > u1"; "" */
    bool negates;                     /* it states that the fact is false */
    const struct dim_remedy *dim;     /* NULL: it changes no Dim */
    const struct remedy_proof *proof; /* NULL: no replay showed that it saves anything */
};

enum basis { BASIS_MEASURED, BASIS_ESTIMATED };
const char *basis_name(enum basis basis); /* "measured", "estimated" */

struct finding {
    enum finding_kind kind;
    bool ended_program;    /* the exception left the program, as far as the tape tells */
    uint32_t count;        /* number of causes of one kind that are this entry; 1 or more */
    int64_t ns;            /* what it cost of the profile's compile_ns; -1: not known */
    enum basis basis;      /* of ns */
    struct str cause;      /* one sentence, without its full stop */
    struct str source;     /* "L['x'].size()[1]"; "" if no input is its source */
    struct str question;   /* "u0 > u1", which PyTorch could not answer; "" */
    struct str message;    /* the whole message of an exception, with its type; "" */
    struct str file, code; /* the user's line; "" if there is none */
    uint32_t line;
    uint32_t recording, compile; /* index into the profile's; PROFILE_NONE */
    const struct str *evidence;  /* one line each: what was recorded */
    uint32_t n_evidence;
    const struct remedy *remedies; /* the best one first */
    uint32_t n_remedies;
};

struct diagnosis {
    const struct profile *profile;
    const struct finding *findings; /* worst first */
    uint32_t n_findings;
};

/* Returns NULL with err set when memory ran out or a tape could not be read. */
struct diagnosis *diagnosis_build(const struct profile *profile, struct err *err);
/* Sets what a replay showed of a remedy of a finding. The proof is borrowed. */
void diagnosis_set_proof(struct diagnosis *diagnosis, uint32_t finding, uint32_t remedy,
                         const struct remedy_proof *proof);
void diagnosis_free(struct diagnosis *diagnosis); /* NULL is allowed */

#endif
