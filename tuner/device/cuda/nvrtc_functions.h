/* nvrtc_functions.h: the functions and values of NVRTC that lathe uses, by their names in the documentation. No type is
 * defined here, so a test can check each line against a real nvrtc.h. */
#ifndef LATHE_DEVICE_NVRTC_FUNCTIONS_H
#define LATHE_DEVICE_NVRTC_FUNCTIONS_H

#define NVRTC_FUNCTIONS(X) /* symbol, parameters */                                                                    \
    X(nvrtcVersion, (int *major, int *minor))                                                                          \
    X(nvrtcGetNumSupportedArchs, (int *count))                                                                         \
    X(nvrtcGetSupportedArchs, (int *archs))                                                                            \
    X(nvrtcCreateProgram, (nvrtcProgram * program, const char *source, const char *name, int headers,                  \
                           const char *const *header_texts, const char *const *header_names))                          \
    X(nvrtcDestroyProgram, (nvrtcProgram * program))                                                                   \
    X(nvrtcCompileProgram, (nvrtcProgram program, int count, const char *const *options))                              \
    X(nvrtcGetCUBINSize, (nvrtcProgram program, size_t *size))                                                         \
    X(nvrtcGetCUBIN, (nvrtcProgram program, char *cubin))                                                              \
    X(nvrtcGetPTXSize, (nvrtcProgram program, size_t *size))                                                           \
    X(nvrtcGetPTX, (nvrtcProgram program, char *ptx))                                                                  \
    X(nvrtcGetProgramLogSize, (nvrtcProgram program, size_t *size))                                                    \
    X(nvrtcGetProgramLog, (nvrtcProgram program, char *log))

#define NVRTC_RESULTS(X)                                                                                               \
    X(NVRTC_SUCCESS, 0)                                                                                                \
    X(NVRTC_ERROR_OUT_OF_MEMORY, 1)                                                                                    \
    X(NVRTC_ERROR_PROGRAM_CREATION_FAILURE, 2)                                                                         \
    X(NVRTC_ERROR_INVALID_INPUT, 3)                                                                                    \
    X(NVRTC_ERROR_INVALID_PROGRAM, 4)                                                                                  \
    X(NVRTC_ERROR_INVALID_OPTION, 5)                                                                                   \
    X(NVRTC_ERROR_COMPILATION, 6)                                                                                      \
    X(NVRTC_ERROR_BUILTIN_OPERATION_FAILURE, 7)                                                                        \
    X(NVRTC_ERROR_INTERNAL_ERROR, 11)

#endif
