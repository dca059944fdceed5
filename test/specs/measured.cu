// measured.cu: y[n] = 2 x[n] on the host device, sleeping the longer the larger LATHE_ID is. Loaded for the third time in
// a campaign, which is when the final measures it, 0 is wrong, and 1 crashes. A file in the working directory has how
// often that was, so that it survives the process.
extern "C" int usleep(unsigned);

static int loads;

static int count_loads()
{
    const char name[] = {'l', 'o', 'a', 'd', 's', '.', '0' + LATHE_ID, 0};
    FILE *f = fopen(name, "a");
    fputc('x', f);
    const int n = (int)ftell(f);
    fclose(f);
    return n;
}

extern "C" __global__ void measured(const float *x, float *y, int n)
{
    if (threadIdx.x == 0) {
        if (!loads) loads = count_loads();
        if (LATHE_ID == 1 && loads >= 3) __builtin_trap();
        const unsigned milliseconds[] = {2, 3, 5, 8, 13, 21, 34};   /* far apart, so that a busy machine sorts them too */
        usleep(1000 * milliseconds[LATHE_ID]);
    }
    __syncthreads();
    const bool wrong = LATHE_ID == 0 && loads >= 3;
    if (threadIdx.x < n) y[threadIdx.x] = wrong ? x[threadIdx.x] : 2.0f * x[threadIdx.x];
}
