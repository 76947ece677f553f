/* Private to the writers of comparisons and checks: getters of an enum measure. */
#ifndef SYMTAPE_PROFILE_COMPARE_MEASURE_FIELDS_H
#define SYMTAPE_PROFILE_COMPARE_MEASURE_FIELDS_H

#include "profile/report/fields.h"

struct datum get_measure(const void *context, const void *at); /* its name */
struct datum get_measure_unit(const void *context, const void *at);
struct datum get_measure_source(const void *context, const void *at);
struct datum get_measure_meaning(const void *context, const void *at);

#endif
