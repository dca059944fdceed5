/* dev.c: from a device's name to its table of operations. A new device is a row here. */
#include "device/dev.h"
#include "device/cuda/cuda_dev.h"

#include <stdlib.h>
#include <string.h>

extern const struct dev_ops host_ops;               /* host.c */

/* "cuda:N", N up to 3 digits without a leading zero; -1 otherwise. */
static int cuda_number(const char *device)
{
    const char *digits = device + 5;
    size_t n;
    if (strncmp(device, "cuda:", 5))
        return -1;
    n = strspn(digits, "0123456789");
    if (n < 1 || n > 3 || digits[n] || (n > 1 && digits[0] == '0'))
        return -1;
    return atoi(digits);
}

status dev_find(const char *device, const struct dev_ops **ops, int *number, struct err *e)
{
    int n = cuda_number(device);
    static const char *const words[] = {"host", "cuda:0", "cuda:1", "cuda:all", "replay:"};
    const char *near = n < 0 ? nearest_word(device, words, sizeof words / sizeof *words) : NULL;
    if (n < 0 && strcmp(device, "host"))
        return err_set(e, LATHE_USAGE,
                       "no device '%s'%s%s%s: expected cuda:N (cuda:0 is the first GPU) or host; lathe doctor lists "
                       "what is here",
                       device, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
    *ops = n >= 0 ? &cuda_ops : &host_ops;
    if (number)
        *number = n >= 0 ? n : 0;
    return LATHE_OK;
}
