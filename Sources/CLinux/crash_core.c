#define _GNU_SOURCE
#include "crash.h"

#include "CLinux.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// What the x86-64 ABI lets a function use below its stack pointer.
enum { RED_ZONE = 128 };

static uintptr_t page_of(uintptr_t address) {
    return address & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
}

static void keep(uintptr_t start, uintptr_t end) {
    if (start >= end) return;
    start = page_of(start);
    madvise((void *)start, page_of(end - 1) + (uintptr_t)sysconf(_SC_PAGESIZE) - start, MADV_DODUMP);
}

// Goes on in /proc/self/maps.
struct maps {
    int file;
    size_t next, count;
    char last; // the byte read last
    char bytes[4096];
};

// The next byte; a line break at the end of the file.
static char read_byte(struct maps *maps) {
    if (maps->next == maps->count) {
        ssize_t count = read(maps->file, maps->bytes, sizeof maps->bytes);
        maps->next = 0;
        maps->count = count > 0 ? (size_t)count : 0;
        if (count <= 0) return maps->last = '\n';
    }
    return maps->last = maps->bytes[maps->next++];
}

// Reads a number, and the byte after it.
static uintptr_t read_number(struct maps *maps, unsigned base) {
    for (uintptr_t number = 0;;) {
        char byte = read_byte(maps);
        if (byte >= '0' && byte <= '9') number = number * base + (uintptr_t)(byte - '0');
        else if (byte >= 'a' && byte <= 'f') number = number * base + (uintptr_t)(byte - 'a' + 10);
        else return number;
    }
}

// Leaves out the mapping of the next line unless it is as its file has it, or the kernel's. False at the end; `failed` if the
// kernel rejects it.
static bool leave_out_next(struct maps *maps, bool *failed) {
    uintptr_t start = read_number(maps, 16);
    if (start == 0) return false;
    uintptr_t end = read_number(maps, 16);
    char permissions[5];
    for (int i = 0; i < 5; i++) permissions[i] = read_byte(maps);
    read_number(maps, 16); // the offset
    read_number(maps, 16); // the device, in two parts
    read_number(maps, 16);
    bool is_anonymous = read_number(maps, 10) == 0;
    char byte = maps->last;
    while (byte == ' ') byte = read_byte(maps);
    bool is_kernels = false;
    if (byte == '[') is_kernels = (byte = read_byte(maps)) == 'v'; // [vdso], [vvar], [vsyscall]
    while (byte != '\n') byte = read_byte(maps);
    if (is_kernels || !(is_anonymous || permissions[1] == 'w' || permissions[3] == 's')) return true;
    if (madvise((void *)start, end - start, MADV_DONTDUMP) != 0) *failed = true;
    return true;
}

static bool leave_out_all(void) {
    // Too large for the stack that this runs on; one thread crashes first.
    static struct maps maps;
    maps.file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (maps.file < 0) return false;
    bool failed = false;
    int lines = 0;
    while (leave_out_next(&maps, &failed)) lines++;
    close(maps.file);
    return lines > 0 && !failed;
}

// The variables of the program and its libraries.
static void keep_variables(void) {
    for (int i = 0; i < crash_module_count; i++) {
        const struct crash_module *module = &crash_modules[i];
        for (int k = 0; k < module->header_count; k++) {
            const ElfW(Phdr) *header = &module->headers[k];
            uintptr_t start = module->bias + header->p_vaddr;
            if (header->p_type == PT_LOAD && header->p_flags & PF_W) keep(start, start + header->p_memsz);
        }
    }
}

// What tells a debugger where the libraries are. The loader made it before there was anything to hide.
static void keep_link_maps(void) {
    int count = 0;
    for (const struct link_map *map = _r_debug.r_map; map && count < crash_module_count; map = map->l_next, count++) {
        keep((uintptr_t)map, (uintptr_t)(map + 1));
        if (map->l_name && *map->l_name) keep((uintptr_t)map->l_name, (uintptr_t)map->l_name + strlen(map->l_name) + 1);
    }
}

// The stacks in use. What calls that have returned left on the first page is wiped out.
static void keep_stacks(void) {
    for (int i = 0; i < CRASH_THREADS; i++) {
        const struct crash_thread *thread = &crash_threads[i];
        if (atomic_load(&thread->id) <= 0) continue;
        uintptr_t pointer = atomic_load(&thread->stopped_at);
        // On another stack than its own there is nothing to keep. Below its start is the guard page of a stack that is used up.
        if (pointer < thread->stack_start || pointer >= thread->stack_end) continue;
        uintptr_t start = pointer - RED_ZONE;
        if (mprotect((void *)page_of(start), 1, PROT_READ | PROT_WRITE) == 0) {
            memset((void *)page_of(start), 0, start - page_of(start));
        } else {
            start = page_of(start) + (uintptr_t)sysconf(_SC_PAGESIZE);
        }
        keep(start, thread->stack_end);
        keep(thread->alternate, thread->alternate_end);
    }
}

// The environment has tokens in it, and lies beside the first thread's stack.
static void wipe_environment(void) {
    for (char **variable = martlet_first_environment(); *variable; variable++) {
        memset(*variable, 0, strlen(*variable));
    }
}

#if defined(__x86_64__)
// Where things are in what XSAVE writes: the SSE registers, what Linux notes of the rest, and that rest.
enum { SSE = 160, SSE_SIZE = 256, NOTED_MAGIC = 464, NOTED_SIZE = 480, EXTENDED = 576 };

void crash_wipe_vectors(ucontext_t *context) {
    char *saved = (char *)context->uc_mcontext.fpregs;
    if (!saved) return;
    memset(saved + SSE, 0, SSE_SIZE);
    uint32_t magic, size;
    memcpy(&magic, saved + NOTED_MAGIC, sizeof magic);
    memcpy(&size, saved + NOTED_SIZE, sizeof size);
    if (magic == FP_XSTATE_MAGIC1 && size > EXTENDED) memset(saved + EXTENDED, 0, size - EXTENDED);
}
#else
void crash_wipe_vectors(ucontext_t *context) {
    char *next = (char *)context->uc_mcontext.__reserved;
    char *end = next + sizeof context->uc_mcontext.__reserved;
    for (struct _aarch64_ctx *record; next + sizeof *record <= end; next += record->size) {
        record = (struct _aarch64_ctx *)next;
        if (record->magic == 0 || record->size < sizeof *record) return;
        if (record->magic == FPSIMD_MAGIC) memset(((struct fpsimd_context *)record)->vregs, 0, sizeof(__uint128_t[32]));
        if (record->magic == SVE_MAGIC) memset((struct sve_context *)record + 1, 0, record->size - sizeof(struct sve_context));
    }
}
#endif

bool crash_leave_out_memory(void) {
    if (!leave_out_all()) return false;
    wipe_environment();
    keep_variables();
    keep_link_maps();
    keep_stacks();
    return true;
}
