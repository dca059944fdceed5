/* pick_target.c: asks a device for its limits in a child process.
 *
 * The child writes one JSON text, {"target": {...}} or {"error": [status, text]}. */
#include "cli/args/pick_target.h"
#include "console/output.h"
#include "device/dev.h"
#include "device/forked.h"
#include <string.h>
#include <unistd.h>

#define ANSWER_SECONDS 60.0
enum { MAX_ANSWER = 16384 };

struct question {
    const struct dev_ops *ops;
    int number;
};

/* In the child. */
static void ask(void *ctx, int fd)
{
    const struct question *q = ctx;
    struct err e = {0};
    struct target t = {0};
    struct dev *d = NULL;
    json_t *answer;
    if (q->ops->open(q->number, &d, &t, &e) == LATHE_OK) {
        answer = json_pack("{s:o}", "target", target_to_json(&t));
        q->ops->close(d);
    } else {
        answer = json_pack("{s:[i,s]}", "error", (int)e.code, e.text);
    }
    struct strbuf b = {0};
    json_line(&b, answer);
    for (size_t done = 0; done < b.len;) {
        ssize_t n = write(fd, b.s + done, b.len - done);
        if (n <= 0)
            break;              /* the parent has gone: nobody to tell */
        done += (size_t)n;
    }
    sb_free(&b);
    json_decref(answer);
}

static status understand(const char *device, const char *text, struct target *out, struct err *e)
{
    json_t *j = json_loads(text, 0, NULL);
    int code = 0;
    const char *message = "";
    status s;
    if (json_object_get(j, "target"))
        s = target_from_json(json_object_get(j, "target"), out, e);
    else if (json_unpack(j, "{s:[i,s]}", "error", &code, &message) == 0 && code > 0 && code < STATUS_COUNT)
        s = err_set(e, (status)code, "%s", message);
    else
        s = err_set(e, LATHE_DEVICE,
                    "%s: the process that asked for its limits ended without an answer\n`lathe doctor` shows "
                    "what is found here; --target sm_90a needs no device",
                    device);
    json_decref(j);
    return s;
}

static status ask_device(const char *device, struct target *out, struct err *e)
{
    struct question q;
    status s = dev_find(device, &q.ops, &q.number, e);
    if (s != LATHE_OK)
        return s;
    char answer[MAX_ANSWER + 1], why[400] = "";
    size_t len = 0;
    if (!forked(ask, &q, ANSWER_SECONDS, answer, MAX_ANSWER, &len, why, sizeof why))
        return err_set(e, LATHE_DEVICE,
                       "%s: cannot ask for its limits: %s\n`lathe doctor` shows what is found here; --target sm_90a "
                       "needs no device",
                       device, why);
    answer[len] = 0;
    return understand(device, answer, out, e);
}

status pick_target(const char *name, struct target *out, struct err *e)
{
    char device[24];
    if (!name) {
        dev_default(device);
        name = device;
    }
    if (!strncmp(name, "cuda", 4))
        return ask_device(name, out, e);
    return target_named(name, out, e);
}
