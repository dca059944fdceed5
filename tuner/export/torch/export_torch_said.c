/* export_torch_said.c: the formula that a specification says in Python (torch.formula), with the names that an exported
 * file has: what it calls as Python or nn.Module calls something has a _ there, and so in the formula. */
#include "base/mem.h"
#include "export/torch/torch.h"
#include <ctype.h>
#include <string.h>

/* Whether the formula may name it: an input, a dimension or a scalar. */
static bool is_argument(const struct problem *p, const char *word)
{
    int tensor = problem_find_tensor(p, word);
    bool found = problem_find_dim(p, word) >= 0 || (tensor >= 0 && !p->tensors[tensor].output);
    for (int i = 0; i < p->nscalars; i++) found |= !strcmp(p->scalars[i].name, word);
    return found;
}

/* Whether a word at `at` is Python's, whatever the specification calls so: an attribute, the name of an argument
 * (dim=1), or a module before one of its own (torch.exp). */
static bool is_python(const char *text, const char *at, const char *word)
{
    const char *behind = at + strlen(word);
    behind += strspn(behind, " ");
    while (at > text && at[-1] == ' ') at--;
    bool module = !strcmp(word, "torch") || !strcmp(word, "nn") || !strcmp(word, "math");
    return (at > text && at[-1] == '.') || (*behind == '=' && behind[1] != '=') || (module && *behind == '.');
}

static size_t word_length(const char *c)
{
    size_t n = 0;
    while (isalnum((unsigned char)c[n]) || c[n] == '_' || (unsigned char)c[n] >= 0x80) n++;
    return n;
}

static void print_word(struct strbuf *b, const struct problem *p, const char *text, const char *at, size_t n)
{
    char *word = mem_printf("%.*s", (int)n, at);
    bool named = is_argument(p, word) && !is_python(text, at, word);
    char *python = named ? torch_model_python_name(word) : mem_strdup(word);
    sb_add(b, python);
    mem_free(python);
    mem_free(word);
}

void export_torch_said(struct strbuf *b, const struct problem *p, const char *text)
{
    for (const char *c = text; *c;) {
        size_t n = word_length(c);
        if (n) {
            print_word(b, p, text, c, n);
        } else {
            const char *end = *c == '"' || *c == '\'' ? strchr(c + 1, *c) : NULL;     /* a text is as it is */
            n = end ? (size_t)(end - c) + 1 : 1;
            sb_addn(b, c, n);
        }
        c += n;
    }
}
