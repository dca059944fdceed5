/* export_torch.c: puts the exported Python file together: provenance, constants, the CUDA text, what pybind needs, the
 * plan, the common part (torch_runtime.py and torch_cubin.py, embedded), the problem's functions and its class. */
#include "base/mem.h"
#include "export/torch/torch.h"
#include <string.h>

static const char RUNTIME[] = {
#include "tuner/export/torch/torch_runtime.py.inc"
    , 0};
static const char CUBIN[] = {
#include "tuner/export/torch/torch_cubin.py.inc"
    , 0};

static void print_usage(struct exporter *x)
{
    sb_add(x->out,
           "#\n# ModelNew takes the place of the problem's PyTorch model; it needs no lathe. The CUDA source is "
           "compiled at\n"
           "# the first call (nvcc and ninja), or the embedded cubin is launched where there is no compiler. What "
           "neither\n"
           "# can serve, PyTorch's own operations compute, with a warning. model.reference(...) is that formula.\n\n"
           "import base64\nimport contextlib\nimport ctypes\nimport hashlib\nimport inspect\nimport json\nimport "
           "math\nimport os\n"
           "import struct\nimport threading\nimport warnings\n\nimport torch\nimport torch.nn as nn\n\n");
}

/* NAME = ("a", "b", ) */
static void print_tensors(struct exporter *x, const struct torch_model *m, const char *name, bool outputs)
{
    sb_addf(x->out, "%s = (", name);
    for (int i = 0; i < x->p->ntensors; i++) {
        const struct tensor *t = &x->p->tensors[i];
        if (t->output != outputs) continue;
        sb_add(x->out, "(\"");
        if (outputs) sb_add(x->out, t->name);
        else torch_input_name(x->out, m, i);
        sb_addf(x->out, "\", \"%s\"), ", dtype_name(t->dtype));
    }
    sb_add(x->out, ")\n");
}

/* What the tuner measured, in ms. */
static void print_times(struct exporter *x)
{
    static const char *const keys[] = {"cold_ms", "sustained_ms", "time_ms"};
    const json_t *trial = json_object_get(x->in->provenance, "trial");
    sb_add(x->out, "LATHE_TUNED_MS = {");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *ms = json_object_get(trial, keys[i]);
        sb_addf(x->out, "%s\"%.*s\": ", i ? ", " : "", (int)strlen(keys[i]) - 3, keys[i]);
        if (json_is_number(ms)) value_print(x->out, value_float(json_number_value(ms)));
        else sb_add(x->out, "None");
    }
    sb_add(x->out, "}\n");
}

static void print_constants(struct exporter *x, const struct torch_model *m)
{
    const struct problem *p = x->p;
    const struct target *t = x->in->target;
    bool host = !strcmp(t->arch, "host");
    int sm = (int)t->limit[LIMIT_sm];
    sb_addf(x->out, "LATHE_NAME = \"%s\"\nLATHE_DIMS = (", p->name);
    for (int i = 0; i < p->ndims; i++) sb_addf(x->out, "\"%s\", ", p->dims[i].name);
    sb_add(x->out, ")\n");
    print_tensors(x, m, "LATHE_INPUT_TYPES", false);
    print_tensors(x, m, "LATHE_OUTPUT_TYPES", true);
    sb_add(x->out, "LATHE_TUNED_SIZES = (");
    for (int i = 0; i < p->ndims; i++) sb_addf(x->out, "%lld, ", (long long)p->dims[i].value);
    sb_add(x->out, ")\nLATHE_TUNED_SCALARS = (");
    for (int i = 0; i < p->nscalars; i++) {
        value_print(x->out, value_float(p->scalars[i].value));
        sb_add(x->out, ", ");
    }
    sb_add(x->out, ")\n");
    if (host)
        sb_add(x->out, "LATHE_CAPABILITY = None  # tuned on the host device: for any GPU\nLATHE_ARCH = None\n");
    else
        sb_addf(x->out, "LATHE_CAPABILITY = (%d, %d)\nLATHE_ARCH = \"%d.%d%s\"\n", sm / 10, sm % 10, sm / 10, sm % 10,
                t->arch + 3 + strspn(t->arch + 3, "0123456789"));
    print_times(x);
    sb_addf(x->out, "LATHE_USES_CUBLAS = %s\n", export_has_gemm(x->k) ? "True" : "False");
}

#define SIZES_AND_SCALARS "const std::vector<int64_t> &sizes, const std::vector<double> &scalars"

/* A function's body up to where `start` and `bytes` have each workspace buffer's. what: becomes of all its bytes. */
static void print_layout(struct exporter *x, struct strbuf *b, const char *what)
{
    int n = x->k->nworkspace > 0 ? x->k->nworkspace : 1;
    sb_addf(b, "\n{\n%s    size_t start[%d], bytes[%d];\n    %s%s::%s_layout(",
            x->p->nscalars ? "" : "    (void)scalars;\n", n, n, what, x->space, x->function);
    for (int i = 0; i < x->p->ndims; i++) sb_addf(b, "sizes[%d], ", i);
    for (int i = 0; i < x->p->nscalars; i++) sb_addf(b, "(float)scalars[%d], ", i);
    sb_add(b, "start, bytes);\n");
}

