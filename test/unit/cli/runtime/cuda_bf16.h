// cuda_bf16.h: the type, for cuda_runtime.h. Its values are of no concern there.
#ifndef STUB_CUDA_BF16
#define STUB_CUDA_BF16
struct __nv_bfloat16 {
    unsigned short bits;
    __nv_bfloat16(double = 0) : bits(0) {}
    operator float() const { return 0; }
};
#endif
