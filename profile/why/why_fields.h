/* Private to the room: the fields of the records of an answer, for text and JSON. */
#ifndef SYMTAPE_PROFILE_WHY_WHY_FIELDS_H
#define SYMTAPE_PROFILE_WHY_WHY_FIELDS_H

#include "profile/report/fields.h"
#include "profile/why/why_make.h"

/* Their context is the struct why_answer. */
extern const struct fields why_size_fields, why_event_fields, why_step_fields,
    why_difference_fields;

#endif
