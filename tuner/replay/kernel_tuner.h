/* kernel_tuner.h: the members of a cache of Kernel Tuner that are lathe's own: reader and writer agree here. */
#ifndef LATHE_REPLAY_KERNEL_TUNER_H
#define LATHE_REPLAY_KERNEL_TUNER_H

#define KERNEL_TUNER_FAILURE "lathe_failure"     /* a text of failure.h */
#define KERNEL_TUNER_ENERGY "lathe_energy_mj"

#endif
