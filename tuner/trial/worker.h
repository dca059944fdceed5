/* worker.h: the children. The same binary, started as `lathe worker compile KEPT`, which stays off KEPT cores, or
 * `lathe worker device HANDLE NAME`, where NAME is for who looks at processes.
 *
 * Protocol: one JSON object a line, requests on file descriptor 3, replies on 4; each request gets one reply, in order.
 * A worker ends at end of file, and dies with its parent. Nothing it prints on 1 or 2 is part of the protocol.
 *
 *   compile:  {"op":"toolchain","arch"}
 *               -> {"ok":true,"toolchain"} | {"ok":false,"status","error"}
 *             {"op":"compile","source","name","defines","arch","image","sanitize","memory": bytes}
 *               -> {"ok":true,"compiled":bool,"died":bool,"log","seconds"} | ...
 *   device:   {"op":"open"}
 *               -> {"ok":true,"target","others": [process id, ...]} | ...
 *             {"op":"setup","setup"}
 *               -> {"ok":true}: the device runs kernels, and has room
 *             {"op":"inputs","inputs","seed"}
 *               -> {"ok":true,"reference","sgemm_error","frobenius_limit","sgemm_scaled","scaled_limit","energy":bool,
 *                   "blind","unvaried"}
 *             {"op":"evaluate","evaluation"}
 *               -> {"ok":true,"result","lost":bool}
 *             any, of a relay to another process (tuner/mpi)
 *               -> {"ok":false,"status","error","gone":true}: nothing is said of the trial, and there is no device any
 *                   more
 */
#ifndef LATHE_TRIAL_WORKER_H
#define LATHE_TRIAL_WORKER_H

enum { WORKER_FD_IN = 3, WORKER_FD_OUT = 4 };

/* argv[0] is "compile" or "device". Gives the process's exit code. */
int worker_main(int argc, char **argv);

#endif
