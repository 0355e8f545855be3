/* Records every change of the files below $RECORD_FOLDER in the file $RECORD_TRACE, in order.
 *
 * Preloaded with LD_PRELOAD. benchmarks/robustness/power_loss.py reads the trace and computes what
 * a disk may contain after a power loss: what was synced, and any part of the rest.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

struct record { /* followed by the path, the second path, and the data */
    uint32_t magic, kind;
    uint64_t inode, offset;
    uint32_t path, second, length, padding;
};
enum { WRITE = 1, TRUNCATE, SYNC, CREATE, RENAME, UNLINK, MKDIR };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;


static int is_tracked(const char *path) {
    const char *folder = getenv("RECORD_FOLDER");
    size_t n = folder ? strlen(folder) : 0;
    size_t length = path ? strlen(path) : 0;
    if (!n || strncmp(path, folder, n) || (path[n] && path[n] != '/')) return 0;
    return length < 4 || strcmp(path + length - 4, "-shm"); /* mapped, and rebuilt after a crash */
}

static int path_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    path[n < 0 ? 0 : n] = 0;
    return n > 0 && is_tracked(path);
}

static uint64_t inode_of(const char *path) {
    struct stat found;
    return syscall(SYS_newfstatat, AT_FDCWD, path, &found, AT_SYMLINK_NOFOLLOW) ? 0 : found.st_ino;
}

static uint64_t inode_of_fd(int fd) {
    struct stat found;
    return syscall(SYS_fstat, fd, &found) ? 0 : found.st_ino;
}

