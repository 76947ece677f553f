/* The cubic convolution kernel of bicubic interpolation (aten/src/ATen/native/UpSample.h,
 * cubic_convolution1 and cubic_convolution2). */
#ifndef SYMTAPE_REPLAY_BACKEND_CPU_CONV_CUBIC_H
#define SYMTAPE_REPLAY_BACKEND_CPU_CONV_CUBIC_H

#include <math.h>

/* Values of `a` that PyTorch uses: without antialias, and with it. */
#define CUBIC_A           (-0.75)
#define CUBIC_A_ANTIALIAS (-0.5)

/* Returns the weight of a pixel at distance x; 0 from a distance of 2. */
static inline double cubic_weight(double a, double x)
{
    x = fabs(x);
    if (x <= 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

#endif
