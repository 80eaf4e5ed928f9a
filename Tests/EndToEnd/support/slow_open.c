/* Loaded before the C library: whoever opens a file whose name ends in .slow waits until there is one of that name with
   .ready behind it, as on a disk that is slow. Meanwhile there is one with .waiting behind it, if one can be made. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void wait_for(const char *path)
{
    char ready[4096], waiting[4096];
    size_t length = strlen(path);
    if (length < 5 || strcmp(path + length - 5, ".slow") != 0) return;
    snprintf(ready, sizeof ready, "%s.ready", path);
    snprintf(waiting, sizeof waiting, "%s.waiting", path);
    mknod(waiting, S_IFREG | 0600, 0);
    while (access(ready, F_OK) != 0) usleep(2000);
    unlink(waiting);
}

static int open_as(const char *name, const char *path, int flags, va_list rest)
{
    int (*original)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, name);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    /* What only names a file does not wait for the disk. */
    if (!(flags & O_PATH)) wait_for(path);
    return original(path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    int descriptor = open_as("open", path, flags, rest);
    va_end(rest);
    return descriptor;
}

int open64(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    int descriptor = open_as("open64", path, flags, rest);
    va_end(rest);
    return descriptor;
}
