/* test_file.c: the file helpers of strbuf.h, in a directory of their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/strbuf.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char *dir;

static int setup(void **state)
{
    dir = mem_strdup("/tmp/lathe-test-file-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    char *command = mem_printf("rm -rf '%s'", dir);
    int rc = system(command);
    mem_free(command);
    mem_free(dir);
    return rc;
}

static char *in_dir(const char *name)
{
    return path_join(dir, name);
}

static int entries(void)
{
    int n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *entry; (entry = readdir(d));)
        n += entry->d_name[0] != '.';
    closedir(d);
    return n;
}

static void write_and_read(void **state)
{
    struct err e = {0};
    char *path = in_dir("a"), *text = NULL;
    size_t len = 0;
    assert_int_equal(file_write_atomic(path, "one\0two", 7, &e), LATHE_OK);
    assert_int_equal(file_read(path, &text, &len, &e), LATHE_OK);
    assert_int_equal(len, 7);
    assert_memory_equal(text, "one\0two", 8);
    mem_free(text);
    assert_int_equal(file_write_atomic(path, "", 0, &e), LATHE_OK);
    assert_int_equal(file_read(path, &text, NULL, &e), LATHE_OK);
    assert_string_equal(text, "");
    mem_free(text);
    struct stat st;
    mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0666 & ~mask);
    assert_true(file_exists(path));
    assert_int_equal(entries(), 1);                 /* no temporary file is left */
    unlink(path);
    assert_false(file_exists(path));
    mem_free(path);
}

static void read_refusals(void **state)
{
    struct err e = {0};
    char *text = NULL, *path = in_dir("missing");
    assert_int_equal(file_read(path, &text, NULL, &e), LATHE_IO);
    assert_non_null(strstr(e.text, path));
    assert_non_null(strstr(e.text, "No such file"));
    assert_int_equal(file_read(dir, &text, NULL, &e), LATHE_IO);
    assert_non_null(strstr(e.text, "is a directory, expected a file"));
    assert_int_equal(file_read("/dev/zero", &text, NULL, &e), LATHE_IO); /* whose end never comes */
    assert_string_equal(e.text, "/dev/zero: is a device, expected a file");
    char *fifo = in_dir("fifo");
    assert_int_equal(mkfifo(fifo, 0666), 0);
    assert_int_equal(file_read(fifo, &text, NULL, &e), LATHE_IO); /* whose writer never comes */
    assert_non_null(strstr(e.text, "is a pipe, expected a file"));
    assert_int_equal(file_check_regular(fifo, "a recording", &e), LATHE_IO);
    assert_non_null(strstr(e.text, "is a pipe, expected a recording"));
    unlink(fifo);
    mem_free(fifo);
    assert_int_equal(file_check_regular(path, "a recording", &e), LATHE_OK); /* it is not there */
    size_t len;
    assert_int_equal(file_read("/proc/self/status", &text, &len, &e), LATHE_OK);    /* stat says 0 bytes */
    assert_true(len > 100);
    mem_free(text);
    int fd = open(path, O_CREAT | O_WRONLY, 0666);
    assert_int_equal(ftruncate(fd, ((off_t)256 << 20) + 1), 0);
    close(fd);
    assert_int_equal(file_read(path, &text, NULL, &e), LATHE_IO);
    assert_non_null(strstr(e.text, "256 MiB"));
    unlink(path);
    mem_free(path);
}

static void write_refusals(void **state)
{
    struct err e = {0};
    char *path = in_dir("no/such/place");
    assert_int_equal(file_write_atomic(path, "x", 1, &e), LATHE_IO);
    assert_non_null(strstr(e.text, path));
    assert_non_null(strstr(e.text, "cannot write"));
    mem_free(path);
    path = in_dir("occupied");
    assert_int_equal(dir_make(path, &e), LATHE_OK);
    assert_int_equal(file_write_atomic(path, "x", 1, &e), LATHE_IO);    /* rename onto a directory fails */
    assert_int_equal(entries(), 1);
    rmdir(path);
    mem_free(path);
    assert_int_equal(file_write_atomic("/dev/full/x", "x", 1, &e), LATHE_IO);
}

