/* test_store_place.c: a file that is deleted, moved or replaced under a process that has it open: what that recorded is
 * kept, and whoever opens what is in its place neither loses anything nor harms anybody. */
#include "writing.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* A process that has a store open and a campaign begun there, and does what it is told by a letter a time, answered by
 * one: 'l' looks where its file is (its answer is 'y' if it was lost), 'w' writes another campaign, 'f' may write no
 * file of more than a page from then on, 'e' ends it. */
struct holder {
    pid_t pid;
    int to, from;
};

static char obey(char said, struct store *s)
{
    struct err e = {0};
    struct campaign_record c = toy_campaign(problem, &target);
    int64_t id;
    struct rlimit page = {4096, 4096};
    switch (said) {
    case 'l': return store_check_place(s, &e) == LATHE_STORE && store_lost(s) ? 'y' : 'n';
    case 'w': return store_campaign_begin(s, &c, &id, &e) ? 'n' : 'y';
    case 'f': return signal(SIGXFSZ, SIG_IGN) == SIG_ERR || setrlimit(RLIMIT_FSIZE, &page) ? 'n' : 'y';
    case 'e': store_close(s); return 'y';
    default: return '?';
    }
}

static char tell(struct holder *h, char what)
{
    char answer = 0;
    assert_int_equal(write(h->to, &what, 1), 1);
    assert_int_equal(read(h->from, &answer, 1), 1);
    return answer;
}

static struct holder hold(const char *path)
{
    struct holder h;
    int to[2], from[2];
    assert_int_equal(pipe(to), 0);
    assert_int_equal(pipe(from), 0);
    h.pid = fork();
    assert_true(h.pid >= 0);
    if (!h.pid) {
        struct store *s;
        struct err e = {0};
        char said = 0, answer;
        prctl(PR_SET_PDEATHSIG, SIGKILL);   /* a test that failed tells it nothing */
        if (store_open(path, 5, &s, &e))
            _exit(1);
        while (said != 'e' && read(to[0], &said, 1) == 1) {
            answer = obey(said, s);
            if (write(from[1], &answer, 1) != 1)
                _exit(1);
        }
        _exit(said != 'e');
    }
    close(to[0]);
    close(from[1]);
    h.to = to[1];
    h.from = from[0];
    assert_int_equal(tell(&h, 'w'), 'y');
    return h;
}

static void end(struct holder *h)
{
    int how;
    assert_int_equal(tell(h, 'e'), 'y');
    assert_int_equal(waitpid(h->pid, &how, 0), h->pid);
    close(h->to);
    close(h->from);
    assert_int_equal(how, 0);
}

/* A database of n campaigns that nobody has open. */
static void make(const char *path, int n)
{
    struct store *s = open_store(path);
    for (int i = 0; i < n; i++) begin_campaign(s);
    store_close(s);
}

static bool there(const char *path, const char *ending)
{
    char *name = mem_printf("%s%s", path, ending);
    bool is = file_exists(name);
    mem_free(name);
    return is;
}

static const char CAMPAIGNS[] = "SELECT count(*) FROM campaign";

static void assert_whole(const char *path, const char *campaigns)
{
    assert_answer(path, "PRAGMA integrity_check", "ok");
    assert_answer(path, CAMPAIGNS, campaigns);
}

/* Nothing is opened beside the log of another file; when that is left, everything is. */
static void strangers(const char *path, struct holder *h, const char *then)
{
    struct store *s;
    struct query *q;
    char words[60];
    snprintf(words, sizeof words, "which process %d (", (int)h->pid);
    assert_fails(LATHE_STORE, words, store_open(path, 0, &s, e));
    if (file_exists(path))
        assert_fails(LATHE_STORE, words, query_open(path, &q, e));
    assert_int_equal(tell(h, 'l'), 'y');
    assert_false(there(path, "-wal") || there(path, "-shm"));
    s = open_store(path);
    begin_campaign(s);
    assert_int_equal(tell(h, 'w'), 'n');
    end(h);
    begin_campaign(s);
    store_close(s);
    assert_whole(path, then);
}

static void test_replaced(void **state)
{
    (void)state;
    const char *path = in_folder("replaced.db");
    make(path, 1);
    make(in_folder("other.db"), 4);
    struct holder h = hold(path);
    assert_int_equal(tell(&h, 'l'), 'n');
    assert_int_equal(rename(in_folder("other.db"), path), 0);
    strangers(path, &h, "6");
    assert_whole(in_folder("replaced.db.rescued"), "2");
}

static void test_deleted(void **state)
{
    (void)state;
    const char *path = in_folder("deleted.db");
    struct holder h = hold(path);
    assert_int_equal(unlink(path), 0);
    strangers(path, &h, "2");
    assert_whole(in_folder("deleted.db.rescued"), "1");
}

/* Through a link, and while the one that waits does so. */
static void test_waits(void **state)
{
    (void)state;
    const char *path = in_folder("waits.db"), *link = in_folder("link.db");
    make(path, 1);
    make(in_folder("other.db"), 4);
    assert_int_equal(symlink("waits.db", link), 0);
    struct holder h = hold(path);
    assert_int_equal(rename(in_folder("other.db"), path), 0);
    pid_t later = fork();
    assert_true(later >= 0);
    if (!later) {
        usleep(300000);
        _exit(tell(&h, 'l') != 'y');
    }
    struct store *s;
    assert_ok(store_open(link, 60, &s, e));
    begin_campaign(s);
    store_close(s);
    int how;
    assert_int_equal(waitpid(later, &how, 0), later);
    assert_int_equal(how, 0);
    end(&h);
    assert_whole(path, "5");
}

