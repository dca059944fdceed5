/* json_text.h: JSON as text that may stand in a script element of a page. */
#ifndef LATHE_REPORT_JSON_TEXT_H
#define LATHE_REPORT_JSON_TEXT_H

#include "base/strbuf.h"
#include <jansson.h>

/* Appends j without blanks. A real has the fewest digits that read back as the same number; one that is not finite is
 * null. `<`, `>`, `&` and the two line separators of Unicode are escapes, so the text can neither end the element that
 * it stands in nor begin another. */
void json_text(struct strbuf *b, const json_t *j);

#endif
