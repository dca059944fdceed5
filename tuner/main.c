/* main.c: the process: its descriptors, its signals, its version, and the one place that prints an error and exits.
 * Compiled with LATHE_MPI as well, for the program that is several processes of an MPI job (tuner/mpi).
 *
 * The same binary is the coordinator and its workers: `lathe worker ...` (in no help) is what a campaign starts for
 * compiling and for running on a device. */
#include "base/mem.h"
#include "base/quote.h"
#include "cli/cli.h"
#include "console/output.h"
#include "console/parse.h"
#ifdef LATHE_MPI
#include "mpi/ranks.h"
#include "mpi/relay.h"
#endif
#include "trial/worker.h"
#include "version.h"
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A process started with one of its first three descriptors closed would get that number for the next file it opens,
 * and results would be written into a database. They are filled here; standard output in a way that fails on writing,
 * so that lost results are an error. */
static void fill_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 1 ? O_RDONLY : O_RDWR) < 0)
            _exit(status_exit_code(LATHE_IO));
}

static void out_of_memory(size_t bytes)
{
    fprintf(stderr, "lathe: out of memory (%zu bytes wanted)\nwhat a campaign has measured so far is in its database\n",
            bytes);
    _exit(status_exit_code(LATHE_NOMEM));
}

/* The path of this binary, for starting workers: argv[0] may be relative to a PATH that is not known. */
static void find_self(char *out, size_t size, const char *argv0)
{
    ssize_t n = readlink("/proc/self/exe", out, size - 1);
    if (n > 0)
        out[n] = 0;
    else
        snprintf(out, size, "%s", argv0);
}

#ifndef LATHE_MPI
/* mpirun and srun start the same command many times; without MPI each of them runs by itself. Told by the first. */
static void warn_of_ranks(const char *command)
{
    static const char *const starters[][2] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                              {"PMI_SIZE", "PMI_RANK"},
                                              {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};
    for (size_t i = 0; i < sizeof starters / sizeof *starters; i++) {
        const char *size = getenv(starters[i][0]), *rank = getenv(starters[i][1]);
        int64_t processes;
        struct err e;
        bool first = !rank || !rank[strspn(rank, "0")];
        if (strcmp(command, "tune") || !size || !first || parse_count("", size, 2, INT64_MAX, &processes, &e))
            continue;
        note_line("warning: this is one of %lld processes of a job, and this lathe was built without MPI: each runs a "
                  "campaign of its own, perhaps on the same device\nlathe-mpi shares one campaign among them (`make mpi`, "
                  "docs/mpi.md)",
                  (long long)processes);
        return;
    }
}
#endif

int main(int argc, char **argv)
{
    fill_descriptors();
    signal(SIGPIPE, SIG_IGN); /* a reader or a worker that went away is seen by the write that fails */
    signal(SIGXFSZ, SIG_IGN); /* so is a file that may not grow any more */
    mem_on_failure(out_of_memory);
    /* NOTE: else a value that there was no memory for would be missing in a tree, and nobody told. */
    json_set_alloc_funcs(mem_alloc, mem_free);
    bool worker = argc >= 3 && !strcmp(argv[1], "worker");
#ifdef LATHE_MPI
    if (worker && relay_wanted(argc - 2, argv + 2))
        return relay_main(argc - 2, argv + 2);
#endif
    if (worker)
        return worker_main(argc - 2, argv + 2);
    static char self[PATH_MAX];
    find_self(self, sizeof self, argc > 0 ? argv[0] : "lathe");
#ifdef LATHE_MPI
    int code;
    if (ranks_main(argc, argv, self, &code))
        return code;
#else
    warn_of_ranks(argc > 1 ? argv[1] : "");
#endif
    char *line = quote_words(argc, argv);
    struct cli cli = {.self = self, .version = LATHE_VERSION, .date = LATHE_DATE, .command_line = line};
    struct err e = {0};
    status s = cli_run(&cli, argc, argv, &e);
    if (s != LATHE_OK && *e.text)
        note_line("lathe: %s", e.text); /* what it quotes does not drive the terminal */
    mem_free(line);
    return status_exit_code(s);
}
