/* man.c: see man.h. The pages say what --help says, since both are made from the tables of commands and options. */
#include "cli/man.h"
#include "console/roff.h"
#include <ctype.h>
#include <string.h>

/* "lathe-tune": the name of a page */
static void begin(struct strbuf *b, const struct cli *cli, const char *command, const char *summary)
{
    sb_addf(b, ".\\\" Made by `lathe help --man`: do not edit.\n.TH LATHE%s", *command ? "\\-" : "");
    for (const char *s = command; *s; s++) {
        char upper = (char)toupper((unsigned char)*s);
        roff_text(b, &upper, 1);
    }
    sb_addf(b, " 1 %s \"lathe ", cli->date);
    roff_words(b, cli->version);
    sb_addf(b, "\" \"User Commands\"\n.ad l\n.nh\n.SH NAME\nlathe%s", *command ? "\\-" : "");
    roff_words(b, command);
    sb_add(b, " \\- ");
    roff_words(b, summary);
    sb_add(b, "\n.SH SYNOPSIS\n.B lathe\n");
}

static void synopsis(struct strbuf *b, const struct command *c)
{
    sb_add(b, ".B ");
    roff_words(b, c->name);
    sb_add(b, "\n[\\fIoptions\\fR]\n");
    for (const struct option_row *r = c->options; r->name; r++)
        if (option_positional(r))
            sb_addf(b, "%s\\fI%s\\fR%s\n", r->kind == OPTION_NEEDED ? "" : "[", r->name,
                    r->kind == OPTION_REST ? "...]" : r->kind == OPTION_NEEDED ? "" : "]");
}

static void option_rows(struct strbuf *b, const struct option_row *rows)
{
    if (rows->name && option_positional(rows))
        roff_heading(b, "arguments");
    for (const struct option_row *r = rows; r->name; r++)
        if (option_positional(r))
            roff_row(b, r->name, r->help);
    roff_heading(b, "options");
    for (const struct option_row *r = rows; r->name; r++) {
        if (option_positional(r))
            continue;
        struct strbuf left = {0}, right = {0};
        option_names(&left, r);
        option_text(&right, r);
        roff_row(b, sb_str(&left), sb_str(&right));
        sb_free(&left);
        sb_free(&right);
    }
    roff_row(b, "-h, --help", "this text");
}

static void capital(struct strbuf *b, const char *sentence)
{
    struct strbuf text = {0};
    sb_addf(&text, "%c%s.", toupper((unsigned char)*sentence), sentence + 1);
    roff_paragraph(b, sb_str(&text));
    sb_free(&text);
}

void man_command(struct strbuf *b, const struct cli *cli, const struct command *c)
{
    struct help h = {.b = b, .man = true};
    begin(b, cli, c->name, c->summary);
    synopsis(b, c);
    roff_heading(b, "description");
    capital(b, c->summary);
    option_rows(b, c->options);
    if (c->more_help)
        c->more_help(&h);
    if (c->details) {
        roff_heading(b, "notes");
        roff_paragraph(b, c->details);
    }
    sb_add(b, ".SH \"SEE ALSO\"\n.BR lathe (1)\n");
}

void man_lathe(struct strbuf *b, const struct cli *cli)
{
    struct help h = {.b = b, .man = true};
    begin(b, cli, "", "a GPU-kernel autotuner");
    sb_add(b, "\\fICOMMAND\\fR\n[\\fIoptions\\fR]\n[\\fIarguments\\fR]\n");
    roff_heading(b, "description");
    roff_paragraph(b, cli_about);
    roff_heading(b, "commands");
    for (const struct command *const *c = cli_commands(); *c; c++) {
        sb_add(b, ".TP\n.BR lathe\\-");
        roff_words(b, (*c)->name);
        sb_add(b, " (1)\n");
        roff_line(b, (*c)->summary, strlen((*c)->summary));
    }
    roff_heading(b, "options");
    roff_row(b, "-h, --help", "the commands; after a command, its options");
    roff_row(b, "-V, --version", "the version");
    roff_heading(b, "environment");
    for (const struct cli_variable *v = cli_variables(); v->name; v++)
        roff_row(b, v->name, v->text);
    roff_heading(b, "files");
    roff_row(b, "lathe.db", "the database, in the folder where lathe was called, unless --db says otherwise");
    roff_row(b, "./kernels, PREFIX/share/lathe/kernels", "where a specification is looked for by its name");
    cli_exit_codes(&h);
    sb_add(b, ".SH EXAMPLES\n.nf\n");
    static const char *const examples[] = {
        "lathe doctor", "lathe tune linear --device host --size M=48,N=80,K=96 --trials 40", "lathe best",
        "lathe export -o winner.cu", "lathe report -o report.html"};
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        roff_line(b, examples[i], strlen(examples[i]));
    sb_add(b, ".fi\n");
}
