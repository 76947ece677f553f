/* sin, cos and tan in f32, with the bits of CUDA's sinf(), cosf() and tanf(). Those subtract
 * multiples of pi/2 from a number that is not far from 0, and otherwise multiply with many digits
 * of 2/pi, which is most of their code. An unrolled kernel has many copies of them, which NVRTC
 * takes half a second for. So what is far from 0 is computed by a function that is not inlined:
 * behind the comparison that they make themselves, the compiler leaves the long part out of the
 * others. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_TRIGONOMETRY_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_TRIGONOMETRY_H

#include "replay/backend/cuda/device/prologue.h"

#ifdef KERNEL
#ifdef __CUDACC_RTC__
#define APART static __device__ __noinline__
#else
#define APART DEVICE
#endif
#define IS_FAR(x) (fabsf(x) >= 105615.0f)

APART f32 far_sin(f32 x)
{
    return sinf(x);
}

APART f32 far_cos(f32 x)
{
    return cosf(x);
}

APART f32 far_tan(f32 x)
{
    return tanf(x);
}

DEVICE f32 sin_f32(f32 x)
{
    return IS_FAR(x) ? far_sin(x) : sinf(x);
}

DEVICE f32 cos_f32(f32 x)
{
    return IS_FAR(x) ? far_cos(x) : cosf(x);
}

DEVICE f32 tan_f32(f32 x)
{
    return IS_FAR(x) ? far_tan(x) : tanf(x);
}
#endif

#endif