/* Start and bytes of each part of the workspace that must be zero before the first call. */
static void print_zero_once(struct exporter *x, struct strbuf *b)
{
    const char *comma = "";
    sb_add(b, "std::vector<int64_t> lathe_torch_zero_once(" SIZES_AND_SCALARS ")");
    print_layout(x, b, "");
    sb_add(b, "    return {");
    for (int w = 0; w < x->k->nworkspace; w++) {
        if (x->k->workspace[w].zero != ZERO_ONCE) continue;
        sb_addf(b, "%s(int64_t)start[%d], (int64_t)bytes[%d]", comma, w, w);
        comma = ", ";
    }
    sb_add(b, "};\n}\n\n");
}

/* What Python calls: numbers in the launcher's order. The cast to each parameter's type is the launcher's own. */
static void print_binding(struct exporter *x)
{
    static const char DECLARATIONS[] =
        "int64_t lathe_torch_workspace(" SIZES_AND_SCALARS ");\n"
        "std::vector<int64_t> lathe_torch_zero_once(" SIZES_AND_SCALARS ");\n"
        "int64_t lathe_torch_run(const std::vector<int64_t> &inputs, const std::vector<int64_t> &outputs,\n"
        "                        const std::vector<int64_t> &sizes, const std::vector<double> &scalars,\n"
        "                        int64_t workspace, int64_t bytes, int64_t stream);\n"
        "std::string lathe_torch_error(int64_t error);\n";
    struct strbuf b = {0};
    const struct problem *p = x->p;
    sb_addf(&b, "#include <torch/extension.h>\n#include <cstdint>\n#include <string>\n#include <vector>\n%s",
            DECLARATIONS);
    export_torch_text(x->out, "LATHE_DECLARATIONS", sb_str(&b));
    sb_free(&b);
    sb_addf(&b,
            "\n#include <string>\n#include <vector>\n%s\n"
            "template <typename... P, typename... A>\n"
            "static cudaError_t lathe_torch_call(cudaError_t (*f)(P...), A... args)\n"
            "{\n    return f((P)args...);\n}\n\n"
            "int64_t lathe_torch_workspace(" SIZES_AND_SCALARS ")",
            DECLARATIONS);
    print_layout(x, &b, "size_t needed = ");
    sb_add(&b, "    return needed > (size_t)INT64_MAX ? -1 : (int64_t)needed;\n}\n\n");
    print_zero_once(x, &b);
    sb_addf(&b,
            "int64_t lathe_torch_run(const std::vector<int64_t> &inputs, const std::vector<int64_t> &outputs,\n"
            "                        const std::vector<int64_t> &sizes, const std::vector<double> &scalars,\n"
            "                        int64_t workspace, int64_t bytes, int64_t stream)\n"
            "{\n%s    cudaError_t error = lathe_torch_call(%s::%s",
            p->nscalars ? "" : "    (void)scalars;\n", x->space, x->function);
    for (int i = 0, in = 0, out = 0; i < p->ntensors; i++)
        sb_addf(&b, p->tensors[i].output ? ", outputs[%d]" : ", inputs[%d]", p->tensors[i].output ? out++ : in++);
    for (int i = 0; i < p->ndims; i++) sb_addf(&b, ", sizes[%d]", i);
    for (int i = 0; i < p->nscalars; i++) sb_addf(&b, ", scalars[%d]", i);
    sb_add(&b, ", workspace, bytes, stream);\n"
               "    if (error != cudaSuccess) (void)cudaGetLastError(); // so that PyTorch does not find it later\n"
               "    return (int64_t)error;\n}\n\n"
               "std::string lathe_torch_error(int64_t error)\n{\n"
               "    return cudaGetErrorString((cudaError_t)error);\n}\n");
    export_torch_text(x->out, "LATHE_BINDING", sb_str(&b));
    sb_free(&b);
}

static status print_source(struct exporter *x, struct err *e)
{
    struct strbuf source = {0}, *file = x->out;
    x->out = &source;
    status s = export_source(x, e);
    x->out = file;
    if (!s) export_torch_text(x->out, "LATHE_SOURCE", sb_str(&source));
    sb_free(&source);
    return s;
}

status export_torch(const struct export_input *in, const struct export_image *image, struct strbuf *out, struct err *e)
{
    struct exporter x;
    struct torch_model *generic = in->problem->torch ? NULL : torch_model_generic(in->problem);
    struct model_printer mp = {&x, generic ? generic : in->problem->torch};
    status s = export_open(in, &export_runtime, "#", out, &x, e);
    if (!s) {
        export_provenance(&x);
        print_usage(&x);
        print_constants(&x, mp.m);
        s = print_source(&x, e);
    }
    if (!s) {
        print_binding(&x);
        s = export_torch_plan(&x, image, e);
    }
    if (!s) {
        sb_addf(out, "\n\n%s\n\n%s\n\n# What is computed.\n", RUNTIME, CUBIN);
        s = export_torch_formula(&mp, e);
    }
    if (!s) s = export_torch_class(&mp, e);
    if (!s) s = export_torch_example(&mp, e);
    export_close(&x);
    torch_model_free(generic);
    return s;
}
