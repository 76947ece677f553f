/* Reads a .pt2 archive from the records that import made of its members.
 *
 *     struct recorded_pt2 archive;
 *     if (!recorded_pt2_open(&archive, trace, recording, &err))
 *         return false;
 *     for (uint32_t i = 0; i < archive.pt2.n_models; i++) use(archive.pt2.models[i].weights);
 *     recorded_pt2_close(&archive);
 *
 * The tape has the configs and the place of every member in the archive, not the weights: offsets
 * are those of the .pt2 file that was imported. */
#ifndef SYMTAPE_TRACE_RECORDED_PT2_H
#define SYMTAPE_TRACE_RECORDED_PT2_H

#include "trace/open.h"
#include "trace/pt2/pt2.h"

struct recorded_pt2 {
    struct pt2 pt2;    /* its zip has members and no bytes */
    uint32_t *records; /* by member of pt2.zip */
};

/* Opens an archive; `recording` is of kind RECORDING_PT2. It fails with ERR_INPUT and the
 * archive's path when the records do not describe its content; then there is nothing to close.
 * Members that are lost on the tape are missing here. */
bool recorded_pt2_open(struct recorded_pt2 *archive, struct trace *trace, uint32_t recording,
                       struct err *err);
void recorded_pt2_close(struct recorded_pt2 *archive);

/* Returns the record of one of its members, TRACE_NONE for NULL. */
uint32_t recorded_pt2_record(const struct recorded_pt2 *archive, const struct zip_member *member);

#endif
