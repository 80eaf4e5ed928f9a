/* Loaded before the C library: the thread that accepts a connection goes wrong, in the way that CRASH says. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Volatile, lest the compiler sees what will come of it. */
static volatile int depth;

static __attribute__((noinline)) int overflow(int *above)
{
    int here[1024] = {0};
    here[depth & 1023] = *above;
    return overflow(here) + here[depth & 1023];
}

int accept4(int listener, struct sockaddr *restrict address, socklen_t *restrict length, int flags)
{
    const char *way = getenv("CRASH");
    (void)listener;
    (void)address;
    (void)length;
    if (strcmp(way, "write") == 0) *(volatile int *)(16 + flags * 0) = 1;
    if (strcmp(way, "abort") == 0) abort();
    if (strcmp(way, "overflow") == 0) return overflow(&flags);
    __builtin_trap();
}
