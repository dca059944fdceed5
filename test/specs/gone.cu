// gone.cu: y[n] = 2 x[n] on the host device, sleeping the longer the larger LATHE_ID is. Each time it is loaded, 0 gives
// others a while to be compiled and then empties the cache of images, as another process may that makes room there.
extern "C" int usleep(unsigned);

static int launches;

extern "C" __global__ void gone(const float *x, float *y, int n)
{
    if (threadIdx.x == 0) {
        if (LATHE_ID == 0 && !launches++) {
            usleep(1500000);
            if (system("rm -f \"$LATHE_CACHE\"/*.image")) __builtin_trap();
        }
        const unsigned milliseconds[] = {2, 5, 11, 23};     /* far apart, so that a busy machine sorts them too */
        usleep(1000 * milliseconds[LATHE_ID]);
    }
    if (threadIdx.x < n) y[threadIdx.x] = 2.0f * x[threadIdx.x];
}
