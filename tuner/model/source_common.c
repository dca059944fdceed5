/* source_common.c: the headers of kernels/common, as they were when this program was built. */
#include "base/mem.h"
#include "model/source.h"

#include <string.h>

static const char LATHE[] = {
#include "kernels/common/lathe.cuh.inc"
    , 0};
static const char MMA[] = {
#include "kernels/common/mma.cuh.inc"
    , 0};
static const char SPLIT[] = {
#include "kernels/common/split.cuh.inc"
    , 0};
static const char HOPPER[] = {
#include "kernels/common/hopper.cuh.inc"
    , 0};
static const char WGMMA[] = {
#include "kernels/common/wgmma.cuh.inc"
    , 0};
static const char DELAYS[] = {
#include "kernels/common/delays.cuh.inc"
    , 0};

const char *source_common(const char *name)
{
    static const struct {
        const char *name, *text;
    } headers[] = {{"lathe.cuh", LATHE}, {"mma.cuh", MMA}, {"split.cuh", SPLIT}, {"hopper.cuh", HOPPER},
                   {"wgmma.cuh", WGMMA}};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        if (strcmp(headers[i].name, name) == 0)
            return headers[i].text;
    return NULL;
}

char *source_with_delays(const char *source)
{
    return mem_printf("%s#line 1\n%s", DELAYS, source);
}
