// delayed.cu: y[n] = 2 x[n]; delayed.lua says what LATHE_KIND does.
#if defined(LATHE_KIND) && defined(LATHE_DELAYS)
#if LATHE_KIND == LATHE_KIND_refused
#error "this does not compile with delays"
#elif LATHE_KIND == LATHE_KIND_race
#define FACTOR (i == 70 ? 3.0f : 2.0f)
#elif LATHE_KIND == LATHE_KIND_unlaunched
#define scale another
#endif
#endif
#ifndef FACTOR
#define FACTOR 2.0f
#endif

extern "C" __global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

extern "C" __global__ void scale(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? FACTOR * x[i] : 0.0f;
#if defined(LATHE_KIND) && LATHE_KIND != LATHE_KIND_race
    for (volatile int k = 0; k < 500; k = k + 1) { }        // a race is often the quicker
#endif
    if (i < n) y[i] = v;
}
