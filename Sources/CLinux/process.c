#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int martlet_eventfd(void) {
    int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

bool martlet_sem_wait(void *semaphore, int seconds) {
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += seconds;
    int result;
    do result = sem_clockwait(semaphore, CLOCK_MONOTONIC, &end);
    while (result != 0 && errno == EINTR);
    return result == 0;
}

size_t martlet_malloc_in_use(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

enum { KEPT = 4 * 1024 * 1024 };

void martlet_malloc_keep(void) {
    mallopt(M_TRIM_THRESHOLD, KEPT);
    // Beyond KEPT, so that a block of KEPT comes from an arena.
    mallopt(M_MMAP_THRESHOLD, 2 * KEPT);
}

void martlet_malloc_trim(void) {
    malloc_trim(0);
}

// glibc looks at the end of an arena only as something large is freed in it, and gives it back if it is beyond the threshold:
// with this block it is.
void martlet_malloc_trim_thread(void) {
    void *volatile large = malloc(KEPT);
    free(large);
}

// Gives up the pages of one loaded file that nobody writes to. With DT_TEXTREL even those have been written to, by the
// loader; the vDSO is no file.
static int drop_pages(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    (void)context;
    if (strncmp(info->dlpi_name, "linux-vdso", 10) == 0) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_DYNAMIC) continue;
        for (const ElfW(Dyn) *entry = (void *)(info->dlpi_addr + header->p_vaddr); entry->d_tag != DT_NULL; entry++) {
            if (entry->d_tag == DT_TEXTREL) return 0;
        }
    }
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_LOAD || header->p_flags & PF_W) continue;
        uintptr_t start = (info->dlpi_addr + header->p_vaddr) & ~(page - 1);
        uintptr_t end = (info->dlpi_addr + header->p_vaddr + header->p_filesz + page - 1) & ~(page - 1);
        madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

void martlet_drop_file_pages(void) {
    dl_iterate_phdr(drop_pages, NULL);
}

bool martlet_join_thread(unsigned long thread, long long nanoseconds) {
    const struct timespec pause = {.tv_nsec = 1000000};
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    // pthread_clockjoin_np would wait by itself, but ThreadSanitizer does not see it, and pthread_timedjoin_np waits by the
    // clock that may be set.
    while (pthread_tryjoin_np(thread, NULL) != 0) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        if ((now.tv_sec - start.tv_sec) * 1000000000LL + now.tv_nsec - start.tv_nsec >= nanoseconds) return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

void martlet_set_thread_name(const char *name) {
    // A longer name is rejected, not cut.
    char kept[16];
    strncpy(kept, name, sizeof kept - 1);
    kept[sizeof kept - 1] = '\0';
    pthread_setname_np(pthread_self(), kept);
}

const char *martlet_error_text(int error) {
    const char *text = strerrordesc_np(error);
    return text ? text : "unknown error";
}
