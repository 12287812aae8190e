/* A layer between a program and the disk: the call number FAULT_AT of write, fsync, rename and their
   kin (standard streams apart) fails with the error number FAULT_ERRNO, and so do all later ones where
   FAULT_STAYS is set, as on a disk that is full. Build: cc -shared -fPIC -o faults.so faults.c -ldl */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;

static int fails(void) {
  const char *at = getenv("FAULT_AT");
  if (!at) return 0;
  long now = atomic_fetch_add(&calls, 1) + 1, first = atol(at);
  if (now != first && !(now > first && getenv("FAULT_STAYS"))) return 0;
  const char *reached = getenv("FAULT_REACHED");
  if (now == first && reached) {
    FILE *file = fopen(reached, "w");
    if (file) fclose(file);
  }
  errno = atoi(getenv("FAULT_ERRNO"));
  return 1;
}

#define REAL(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

ssize_t write(int fd, const void *bytes, size_t count) {
  if (fd > 2 && fails()) return -1;
  return REAL(ssize_t, "write", int, const void *, size_t)(fd, bytes, count);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  if (fd > 2 && fails()) return -1;
  return REAL(ssize_t, "writev", int, const struct iovec *, int)(fd, parts, count);
}
int fsync(int fd) {
  if (fails()) return -1;
  return REAL(int, "fsync", int)(fd);
}
int fdatasync(int fd) {
  if (fails()) return -1;
  return REAL(int, "fdatasync", int)(fd);
}
int rename(const char *from, const char *to) {
  if (fails()) return -1;
  return REAL(int, "rename", const char *, const char *)(from, to);
}
int ftruncate64(int fd, off_t length) {
  if (fails()) return -1;
  return REAL(int, "ftruncate64", int, off_t)(fd, length);
}
