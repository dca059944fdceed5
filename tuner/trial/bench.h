/* bench.h: a problem set up on a device: its tensors filled, its exact answer known. Lives in the device worker for a
 * whole campaign; every trial is verified and timed on it. Where the specification has `check` values, the answers on
 * those are known too, and the inputs go from one to the other by filling again what differs (bench_use). */
#ifndef LATHE_TRIAL_BENCH_H
#define LATHE_TRIAL_BENCH_H

#include "model/inputs.h"
#include "trial/pipeline.h"
#include "trial/reference.h"

struct operands {                   /* of the reference's GEMM, as tensors; a and b are -1 if there is none */
    int a, b, bias;                 /* bias -1: none */
    bool trans_a, trans_b;
};

struct bench_setup {                /* what the coordinator sends once */
    struct plan tensors;            /* plan_tensors */
    struct reference_plans plans;
    struct reference_plans varied;  /* with other values of the problem's scalars: `scalars` */
    char *scalars;                  /* "slope = 0.0075": which; NULL: there are none */
    struct operands operands;
    char *support_image;            /* verify.cu, compiled */
    char *reference_image;          /* the reference kernel's, or NULL: the support image */
    struct tolerance tolerance;
    bool check;                     /* candidates are verified on the check inputs (INPUTS_check) too */
    double seconds;                 /* that computing the reference may take; the coordinator's, not sent */
};
status bench_setup_from_json(const json_t *j, struct bench_setup *out, struct err *e);
json_t *bench_setup_to_json(const struct bench_setup *s);
void bench_setup_free(struct bench_setup *s);
/* Whose fault it is when computing the reference fails: where that is a kernel of the specification, its launches, else
 * "". */
void bench_setup_blame(const struct bench_setup *s, char *text, size_t size);

/* What is right on inputs of one class, and how far from it a result may be. */
struct answers {
    enum inputs inputs;
    struct guarded *exact;          /* one a tensor: an output's reference in double; empty for inputs */
    uint64_t *hash;                 /* one a tensor: of an input as filled, of an output's reference */
    char reference[16];             /* "fp64", "sgemm" or "kernel" */
    double sgemm_error;             /* relative Frobenius error of the GEMM that sums in float32; NaN: not known */
    double frobenius_limit;         /* 0: none */
    double *same;                   /* one a tensor: of an output, the share of its most common value */
    double *common;                 /* that value; NaN: not known */
    bool *zeros;                    /* one a tensor: of an output that is not all zeros, whether zeros would be right */
    struct guarded *scale, *sgemm;  /* one a tensor, for scaled inputs: what errors of an output are relative to, in
                                       double; what the GEMM that sums in float32 gives, in the output's type */
    double sgemm_scaled;            /* then: the largest error of that GEMM over its scale; NaN: there is none */
    double scaled_limit;            /* then: the limit on that of a candidate */
};

struct bench {
    const struct dev_ops *ops;
    struct dev *dev;
    struct bench_setup setup;       /* owned */
    struct guarded *tensors;        /* one a tensor */
    dev_ptr *address;               /* their data */
    struct dev_module *support;
    struct dev_function *fill_uniform, *fill_normal, *hash_words, *sum, *compare, *join, *upcast, *count_same,
        *leave_shared;
    struct dev_function *fill_class, *compare_scaled, *perturb, *add_square, *largest, *sensitivity;
    struct guarded scratch;         /* partial results, one a thread */
    struct guarded flush;           /* larger than the L2 */
    int32_t shared_bytes, sm_count; /* of a block at most, 0: it is not to be filled; of the device */
    uint64_t seed;                  /* of the inputs now in the tensors; 0: none */
    struct answers timed, check;    /* on the inputs that are timed; on the check inputs, if setup.check */
    struct answers varied;          /* with other scalars, on the check inputs, or else those that are timed */
    bool varies;                    /* varied is there */
    char unvaried[400];             /* why it is not, though setup.scalars is; "" otherwise */
    struct answers *now;            /* those of the inputs now in the tensors */
    bool scaled;                    /* each element is compared by its own scale: not inputs_plain(timed.inputs) */
};

