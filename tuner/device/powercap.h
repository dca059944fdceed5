/* powercap.h: the energy that the machine's processors take, by Linux' powercap interface (RAPL): /sys/class/powercap,
 * or the folder that LATHE_POWERCAP names. Reads only. Where there is none, or it may not be read (often by root
 * alone), energy is "not known" and nothing fails. */
#ifndef LATHE_DEVICE_POWERCAP_H
#define LATHE_DEVICE_POWERCAP_H

struct powercap;

struct powercap *powercap_open(void);               /* never NULL; powercap_close it */
void powercap_close(struct powercap *p);
/* Of all packages together since it was opened or before, millijoules; never less than at the call before. NaN: not
 * known. */
double powercap_energy_mj(struct powercap *p);

#endif
