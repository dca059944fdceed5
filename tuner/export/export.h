/* export.h: the winner as code. Input is the stored provenance of a trial (query_provenance's JSON) and the problem it
 * was tuned for; output is text. Knows no database and no device. */
#ifndef LATHE_EXPORT_EXPORT_H
#define LATHE_EXPORT_EXPORT_H

#include "model/plan.h"

struct export_input {
    const struct problem *problem;      /* at the size tuned */
    const struct kernel *kernel;
    const config_choice *choice;
    const struct target *target;
    const json_t *provenance;           /* db/query.h, query_provenance */
    const char *name;                   /* of the launcher; NULL: lathe_<problem> */
};

/* LATHE_USAGE where in->name can be no launcher's name in what is exported of it; driver: as C for the driver. So that
 * it can be known before anything is compiled: every export says the same. */
status export_check_name(const struct export_input *in, bool driver, struct err *e);

/* What is to be known of a winner that was in no final of its campaign: "was in no final: ..."; NULL: it was in one, or
 * was recorded elsewhere. trial: db/query.h's object. */
const char *export_no_final(const json_t *trial);

/* One self-contained .cu: provenance comment, parameters baked in, epilogue inlined, the kernels, an extern "C"
 * launcher
 *     cudaError_t lathe_<problem>(const float *X, ..., float *Y, <dims as int64_t>, <scalars>, void *workspace,
 *                                size_t workspace_bytes, cudaStream_t stream)
 * (f16 and bf16 tensors are pointers to __half and __nv_bfloat16 there; another name: in->name, LATHE_USAGE where it
 * cannot be one)
 * with lathe_<problem>_workspace(dims) -> bytes, and with -DLATHE_SELFTEST a main() that checks itself against a plain
 * double-precision loop at small sizes and prints PASS or FAIL. A size that the configuration cannot serve (a
 * constraint on dims fails, or a launch would not fit) returns cudaErrorInvalidValue. A pipeline with GEMM steps needs
 * -lcublas. Files of different names link into one program, with -rdc=true too. */
status export_cu(const struct export_input *in, struct strbuf *out, struct err *e);

/* One document, a new reference: docs/json.md, "lathe export --format json". campaign: query_campaign's object, without
 * its trials; NULL: not known. */
status export_json(const struct export_input *in, const json_t *campaign, json_t **out, struct err *e);

struct export_image {
    const char *data;                   /* the winner compiled for the target; NULL: there is none */
    size_t len;
    const char *why_not;                /* if there is none */
};

/* Why an image could not be used, so that none need be made: there is no GPU to run it, or a step has no equal in
 * PyTorch. NULL: it can. */
const char *export_torch_no_image(const struct export_input *in);

/* One Python file with `class ModelNew(nn.Module)`, as the specification's `torch` describes it
 * (docs/specification.md): the same CUDA text and launcher, compiled by torch.utils.cpp_extension; or the embedded
 * image, where there is no compiler, which serves the size tuned; or PyTorch's own operations, printed from the
 * reference and the epilogue, for what neither can serve. */
status export_torch(const struct export_input *in, const struct export_image *image, struct strbuf *out, struct err *e);

/* --- C for CUDA's driver --- */

/* A kernel that serves the problem at every size: the reference's own steps, or a plain GEMM with the epilogue.
 * Slow. */
struct export_fallback {
    struct export_input in;             /* borrows from the rest, and from the input that it was made of */
    struct problem *problem;            /* NULL: the input's serves */
    config_choice *choice;
};
/* If it fails there is nothing to close. */
status export_fallback_open(const struct export_input *of, struct export_fallback *out, struct err *e);
void export_fallback_close(struct export_fallback *f);

/* One configuration, compiled: for its own GPU, and as PTX for newer ones. */
struct export_variant {
    const struct export_input *in;
    bool fallback;
    struct export_image cubin, ptx;     /* of either, data NULL: there is none */
    int ptx_sm;                         /* the capability that the PTX is for, 90 */
};
/* Whether code for that architecture runs on that capability and no later one: "sm_90a". */
bool export_for_that_gpu_alone(const struct target *t);
/* Whether the configuration may be one: a pipeline with GEMM steps needs cuBLAS. */
bool export_c_serves(const struct kernel *k);

/* A C11 source and its header: NAME_open, _close, _workspace, _launch, _choice (docs/export.md). v: at least one, of
 * one operator, in the order of preference where all else is equal; NAME is the first one's name. header_name: as the
 * source includes it. LATHE_USAGE: they are of different problems, or the name cannot be one. */
status export_c(const struct export_variant *v, int n, const char *header_name, struct strbuf *header,
                struct strbuf *source, struct err *e);

/* The same as a bundle for liblathe (model/bundle.h, docs/liblathe.md): what is printed there as C is here the
 * specification itself, which the library evaluates. version: of this program. LATHE_USAGE: they are of different
 * problems. */
status export_bundle(const struct export_variant *v, int n, const char *version, struct strbuf *out, struct err *e);

#endif
