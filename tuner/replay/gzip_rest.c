/* gzip_rest.c: see gzip_rest.h. */
#include "replay/gzip_rest.h"

#include <stdio.h>
#include <zlib.h>

enum { GZIP_ONLY = 16 + MAX_WBITS, CHUNK = 1 << 16 };

/* What is read of the file, through inflate. *between: at the end of a member, so that the file may end. False: what
 * follows a member is none. */
static bool pass_over(z_stream *z, bool *between)
{
    unsigned char out[CHUNK];
    while (z->avail_in) {
        if (*between && !*z->next_in) {
            z->next_in++;
            z->avail_in--;
            continue;
        }
        *between = false;
        z->next_out = out;
        z->avail_out = sizeof out;
        int code = inflate(z, Z_NO_FLUSH);
        *between = code == Z_STREAM_END;
        if ((code != Z_OK && code != Z_STREAM_END) || (*between && inflateReset(z) != Z_OK))
            return false;
    }
    return true;
}

bool gzip_has_rest(const char *path)
{
    unsigned char in[CHUNK];
    bool between = false, well = true;
    z_stream z = {0};
    FILE *f = fopen(path, "rb");
    if (!f || inflateInit2(&z, GZIP_ONLY) != Z_OK) {
        if (f)
            fclose(f);
        return false;
    }
    while (well && (z.avail_in = (uInt)fread(in, 1, sizeof in, f)) > 0) {
        z.next_in = in;
        well = pass_over(&z, &between);
    }
    bool rest = !ferror(f) && !(well && between);
    inflateEnd(&z);
    fclose(f);
    return rest;
}
