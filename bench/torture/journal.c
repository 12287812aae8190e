/* A layer between a program and the disk that writes every change of files and folders to a journal,
   POWER_JOURNAL, so that `power` can rebuild what a disk may hold after a power failure. A record is a
   line "kind inode number path" and for writes the bytes. Build: cc -shared -fPIC -o journal.so journal.c -ldl */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static int journal = -1;

#define REAL(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))
#define raw_write REAL(ssize_t, "write", int, const void *, size_t)

static void record(char kind, long inode, long number, const char *path, const void *bytes) {
  char line[8192];
  if (journal < 0) {
    const char *name = getenv("POWER_JOURNAL");
    if (!name) return;
    journal = REAL(int, "open", const char *, int, ...)(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  }
  int length = snprintf(line, sizeof line, "%c %ld %ld %s\n", kind, inode, number, path);
  if (raw_write(journal, line, length) != length) abort();
  if (bytes && number && raw_write(journal, bytes, number) != number) abort();
}

static long inode_of(int fd, const char *path) {
  struct stat found;
  int failed = path ? stat(path, &found) : fstat(fd, &found);
  return failed || !(S_ISREG(found.st_mode) || S_ISDIR(found.st_mode)) ? -1 : (long)found.st_ino;
}

static int opened(const char *name, const char *path, int flags, mode_t mode) {
  pthread_mutex_lock(&order);
  int is_new = (flags & O_CREAT) && (flags & O_TMPFILE) != O_TMPFILE && access(path, F_OK) != 0;
  int fd = REAL(int, name, const char *, int, ...)(path, flags, mode);
  int problem = errno;
  if (fd >= 0 && is_new) record('c', inode_of(fd, NULL), 0, path, NULL);
  if (fd >= 0 && !is_new && (flags & O_TRUNC)) record('t', inode_of(fd, NULL), 0, "", NULL);
  pthread_mutex_unlock(&order);
  errno = problem;
  return fd;
}
#define MODE_OF(flags) \
  va_list rest; va_start(rest, flags); mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0; va_end(rest)
int open(const char *path, int flags, ...) { MODE_OF(flags); return opened("open", path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE_OF(flags); return opened("open64", path, flags, mode); }

ssize_t write(int fd, const void *bytes, size_t count) {
  pthread_mutex_lock(&order);
  ssize_t done = raw_write(fd, bytes, count);
  int problem = errno;
  long inode = fd > 2 && done > 0 ? inode_of(fd, NULL) : -1;
  char offset[32];
  snprintf(offset, sizeof offset, "%ld", (long)lseek(fd, 0, SEEK_CUR) - (long)done);
  if (inode >= 0) record('w', inode, done, offset, bytes);
  pthread_mutex_unlock(&order);
  errno = problem;
  return done;
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  return count ? write(fd, parts[0].iov_base, parts[0].iov_len) : 0;
}

/* The other calls: done, and if they went well written down. */
#define DONE(call, kind, inode, number, path) \
  pthread_mutex_lock(&order); long known = inode; int failed = call; int problem = errno; \
  if (!failed) record(kind, known < 0 ? inode : known, number, path, NULL); \
  pthread_mutex_unlock(&order); errno = problem; return failed
int fsync(int fd) { DONE(REAL(int, "fsync", int)(fd), 's', inode_of(fd, NULL), 0, ""); }
int fdatasync(int fd) { DONE(REAL(int, "fdatasync", int)(fd), 's', inode_of(fd, NULL), 0, ""); }
int ftruncate64(int fd, off_t length) {
  DONE(REAL(int, "ftruncate64", int, off_t)(fd, length), 't', inode_of(fd, NULL), (long)length, "");
}
int mkdir(const char *path, mode_t mode) {
  DONE(REAL(int, "mkdir", const char *, mode_t)(path, mode), 'm', inode_of(-1, path), 0, path);
}
int unlink(const char *path) { DONE(REAL(int, "unlink", const char *)(path), 'u', inode_of(-1, path), 0, path); }
int rename(const char *from, const char *to) {
  char both[8000];
  snprintf(both, sizeof both, "%s\t%s", from, to);
  DONE(REAL(int, "rename", const char *, const char *)(from, to), 'r', inode_of(-1, from), 0, both);
}
