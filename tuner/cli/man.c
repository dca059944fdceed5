/* man.c: see man.h. The pages say what --help says, since both are made from the tables of commands and options. */
#include "cli/man.h"
#include <ctype.h>
#include <string.h>

/* Text as it is: what would be a request at a line's beginning, an escape, or another character in print, is none. */
static void add_text(struct strbuf *b, const char *text, size_t len)
{
    if (len && (*text == '.' || *text == '\''))
        sb_add(b, "\\&");
    for (size_t i = 0; i < len; i++) {
        switch (text[i]) {
        case '\\': sb_add(b, "\\e"); break;
        case '-': sb_add(b, "\\-"); break;
        case '`': sb_add(b, "\\(ga"); break;
        case '\'': sb_add(b, "\\(aq"); break;
        case '"': sb_add(b, "\\(dq"); break;
        case '^': sb_add(b, "\\(ha"); break;
        case '~': sb_add(b, "\\(ti"); break;
        case '|': sb_add(b, "|\\:"); break; /* a list of choices may be broken there */
        default: sb_addn(b, &text[i], 1);
        }
    }
}

static void add_words(struct strbuf *b, const char *text)
{
    add_text(b, text, strlen(text));
}

/* A line of the source each sentence. */
static void add_line(struct strbuf *b, const char *text, size_t len)
{
    size_t begin = 0;
    for (size_t i = 0; i + 2 < len; i++) {
        if (!strchr(".?!", text[i]) || text[i + 1] != ' ' || !isupper((unsigned char)text[i + 2]))
            continue;
        add_text(b, text + begin, i + 1 - begin);
        sb_add(b, "\n");
        begin = i + 2;
    }
    add_text(b, text + begin, len - begin);
    sb_add(b, "\n");
}

void man_paragraph(struct strbuf *b, const char *text)
{
    for (bool first = true; *text; first = false) {
        size_t len = strcspn(text, "\n");
        if (len && !first)
            sb_add(b, ".PP\n");
        if (len)
            add_line(b, text, len);
        text += len + (text[len] == '\n');
    }
}

void man_heading(struct strbuf *b, const char *text)
{
    bool options = strstr(text, "--") != NULL; /* which have their own case */
    sb_add(b, ".SH \"");
    for (const char *s = text; *s; s++) {
        char letter = options && s != text ? *s : (char)toupper((unsigned char)*s);
        add_text(b, &letter, 1);
    }
    sb_add(b, "\"\n");
}

void man_row(struct strbuf *b, const char *left, const char *right)
{
    bool inner = *left == ' ';
    left += strspn(left, " ");
    sb_add(b, inner ? ".RS\n.TP\n.B \"" : ".TP\n.B \"");
    add_words(b, left);
    sb_add(b, "\"\n");
    for (const char *s = right; *s;) {
        size_t len = strcspn(s, "\n");
        if (s != right)
            sb_add(b, ".br\n");
        add_line(b, s, len);
        s += len + (s[len] == '\n');
    }
    if (inner)
        sb_add(b, ".RE\n");
}

/* "lathe-tune": the name of a page */
static void begin(struct strbuf *b, const struct cli *cli, const char *command, const char *summary)
{
    sb_addf(b, ".\\\" Made by `lathe help --man`: do not edit.\n.TH LATHE%s", *command ? "\\-" : "");
    for (const char *s = command; *s; s++) {
        char upper = (char)toupper((unsigned char)*s);
        add_text(b, &upper, 1);
    }
    sb_addf(b, " 1 %s \"lathe ", cli->date);
    add_words(b, cli->version);
    sb_addf(b, "\" \"User Commands\"\n.ad l\n.nh\n.SH NAME\nlathe%s", *command ? "\\-" : "");
    add_words(b, command);
    sb_add(b, " \\- ");
    add_words(b, summary);
    sb_add(b, "\n.SH SYNOPSIS\n.B lathe\n");
}

static void synopsis(struct strbuf *b, const struct command *c)
{
    sb_add(b, ".B ");
    add_words(b, c->name);
    sb_add(b, "\n[\\fIoptions\\fR]\n");
    for (const struct option_row *r = c->options; r->name; r++)
        if (option_positional(r))
            sb_addf(b, "%s\\fI%s\\fR%s\n", r->kind == OPTION_NEEDED ? "" : "[", r->name,
                    r->kind == OPTION_REST ? "...]" : r->kind == OPTION_NEEDED ? "" : "]");
}

static void option_rows(struct strbuf *b, const struct option_row *rows)
{
    if (rows->name && option_positional(rows))
        man_heading(b, "arguments");
    for (const struct option_row *r = rows; r->name; r++)
        if (option_positional(r))
            man_row(b, r->name, r->help);
    man_heading(b, "options");
    for (const struct option_row *r = rows; r->name; r++) {
        if (option_positional(r))
            continue;
        struct strbuf left = {0}, right = {0};
        option_names(&left, r);
        option_text(&right, r);
        man_row(b, sb_str(&left), sb_str(&right));
        sb_free(&left);
        sb_free(&right);
    }
    man_row(b, "-h, --help", "this text");
}

static void capital(struct strbuf *b, const char *sentence)
{
    struct strbuf text = {0};
    sb_addf(&text, "%c%s.", toupper((unsigned char)*sentence), sentence + 1);
    man_paragraph(b, sb_str(&text));
    sb_free(&text);
}

void man_command(struct strbuf *b, const struct cli *cli, const struct command *c)
{
    struct help h = {.b = b, .man = true};
    begin(b, cli, c->name, c->summary);
    synopsis(b, c);
    man_heading(b, "description");
    capital(b, c->summary);
    option_rows(b, c->options);
    if (c->more_help)
        c->more_help(&h);
    if (c->details) {
        man_heading(b, "notes");
        man_paragraph(b, c->details);
    }
    sb_add(b, ".SH \"SEE ALSO\"\n.BR lathe (1)\n");
}

void man_lathe(struct strbuf *b, const struct cli *cli)
{
    struct help h = {.b = b, .man = true};
    begin(b, cli, "", "a GPU-kernel autotuner");
    sb_add(b, "\\fICOMMAND\\fR\n[\\fIoptions\\fR]\n[\\fIarguments\\fR]\n");
    man_heading(b, "description");
    man_paragraph(b, cli_about);
    man_heading(b, "commands");
    for (const struct command *const *c = cli_commands(); *c; c++) {
        sb_add(b, ".TP\n.BR lathe\\-");
        add_words(b, (*c)->name);
        sb_add(b, " (1)\n");
        add_line(b, (*c)->summary, strlen((*c)->summary));
    }
    man_heading(b, "options");
    man_row(b, "-h, --help", "the commands; after a command, its options");
    man_row(b, "-V, --version", "the version");
    man_heading(b, "environment");
    for (const struct cli_variable *v = cli_variables(); v->name; v++)
        man_row(b, v->name, v->text);
    man_heading(b, "files");
    man_row(b, "lathe.db", "the database, in the folder where lathe was called, unless --db says otherwise");
    man_row(b, "./kernels, PREFIX/share/lathe/kernels", "where a specification is looked for by its name");
    cli_exit_codes(&h);
    sb_add(b, ".SH EXAMPLES\n.nf\n");
    static const char *const examples[] = {
        "lathe doctor", "lathe tune linear --device host --size M=48,N=80,K=96 --trials 40", "lathe best",
        "lathe export -o winner.cu", "lathe report -o report.html"};
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        add_line(b, examples[i], strlen(examples[i]));
    sb_add(b, ".fi\n");
}
