// hold.cu: y[n] = 2 x[n] on the host device, waiting for ever where told to, a file "held" left in the current folder:
// LATHE_HOLD `device`: always; `final`: if there is a file "hold-final"; the reference: if there is a "hold-reference".
// The reference crashes if there is a "crash-reference".
// `breaks`: leaves a file "broken", and where that is every kernel traps, as on a device that has failed; with a file
// "second" too, on the second host worker of a campaign alone.
// `compile` is for the compiler that test/cli/processes.bats puts in the way.
extern "C" int creat(const char *, unsigned);
extern "C" int access(const char *, int);
extern "C" int pause(void);
extern "C" int open(const char *, int, ...);
extern "C" long read(int, void *, unsigned long);
extern "C" int close(int);

__device__ bool is_second_worker()
{
    char words[4096];
    int fd = open("/proc/self/cmdline", 0), found = 0;
    long n = fd < 0 ? 0 : read(fd, words, sizeof words);
    if (fd >= 0) close(fd);
    for (long i = 0; i + 3 <= n; i++) found |= words[i] == '(' && words[i + 1] == '2' && words[i + 2] == ')';
    return found;
}

__device__ bool is_broken()
{
    return access("broken", 0) == 0 && (access("second", 0) != 0 || is_second_worker());
}

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
    if (is_broken()) __builtin_trap();
    if (LATHE_HOLD == LATHE_HOLD_device) wait_for_ever();
    if (LATHE_HOLD == LATHE_HOLD_final && access("hold-final", 0) == 0) wait_for_ever();
#endif
    if (i < n) y[i] = 2.0f * x[i];
}

extern "C" __global__ void hold_reference(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (access("hold-reference", 0) == 0) wait_for_ever();
    if (access("crash-reference", 0) == 0) *(volatile int *)8 = 1;
    if (i < n) y[i] = 2.0f * x[i];
}
