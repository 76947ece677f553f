/* The fields of what `symtape info` lists. Their context is the struct info_tape to which a row
 * belongs. */
#ifndef SYMTAPE_CMD_INFO_INFO_FIELDS_H
#define SYMTAPE_CMD_INFO_INFO_FIELDS_H

#include "cmd/info/info.h"
#include "profile/report/fields.h"

/* The fields of struct recording, attempt and graph_row. */
extern const struct fields info_recording_fields, info_attempt_fields, info_graph_fields;

#endif