/* Those that have the same file open are no strangers. */
static void test_together(void **state)
{
    (void)state;
    const char *path = in_folder("together.db");
    struct holder first = hold(path), second = hold(path);
    struct store *s;
    assert_ok(store_open(path, 0, &s, e));
    struct holder third = hold(path);
    begin_campaign(s);
    store_close(s);
    end(&first);
    assert_ok(store_open(path, 0, &s, e));
    store_close(s);
    end(&second);
    end(&third);
    assert_whole(path, "4");
}

/* How another process sees the locks of this one: is the first byte of the range taken? */
static bool is_locked(const char *path, off_t start)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = 1};
        int fd = open(path, O_RDONLY);
        _exit(fd < 0 || fcntl(fd, F_GETLK, &lock) ? 2 : lock.l_type != F_UNLCK);
    }
    int how;
    assert_int_equal(waitpid(pid, &how, 0), pid);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) < 2);
    return WEXITSTATUS(how) == 1;
}

/* A process keeps the locks of a connection, whatever else it opens. */
static void test_own_locks(void **state)
{
    (void)state;
    enum { SHARED = 0x40000002, IN_USE = 128 };
    const char *path = in_folder("own.db"), *same = in_folder("same.db");
    char memory[320];
    snprintf(memory, sizeof memory, "%s-shm", path);
    struct store *s = open_store(path), *second;
    struct query *q;
    begin_campaign(s);
    assert_int_equal(link(path, same), 0);
    assert_ok(store_open(path, 0, &second, e));
    assert_ok(query_open(path, &q, e));
    assert_true(is_locked(path, SHARED) && is_locked(memory, IN_USE));
    query_close(q);
    store_close(second);
    assert_true(is_locked(path, SHARED) && is_locked(memory, IN_USE));
    make(in_folder("other.db"), 4);
    assert_int_equal(rename(in_folder("other.db"), path), 0);
    char words[60];
    snprintf(words, sizeof words, "which process %d (", (int)getpid());
    assert_fails(LATHE_STORE, words, store_open(path, 0, &second, e));
    assert_true(is_locked(same, SHARED) && is_locked(memory, IN_USE));
    assert_fails(LATHE_STORE, "own.db.rescued", store_check_place(s, e));
    store_close(s);
    assert_whole(path, "4");
    assert_whole(in_folder("own.db.rescued"), "1");
}

/* What is there keeps its name: a link that leads nowhere, a log that would be taken for the copy's. */
static void test_names_are_taken(void **state)
{
    (void)state;
    const char *const taken[] = {"taken.db.rescued", "taken.db.rescued-wal"};
    char words[60];
    snprintf(words, sizeof words, "taken.db.rescued-%d", (int)getpid());
    for (int i = 0; i < 2; i++) {
        struct store *s = open_store(in_folder("taken.db"));
        begin_campaign(s);
        assert_int_equal(symlink("nowhere", in_folder(taken[i])), 0);
        assert_int_equal(unlink(in_folder("taken.db")), 0);
        assert_fails(LATHE_STORE, words, store_check_place(s, e));
        store_close(s);
        assert_whole(in_folder(words), "1");
        assert_int_equal(unlink(in_folder(words)), 0);
        assert_int_equal(unlink(in_folder(taken[i])), 0);
    }
}

/* A copy that cannot be written is no reason to leave the log beside what is in the file's place: with the file that
 * was moved it still is what was recorded. */
static void test_no_room(void **state)
{
    (void)state;
    const char *path = in_folder("full.db"), *moved = in_folder("moved.db");
    make(path, 1);
    make(in_folder("other.db"), 4);
    struct holder h = hold(path);
    assert_int_equal(rename(path, moved), 0);
    assert_int_equal(rename(in_folder("other.db"), path), 0);
    assert_int_equal(tell(&h, 'f'), 'y');
    assert_int_equal(tell(&h, 'l'), 'y');
    end(&h);
    assert_false(there(path, "-wal") || there(path, "-shm") || there(path, ".rescued"));
    assert_whole(path, "4");
    assert_int_equal(rename(in_folder("full.db.log"), in_folder("moved.db-wal")), 0);
    assert_whole(moved, "2");
}

/* Nothing is written into a file that has lost its name. */
static void test_written_elsewhere(void **state)
{
    (void)state;
    struct campaign_record c = toy_campaign(problem, &target);
    int64_t id;
    struct store *s = open_store(in_folder("gone.db"));
    assert_int_equal(unlink(in_folder("gone.db")), 0);
    assert_fails(LATHE_STORE, "gone.db was deleted, moved or replaced", store_campaign_begin(s, &c, &id, e));
    assert_fails(LATHE_STORE, "gone.db: the file is gone", store_campaign_begin(s, &c, &id, e));
    store_close(s);
    s = open_store(in_folder("whole.db"));
    assert_ok(store_together_begin(s, e));
    assert_ok(store_campaign_begin(s, &c, &id, e));
    assert_int_equal(unlink(in_folder("whole.db")), 0);
    assert_ok(store_campaign_end(s, id, "finished", NULL, e));
    assert_fails(LATHE_STORE, "what was recorded is in", store_together_end(s, LATHE_OK, e));
    store_close(s);
    assert_answer(in_folder("whole.db.rescued"), "SELECT group_concat(state) FROM campaign", "finished");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replaced),        cmocka_unit_test(test_deleted),
        cmocka_unit_test(test_waits),           cmocka_unit_test(test_together),
        cmocka_unit_test(test_own_locks),       cmocka_unit_test(test_names_are_taken),
        cmocka_unit_test(test_no_room),         cmocka_unit_test(test_written_elsewhere),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
