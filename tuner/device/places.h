/* places.h: the directories where CUDA's libraries may be. Used by find_lib.c alone; the order is find_lib.h's. */
#ifndef LATHE_DEVICE_PLACES_H
#define LATHE_DEVICE_PLACES_H

#include <stdbool.h>

struct place {
    char *dir;
    const char *variable;           /* the environment variable that named it, or NULL */
};

struct places {                     /* starts as {0} */
    struct place *v;
    int n, cap;
};

void places_add(struct places *p, const char *dir, const char *variable);
void places_free(struct places *p);
bool places_is_dir(const char *path);

/* The library directories under a toolkit's root; a root that was named by a variable stands for itself too. */
void places_add_toolkit(struct places *p, const char *root, const char *variable);

void places_toolkit(struct places *p);      /* where toolkits are, LATHE_CUDA_PATH and the loader aside */
void places_driver(struct places *p);       /* where drivers are, the loader aside */

#endif