/* Takes over *setup. Allocates, loads the support kernels; no inputs yet. */
status bench_open(const struct dev_ops *ops, struct dev *d, const struct target *t, struct bench_setup *setup,
                  struct bench *out, struct err *e);
void bench_close(struct bench *b);

/* Fills the inputs from the seed, computes the exact outputs and the own error of the GEMM that sums in float32; on the
 * check inputs too, if setup.check. `timed` is in use then. */
status bench_inputs(struct bench *b, enum inputs inputs, uint64_t seed, struct err *e);
/* Then the exact outputs with other scalars, if setup.scalars and there is room for them: `varies`. `timed` is in use
 * again. */
status bench_vary(struct bench *b, struct err *e);
/* Brings the inputs of `timed`, `check` or `varied` into the tensors: those that have check values are filled again.
 * Queued. */
status bench_use(struct bench *b, struct answers *which, struct err *e);
/* How much of the inputs is other values of the same kind. A part keeps its values, so that a kernel that looks at some
 * elements to see whether the inputs are still the same is wrong. */
enum bench_mix {
    MIX_NONE,                       /* the inputs that there are answers on */
    MIX_HALF,                       /* of most lines half of the elements */
    MIX_MOST,                       /* all, but of an eighth of the lines half: what is left of one element shows too */
};
/* Fills every input so. Queued. */
status bench_other_inputs(struct bench *b, enum bench_mix mix, struct err *e);
/* "100 % of Y are 0" if an output is nearly constant, on all inputs that there are answers on: then an error of it says
 * little of a kernel. "" if none is. */
void bench_blind(const struct bench *b, char *text, size_t size);
/* "Y" if zeros in its place would be right by the tolerance, on all inputs that there are answers on, though it is not
 * all zeros. "" if of none. */
void bench_lax(const struct bench *b, char *text, size_t size);

/* Fills outputs (not inputs) with NaN or numbers, by words that nothing else has. Queued. */
status bench_poison_outputs(struct bench *b, enum garbage with, struct err *e);
/* What the next kernel finds in shared memory that it does not write: on a GPU what the one before has left there,
 * which nothing clears. The host device has that of its own (host_shim.h). Queued. */
status bench_leave_shared(struct bench *b, enum garbage with, struct err *e);
/* Hash of a tensor's bytes now; of an output's reference. */
status bench_hash(struct bench *b, int tensor, uint64_t *hash, struct err *e);
status bench_hash_exact(struct bench *b, const struct answers *a, int tensor, uint64_t *hash, struct err *e);
/* Evicts the L2. Queued. */
status bench_flush(struct bench *b, struct err *e);

struct comparison {
    double max_abs, max_rel;
    double frobenius;               /* NaN if no_norm, too */
    bool no_norm;                   /* the reference is zeros and the output is not, so no error is relative to it */
    double mean_abs, rms;           /* of got - ref, where not idle */
    double scaled;                  /* the largest |got - ref| over its scale; NaN unless b->scaled */
    int64_t elements, mismatches;
    int64_t idle;                   /* elements that are the output's most common value, exactly, as they should */
};
/* Output tensor against its reference, over the device. */
status bench_compare(struct bench *b, int tensor, struct comparison *out, struct err *e);
/* The limit on its relative Frobenius error; 0: none. Where there is no norm, the specification's atol judges alone. */
double bench_norm_limit(const struct bench *b, const struct comparison *c);
/* The first mismatches of an output as text: "Y[3,17] got 0.5, wanted 0.25; ...". Copies the tensors to the host. */
status bench_describe_mismatches(struct bench *b, int tensor, char *text, size_t size, struct err *e);

#endif