static void record(int kind, uint64_t inode, uint64_t offset, const char *path, const char *second,
                   const void *data, size_t length) {
    struct record head = {0x4c4b5745, kind, inode, offset, strlen(path), strlen(second), length, 0};
    struct iovec parts[] = {{&head, sizeof head},
                            {(void *)path, head.path},
                            {(void *)second, head.second},
                            {(void *)data, length}};
    static int trace = -1;
    if (trace < 0)
        trace = syscall(SYS_openat, AT_FDCWD, getenv("RECORD_TRACE"),
                        O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (syscall(SYS_writev, trace, parts, 4) < 0) abort();
}

static void absolute(int folder, const char *name, char *path) {
    char base[PATH_MAX] = "";
    if (name[0] == '/') {
        snprintf(path, PATH_MAX, "%s", name);
        return;
    }
    if (folder == AT_FDCWD) {
        if (!getcwd(base, sizeof base)) base[0] = 0;
    } else {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t n = syscall(SYS_readlinkat, AT_FDCWD, link, base, PATH_MAX - 1);
        base[n < 0 ? 0 : n] = 0;
    }
    snprintf(path, PATH_MAX, "%.2000s/%.2000s", base, name);
}

static int open_file(int folder, const char *name, int flags, int mode) {
    char path[PATH_MAX];
    absolute(folder, name, path);
    if (!is_tracked(path)) return syscall(SYS_openat, folder, name, flags, mode);
    pthread_mutex_lock(&lock);
    uint64_t before = flags & (O_CREAT | O_TRUNC) ? inode_of(path) : 1;
    int fd = syscall(SYS_openat, folder, name, flags, mode), error = errno;
    if (fd >= 0 && !before) record(CREATE, inode_of_fd(fd), 0, path, "", "", 0);
    if (fd >= 0 && before && flags & O_TRUNC) record(TRUNCATE, inode_of_fd(fd), 0, path, "", "", 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return fd;
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...) {                                                   \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        int mode = va_arg(rest, int);                                                              \
        va_end(rest);                                                                              \
        return open_file(AT_FDCWD, path, flags, mode);                                             \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                               \
    int name(int folder, const char *path, int flags, ...) {                                       \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        int mode = va_arg(rest, int);                                                              \
        va_end(rest);                                                                              \
        return open_file(folder, path, flags, mode);                                               \
    }
OPENAT(openat)
OPENAT(openat64)

static ssize_t write_at(int fd, const void *data, size_t length, off_t offset, int at_position) {
    char path[PATH_MAX];
    if (!path_of(fd, path))
        return at_position ? syscall(SYS_pwrite64, fd, data, length, offset)
                           : syscall(SYS_write, fd, data, length);
    pthread_mutex_lock(&lock);
    if (!at_position) {
        int flags = syscall(SYS_fcntl, fd, F_GETFL);
        offset = syscall(SYS_lseek, fd, 0, flags & O_APPEND ? SEEK_END : SEEK_CUR);
    }
    ssize_t n = at_position ? syscall(SYS_pwrite64, fd, data, length, offset)
                            : syscall(SYS_write, fd, data, length);
    int error = errno;
    if (n > 0) record(WRITE, inode_of_fd(fd), offset, path, "", data, n);
    pthread_mutex_unlock(&lock);
    errno = error;
    return n;
}

ssize_t write(int fd, const void *data, size_t n) { return write_at(fd, data, n, 0, 0); }
ssize_t pwrite(int fd, const void *data, size_t n, off_t at) { return write_at(fd, data, n, at, 1); }
ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at) {
    return write_at(fd, data, n, at, 1);
}

static int truncate_file(int fd, off_t length) {
    char path[PATH_MAX];
    if (!path_of(fd, path)) return syscall(SYS_ftruncate, fd, length);
    pthread_mutex_lock(&lock);
    int result = syscall(SYS_ftruncate, fd, length), error = errno;
    if (!result) record(TRUNCATE, inode_of_fd(fd), length, path, "", "", 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}
int ftruncate(int fd, off_t length) { return truncate_file(fd, length); }
int ftruncate64(int fd, off64_t length) { return truncate_file(fd, length); }

static int sync_file(int fd, int call) {
    char path[PATH_MAX];
    if (!path_of(fd, path)) return syscall(call, fd);
    pthread_mutex_lock(&lock);
    int result = syscall(call, fd), error = errno;
    if (!result) record(SYNC, inode_of_fd(fd), 0, path, "", "", 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}
int fsync(int fd) { return sync_file(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_file(fd, SYS_fdatasync); }

static int rename_file(int folder, const char *name, int other, const char *target) {
    char path[PATH_MAX], second[PATH_MAX];
    absolute(folder, name, path), absolute(other, target, second);
    pthread_mutex_lock(&lock);
    uint64_t inode = inode_of(path);
    int result = syscall(SYS_renameat2, folder, name, other, target, 0), error = errno;
    if (!result && is_tracked(second)) record(RENAME, inode, 0, path, second, "", 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}
int rename(const char *name, const char *target) {
    return rename_file(AT_FDCWD, name, AT_FDCWD, target);
}
int renameat(int folder, const char *name, int other, const char *target) {
    return rename_file(folder, name, other, target);
}

static int unlink_file(int folder, const char *name, int flags) {
    char path[PATH_MAX];
    absolute(folder, name, path);
    if (!is_tracked(path)) return syscall(SYS_unlinkat, folder, name, flags);
    pthread_mutex_lock(&lock);
    uint64_t inode = inode_of(path);
    int result = syscall(SYS_unlinkat, folder, name, flags), error = errno;
    if (!result) record(UNLINK, inode, 0, path, "", "", 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}
int unlink(const char *name) { return unlink_file(AT_FDCWD, name, 0); }
int unlinkat(int folder, const char *name, int flags) { return unlink_file(folder, name, flags); }

static int make_folder(int folder, const char *name, mode_t mode) {
    char path[PATH_MAX];
    absolute(folder, name, path);
    int result = syscall(SYS_mkdirat, folder, name, mode), error = errno;
    if (!result && is_tracked(path)) {
        pthread_mutex_lock(&lock);
        record(MKDIR, inode_of(path), 0, path, "", "", 0);
        pthread_mutex_unlock(&lock);
    }
    errno = error;
    return result;
}
int mkdir(const char *name, mode_t mode) { return make_folder(AT_FDCWD, name, mode); }
int mkdirat(int folder, const char *name, mode_t mode) { return make_folder(folder, name, mode); }
