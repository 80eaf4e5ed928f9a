#define _GNU_SOURCE
#include "crash.h"

#include "CLinux.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>

enum { MOST_FRAMES = 64 };
// How long a line waits for standard error, before there are no more.
enum { STUCK_MILLISECONDS = 1000 };

struct crash_module crash_modules[CRASH_MODULES];
int crash_module_count;

// "martlet 0.1.0, build 1f2e…"
static char program_text[96];
// Critical, for the journal, which takes it from the beginning of a line.
static const char *line_start = "";

// MARK: Modules

static int note_module(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    (void)context;
    if (crash_module_count == CRASH_MODULES) return 1;
    const char *slash = strrchr(info->dlpi_name, '/');
    // The program has no name here, and comes first.
    const char *name = crash_module_count == 0 ? "martlet" : slash ? slash + 1 : info->dlpi_name;
    crash_modules[crash_module_count++] = (struct crash_module){
        .name = name,
        .bias = info->dlpi_addr,
        .headers = info->dlpi_phdr,
        .header_count = info->dlpi_phnum,
    };
    return 0;
}

void crash_find_modules(void) {
    crash_module_count = 0;
    dl_iterate_phdr(note_module, NULL);
}

static const struct crash_module *module_of(uintptr_t address) {
    for (int i = 0; i < crash_module_count; i++) {
        const struct crash_module *module = &crash_modules[i];
        for (int k = 0; k < module->header_count; k++) {
            const ElfW(Phdr) *header = &module->headers[k];
            uintptr_t start = module->bias + header->p_vaddr;
            if (header->p_type == PT_LOAD && address >= start && address < start + header->p_memsz) return module;
        }
    }
    return NULL;
}

// MARK: Build ID

// The first note of one segment that is a build ID, in hexadecimal.
static bool read_build_id(const char *note, const char *end, char *text, size_t room) {
    while (note + sizeof(ElfW(Nhdr)) <= end) {
        const ElfW(Nhdr) *header = (const void *)note;
        const char *name = note + sizeof *header;
        const unsigned char *bytes = (const void *)(name + ((header->n_namesz + 3) & ~3u));
        if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
            for (size_t i = 0; i < header->n_descsz && 2 * i + 2 < room; i++) {
                text[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
                text[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
                text[2 * i + 2] = '\0';
            }
            return true;
        }
        note = (const char *)bytes + ((header->n_descsz + 3) & ~3u);
    }
    return false;
}

struct build_id {
    char *text;
    size_t room;
};

// Looks at the first module alone, which is the program.
static int find_build_id(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    const struct build_id *wanted = context;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const char *start = (const char *)(info->dlpi_addr + header->p_vaddr);
        if (header->p_type != PT_NOTE) continue;
        if (read_build_id(start, start + header->p_memsz, wanted->text, wanted->room)) break;
    }
    return 1;
}

void martlet_build_id(char *text, size_t room) {
    text[0] = '\0';
    struct build_id wanted = {text, room};
    dl_iterate_phdr(find_build_id, &wanted);
}

// MARK: Lines

struct line {
    size_t count;
    char bytes[256];
};

static void add_text(struct line *line, const char *text) {
    while (*text && line->count < sizeof line->bytes - 1) line->bytes[line->count++] = *text++;
}

static void add_number(struct line *line, uintptr_t number, unsigned base) {
    char digits[24];
    size_t start = sizeof digits - 1;
    digits[start] = '\0';
    do digits[--start] = "0123456789abcdef"[number % base];
    while (number /= base);
    if (base == 16) add_text(line, "0x");
    add_text(line, digits + start);
}

static void start_line(struct line *line) {
    line->count = 0;
    add_text(line, line_start);
    add_text(line, "crash: ");
}

static void write_line(struct line *line) {
    static bool is_stuck;
    struct pollfd error = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (!is_stuck && poll(&error, 1, STUCK_MILLISECONDS) <= 0) is_stuck = true;
    if (is_stuck) return;
    line->bytes[line->count++] = '\n';
    for (size_t done = 0; done < line->count;) {
        ssize_t count = write(STDERR_FILENO, line->bytes + done, line->count - done);
        if (count <= 0) return;
        done += (size_t)count;
    }
}

void crash_prepare_report(const char *program) {
    char build[41];
    martlet_build_id(build, sizeof build);
    snprintf(program_text, sizeof program_text, "%s, build %s", program, *build ? build : "unknown");
    const char *stream = getenv("JOURNAL_STREAM");
    struct stat error;
    if (!stream || fstat(STDERR_FILENO, &error) != 0) return;
    char present[48];
    snprintf(present, sizeof present, "%ju:%ju", (uintmax_t)error.st_dev, (uintmax_t)error.st_ino);
    if (strcmp(stream, present) == 0) line_start = "<2>";
}

bool crash_is_from_outside(const siginfo_t *info) {
    return (info->si_code == SI_USER || info->si_code == SI_TKILL) && info->si_pid != getpid();
}

void crash_report_signal(int signal, const siginfo_t *info) {
    struct line line;
    start_line(&line);
    add_text(&line, program_text);
    add_text(&line, ", ended by SIG");
    const char *name = sigabbrev_np(signal);
    add_text(&line, name ? name : "?");
    if (crash_is_from_outside(info)) {
        add_text(&line, " from process ");
        add_number(&line, (uintptr_t)info->si_pid, 10);
    } else if (info->si_code > 0) {
        add_text(&line, " at address ");
        add_number(&line, (uintptr_t)info->si_addr, 16);
    }
    write_line(&line);
}

// MARK: Calls

struct trace {
    uintptr_t program_counter; // where the signal came; frames above it are those of the handler
    bool is_found;
    int count;
};

// `#1 martlet+0x305b90`: an address in a file, as symbolizers take it. In a caller it is in the call, not behind it.
static void report_frame(int number, uintptr_t address) {
    struct line line;
    start_line(&line);
    add_text(&line, "#");
    add_number(&line, (uintptr_t)number, 10);
    add_text(&line, " ");
    const struct crash_module *module = module_of(address);
    if (module) {
        add_text(&line, module->name);
        add_text(&line, "+");
        address -= module->bias;
    }
    add_number(&line, address, 16);
    write_line(&line);
}

static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *data) {
    struct trace *trace = data;
    int is_before_instruction = 0;
    uintptr_t address = _Unwind_GetIPInfo(context, &is_before_instruction);
    if (address == 0) return _URC_END_OF_STACK;
    if (!trace->is_found) {
        trace->is_found = address == trace->program_counter;
        return _URC_NO_REASON;
    }
    report_frame(++trace->count, is_before_instruction ? address : address - 1);
    return trace->count < MOST_FRAMES ? _URC_NO_REASON : _URC_END_OF_STACK;
}

void crash_report_thread(const ucontext_t *context) {
    struct line line;
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    start_line(&line);
    add_text(&line, "thread ");
    add_text(&line, name);
    write_line(&line);
    struct trace trace = {.program_counter = CRASH_PROGRAM_COUNTER(context)};
    report_frame(0, trace.program_counter);
    _Unwind_Backtrace(visit, &trace);
}