/* A write that fails half-way (a file size limit stands in for a full disk) leaves the old content. */
static void disk_full(void **state)
{
    struct err e = {0};
    char *path = in_dir("kept"), *text = NULL;
    assert_int_equal(file_write_atomic(path, "old", 3, &e), LATHE_OK);
    struct rlimit old, small;
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 4096;
    setrlimit(RLIMIT_FSIZE, &small);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    char *large = mem_zalloc(1, 100000);
    status s = file_write_atomic(path, large, 100000, &e);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, handler);
    assert_int_equal(s, LATHE_IO);
    assert_non_null(strstr(e.text, "File too large"));
    assert_int_equal(entries(), 1);
    assert_int_equal(file_read(path, &text, NULL, &e), LATHE_OK);
    assert_string_equal(text, "old");
    mem_free(text);
    mem_free(large);
    unlink(path);
    mem_free(path);
}

static void directories(void **state)
{
    struct err e = {0};
    char *deep = in_dir("x//y/z/"), *file = in_dir("f"), *under = in_dir("f/g");
    assert_int_equal(dir_make(deep, &e), LATHE_OK);
    assert_int_equal(dir_make(deep, &e), LATHE_OK);
    assert_true(file_exists(deep));
    assert_int_equal(dir_make("/", &e), LATHE_OK);
    assert_int_equal(file_write_atomic(file, "x", 1, &e), LATHE_OK);
    assert_int_equal(dir_make(file, &e), LATHE_IO);
    assert_non_null(strstr(e.text, file));
    assert_int_equal(dir_make(under, &e), LATHE_IO);
    assert_int_equal(dir_make("", &e), LATHE_IO);
    mem_free(deep);
    mem_free(file);
    mem_free(under);
}

