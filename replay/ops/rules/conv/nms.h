/* torchvision's non-maximum suppression, by values: how many boxes are kept is the rule's to say,
 * and which ones the kernel's. */
#ifndef SYMTAPE_REPLAY_OPS_RULES_CONV_NMS_H
#define SYMTAPE_REPLAY_OPS_RULES_CONV_NMS_H

#include <stdint.h>

/* boxes: n rows of x1 y1 x2 y2. kept: room for n, filled in the order of falling scores; order:
 * room for 2 n. Returns how many are kept. */
int64_t nms_keep(const double *boxes, const double *scores, int64_t n, double threshold,
                 int64_t *order, int64_t *kept);

#endif
