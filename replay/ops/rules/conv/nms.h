/* torchvision's non-maximum suppression on known values. The rule uses the number of boxes that
 * are kept, the kernel their positions. */
#ifndef SYMTAPE_REPLAY_OPS_RULES_CONV_NMS_H
#define SYMTAPE_REPLAY_OPS_RULES_CONV_NMS_H

#include <stdint.h>

/* boxes has n rows of x1 y1 x2 y2. kept has space for n positions, which are stored by
 * descending scores; order has space for 2 n. Returns how many are kept. */
int64_t nms_keep(const double *boxes, const double *scores, int64_t n, double threshold,
                 int64_t *order, int64_t *kept);

#endif