static void paths(void **state)
{
    static const struct {
        const char *dir, *name, *joined;
    } joins[] = {{"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"/", "b", "/b"}, {"a", "/b", "/b"}, {"", "b", "b"}};
    for (size_t i = 0; i < sizeof joins / sizeof *joins; i++) {
        char *got = path_join(joins[i].dir, joins[i].name);
        assert_string_equal(got, joins[i].joined);
        mem_free(got);
    }
    static const char *const names[][2] = {{"a/b", "a"}, {"a", "."}, {"", "."}, {"/a", "/"}, {"/", "/"},
                                           {"a/b/", "a"}, {"a//b", "a"}, {"/a/b/c", "/a/b"}, {"//a", "/"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *got = path_dirname(names[i][0]);
        assert_string_equal(got, names[i][1]);
        mem_free(got);
    }
}

/* Neither a link nor what is no file is replaced by one. */
static void write_through_what_is_there(void **state)
{
    struct err e = {0};
    char *file = in_dir("file"), *link = in_dir("link"), *pipe_path = in_dir("pipe"), *text = NULL, got[8] = "";
    struct stat st;
    assert_int_equal(file_write_atomic(file, "old", 3, &e), LATHE_OK);
    assert_int_equal(chmod(file, 0600), 0);
    assert_int_equal(symlink(file, link), 0);
    assert_int_equal(file_write_atomic(link, "new", 3, &e), LATHE_OK);
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(file_read(file, &text, NULL, &e), LATHE_OK);
    assert_string_equal(text, "new");
    mem_free(text);

    assert_int_equal(file_write_atomic(file, "", 0, &e), LATHE_OK);    /* a database is not overwritten, by any name */
    FILE *database = fopen(file, "w");
    fwrite("SQLite format 3\0and its pages", 1, 29, database);
    fclose(database);
    assert_int_equal(file_write_atomic(file, "x", 1, &e), LATHE_IO);
    assert_int_equal(file_write_atomic(link, "x", 1, &e), LATHE_IO);
    assert_non_null(strstr(e.text, "is a database, which is not overwritten"));
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_size, 29);
    static const char *const beside[] = {"-wal", "-shm", "-journal"};      /* nor what SQLite keeps beside it, there or
                                                                              not */
    for (int i = 0; i < 6; i++) {
        char *other = mem_printf("%s%s", i % 2 ? link : file, beside[i / 2]);
        assert_int_equal(file_write_atomic(other, "x", 1, &e), LATHE_IO);
        assert_non_null(strstr(e.text, "belongs to the database beside it"));
        assert_int_not_equal(access(other, F_OK), 0);
        mem_free(other);
    }
    char *alone = in_dir("alone-wal");          /* without a database it is a name like others */
    assert_int_equal(file_write_atomic(alone, "x", 1, &e), LATHE_OK);
    unlink(alone);
    mem_free(alone);

    unlink(file);                               /* the link dangles: what it names is made */
    assert_int_equal(file_write_atomic(link, "made", 4, &e), LATHE_OK);
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(file_read(file, &text, NULL, &e), LATHE_OK);
    assert_string_equal(text, "made");
    mem_free(text);
    unlink(link);
    assert_int_equal(symlink(link, link), 0);
    assert_int_equal(file_write_atomic(link, "x", 1, &e), LATHE_IO);

    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_int_equal(file_write_atomic(pipe_path, "x", 1, &e), LATHE_IO);     /* nobody reads */
    int reader = open(pipe_path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_int_equal(file_write_atomic(pipe_path, "piped", 5, &e), LATHE_OK);
    assert_int_equal(read(reader, got, sizeof got), 5);
    assert_memory_equal(got, "piped", 5);
    close(reader);
    assert_int_equal(lstat(pipe_path, &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    assert_int_equal(entries(), 3);
    unlink(file), unlink(link), unlink(pipe_path);
    mem_free(file), mem_free(link), mem_free(pipe_path);
}

static void assert_leads(const char *name, const char *to)
{
    char *real = realpath(".", NULL), *full = path_join(real, name), *wanted = path_join(real, to);
    char *resolved = file_resolve(full), *below = file_resolve(name);
    assert_string_equal(resolved, to);
    assert_string_equal(below, to);
    assert_int_equal(chdir("/"), 0);
    char *elsewhere = file_resolve(full);
    assert_string_equal(elsewhere, wanted);
    assert_int_equal(chdir(real), 0);
    free(real);
    mem_free(full), mem_free(wanted), mem_free(resolved), mem_free(below), mem_free(elsewhere);
}

static void assert_stays(const char *name)
{
    char *resolved = file_resolve(name);
    assert_string_equal(resolved, name);
    mem_free(resolved);
}

/* The file that a name leads to, there or not; a name that leads nowhere else is as it was given. */
static void links(void **state)
{
    struct err e = {0};
    char *before = realpath(".", NULL), *folder = in_dir("links");
    assert_int_equal(dir_make(folder, &e), LATHE_OK);
    assert_int_equal(chdir(folder), 0);
    char *real = realpath(".", NULL), *plain = path_join(real, "plain");
    assert_int_equal(mkdir("f", 0700), 0);
    assert_int_equal(symlink("f", "g"), 0);
    assert_int_equal(symlink("../plain", "f/to-plain"), 0);
    assert_int_equal(symlink("g/to-plain", "twice"), 0);
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_int_equal(symlink("/dev/null", "null"), 0);
    assert_int_equal(symlink("no/such", "nowhere"), 0);
    for (int there = 0; there < 2; there++) {
        assert_leads("twice", "plain");
        assert_leads("g/to-plain", "plain");
        assert_leads("g/new", "f/new");
        assert_stays(plain);
        assert_stays("./f/../plain");
        assert_int_equal(file_write_atomic(plain, "x", 1, &e), LATHE_OK);
    }
    const char *const as_given[] = {"", "loop", "null", "nowhere", "no/such", "f", "g", "/", "./f//new"};
    for (size_t i = 0; i < sizeof as_given / sizeof *as_given; i++) assert_stays(as_given[i]);
    assert_int_equal(chdir(before), 0);
    free(before), free(real);
    mem_free(folder), mem_free(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(write_and_read), cmocka_unit_test(read_refusals), cmocka_unit_test(write_refusals),
        cmocka_unit_test(disk_full), cmocka_unit_test(write_through_what_is_there),
        cmocka_unit_test(directories), cmocka_unit_test(paths), cmocka_unit_test(links),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
