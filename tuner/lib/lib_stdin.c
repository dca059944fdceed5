/* lib_stdin.c: the name that stdin has in the copies of static libraries that liblathe links (Makefile). NULL: no file
 * that is read is standard input. */
#include <stdio.h>

extern FILE *lib_no_stdin;
FILE *lib_no_stdin;
