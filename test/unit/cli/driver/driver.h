/* driver.h: what the program that links driver.c says of its device and kernels. */
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H

struct fake_device {
    const char *name;
    long long limit[11];                /* in the order of LIMIT_TABLE (model/target.h) */
};
extern struct fake_device fake_device;
/* A kernel's parameters: p pointer, i int, q long long, f float, d double, m tensor map, [ ] the members of a
 * struct. */
const char *fake_kinds(const char *kernel);
extern int fake_modules;                /* that are loaded */

#endif
