/* page.h: a document as one HTML file that needs nothing else: style, script, the chart library and the data are in it.
 *
 * Nothing in the data can become code: it stands in an element that browsers do not run (json_text.h), the page's own
 * script only ever makes text of it, and the file's content security policy lets no other script run and nothing be
 * fetched. */
#ifndef LATHE_REPORT_PAGE_H
#define LATHE_REPORT_PAGE_H

#include "base/strbuf.h"
#include <jansson.h>
#include <stdbool.h>

/* Whether the chart library was there when this program was built; page_needs_charts says what to do if not, and so does
 * page_charts_advice. */
bool page_has_charts(void);
extern const char page_charts_advice[];
status page_needs_charts(struct err *e);        /* returns LATHE_IO */

/* Appends the page. live: not NULL if it is served: the address, relative to the page's, that it asks for newer
 * data. */
void page_make(const json_t *document, const char *live, struct strbuf *out);

#endif
