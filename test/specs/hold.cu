// hold.cu: y[n] = 2 x[n] on the host device, waiting for ever where told to, a file "held" left in the current folder:
// LATHE_HOLD `device`: always; `final`: if there is a file "hold-final"; the reference: if there is a "hold-reference".
// `breaks`: leaves a file "broken", and where that is every kernel traps, as on a device that has failed.
// `compile` is for the compiler that test/cli/processes.bats puts in the way.
extern "C" int creat(const char *, unsigned);
extern "C" int access(const char *, int);
extern "C" int pause(void);

__device__ void wait_for_ever()
{
    creat("held", 0600);
    for (;;) pause();
}

extern "C" __global__ void hold(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef LATHE_HOLD
    if (LATHE_HOLD == LATHE_HOLD_breaks) creat("broken", 0600);
    if (access("broken", 0) == 0) __builtin_trap();
    if (LATHE_HOLD == LATHE_HOLD_device) wait_for_ever();
    if (LATHE_HOLD == LATHE_HOLD_final && access("hold-final", 0) == 0) wait_for_ever();
#endif
    if (i < n) y[i] = 2.0f * x[i];
}

extern "C" __global__ void hold_reference(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (access("hold-reference", 0) == 0) wait_for_ever();
    if (i < n) y[i] = 2.0f * x[i];
}
