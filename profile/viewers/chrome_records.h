/* Private to profile/viewers: guards, symbols and graphs on the time axis of phases. */
#ifndef SYMTAPE_PROFILE_VIEWERS_CHROME_RECORDS_H
#define SYMTAPE_PROFILE_VIEWERS_CHROME_RECORDS_H

#include "profile/model/build.h"
#include "trace/base/text/json_write.h"

/* The clock of a recording. Records have a time of day, phases the time since 1970; a phase's event
 * is logged as soon as it happened, so that the least difference of the two is that of the clocks.
 */
struct record_clock {
    bool known; /* the recording has phases */
    uint32_t first_record;
    int64_t start_ns; /* of that record, since 1970 */
};

/* Returns the clocks by the profile's recordings; NULL when memory ran out. The caller frees them.
 */
struct record_clock *record_clocks(const struct profile *profile);

/* Returns the time of the earliest record that chrome_put_records() writes, or `least` if that is
 * earlier. */
int64_t chrome_earliest_record(const struct profile *profile, const struct record_clock *clocks,
                               int64_t least);

/* Writes an instant for each guard, on a thread of that number for the first recording, the next
 * one for the second, and counters of guards, symbols, specializations and graphs, as events whose
 * times are relative to base_ns. */
void chrome_put_records(const struct profile *profile, const struct record_clock *clocks,
                        int64_t base_ns, uint64_t thread, struct json_writer *w);

/* Writes a time exactly, as microseconds with three digits. */
void chrome_put_us(struct json_writer *w, const char *key, int64_t ns);

#endif
