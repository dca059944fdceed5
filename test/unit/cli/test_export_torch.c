/* test_export_torch.c: a PyTorch module of launches that say all they can (test/specs/launch.lua), run with stand-ins
 * for PyTorch and the driver; texts and images that are hard to write in Python. */
#include "base/mem.h"
#include "export/export.h"
#include "export/torch/torch.h"
#include "search/spec/spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char dir[] = "/tmp/lathe-torch-XXXXXX";

static int setup(void **state)
{
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    char *command = mem_printf("rm -rf %s", dir);
    int failed = system(command);
    mem_free(command);
    return failed;
}

static void write_file(const char *name, const struct strbuf *text)
{
    struct err e = {0};
    char *path = path_join(dir, name);
    if (file_write_atomic(path, sb_str(text), text->len, &e))
        fail_msg("%s", e.text);
    mem_free(path);
}

/* Without python3 or a C compiler there is nothing to run, and the test is skipped. */
static void python(const char *command)
{
    if (system("command -v python3 >/dev/null && command -v cc >/dev/null"))
        skip();
    char *line = mem_printf("tree=$PWD; cd %s; exec 2>&1; export PYTHONDONTWRITEBYTECODE=1; %s", dir, command);
    int failed = system(line);
    mem_free(line);
    if (failed)
        fail_msg("it failed: %s", command);
}

static void exported(const char *config, struct strbuf *text)
{
    static const char *const include[] = {"kernels/common", NULL};
    struct err e = {0};
    json_t *tree = NULL, *provenance = json_object();
    struct problem *p = NULL;
    struct target target;
    config_choice choice[16];
    if (spec_read("test/specs/launch.lua", &tree, &e) ||
        problem_from_json(tree, "test/specs/launch.lua", include, &p, &e) || target_named("sm_90a", &target, &e) ||
        config_from_text(&p->kernels[0], config, choice, &e))
        fail_msg("%s (run the tests from the repository's root)", e.text);
    const struct export_input in = {p, &p->kernels[0], choice, &target, provenance, NULL};
    const struct export_image image = {.data = "\177ELF image", .len = 10};
    assert_null(export_torch_no_image(&in));
    if (export_torch(&in, &image, text, &e))
        fail_msg("%s", e.text);
    json_decref(provenance);
    json_decref(tree);
    problem_free(p);
}

static void launches(void **state)
{
    struct strbuf text = {0};
    exported(
        "ROWS=64 COLS=32 SWIZZLE=128 L2=256 CLUSTER=2 PREPARE=true OVERLAP=true STORE=threads VIEW=true PERSIST=true",
        &text);
    write_file("boxes.py", &text);
    sb_free(&text);
    python(
        "cc -shared -fPIC -std=c11 -D_GNU_SOURCE -I$tree/tuner -I$tree -o libcuda.so.1 $tree/test/torch/libcuda.c && "
        "FAKE_CUDA_LOG=$PWD/driver.log FAKE_CUDA_ARGS='launch_factor=p launch_scale=mmppii' LD_LIBRARY_PATH=$PWD "
        "LATHE_TORCH_CUBIN=1 PYTHONPATH=$tree/test/torch python3 $tree/test/torch/scenarios.py boxes.py launches");
}

/* Every text and image is read back as it was. */
static void data(void **state)
{
    static const char *const texts[] = {
        "",
        "plain\n",
        "ends in a \\",
        "ends in a \"",
        "has \"\"\" in it",
        "a\\n \"b\" \\\"\"\"",
        "line\r\nends\r",
        "\xc3\xa9",
    };
    struct strbuf file = {0}, wanted = {0};
    char image[256 + 3];
    for (size_t i = 0; i < sizeof image; i++)
        image[i] = (char)i;
    sb_add(&file, "import base64\n");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char name[24];
        snprintf(name, sizeof name, "TEXT_%zu", i);
        export_torch_text(&file, name, texts[i]);
        sb_addf(&wanted, "assert %s.encode() == bytes([", name);
        for (const char *c = texts[i]; *c; c++)
            sb_addf(&wanted, "%d, ", (unsigned char)*c);
        sb_addf(&wanted, "]), %s\n", name);
    }
    for (size_t cut = 0; cut < 4; cut++) {
        char name[24];
        snprintf(name, sizeof name, "IMAGE_%zu", cut);
        export_torch_base64(&file, name, image, sizeof image - cut);
        sb_addf(&wanted, "assert base64.b64decode(%s) == bytes(i %% 256 for i in range(%zu))\n", name,
                sizeof image - cut);
    }
    sb_add(&file, sb_str(&wanted));
    write_file("data.py", &file);
    sb_free(&file);
    sb_free(&wanted);
    python("python3 data.py");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(launches), cmocka_unit_test(data)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
