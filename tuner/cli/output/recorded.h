/* recorded.h: what reading a recording had to settle, told on stderr by every command that reads one. */
#ifndef LATHE_CLI_RECORDED_H
#define LATHE_CLI_RECORDED_H

#include "base/strbuf.h"
#include "replay/recording.h"

/* Appends recording_notes as "note: PATH: ..." lines, with line ends between. */
void recorded_add_notes(struct strbuf *b, const struct recording *r);
/* Tells them now. */
void recorded_tell_notes(const struct recording *r);

#endif
