// hold.cu: y[n] = 2 x[n] on the host device. LATHE_HOLD: `device` leaves a file "held" in the current folder and never
// returns; `final` does so if there is a file "hold-final". `compile` is for the compiler that test/cli/processes.bats
// puts in the way.
extern "C" int creat(const char *, unsigned);
extern "C" int access(const char *, int);
extern "C" int pause(void);

extern "C" __global__ void hold(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#if LATHE_HOLD == LATHE_HOLD_device || LATHE_HOLD == LATHE_HOLD_final
    if (LATHE_HOLD == LATHE_HOLD_device || access("hold-final", 0) == 0) {
        creat("held", 0600);
        for (;;) pause();
    }
#endif
    if (i < n) y[i] = 2.0f * x[i];
}
