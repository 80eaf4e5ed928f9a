#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// The kernel's interface as of ABI 6, which the headers of Debian 12 do not know.
#define CREATE_RULESET 444
#define ADD_RULE 445
#define RESTRICT_SELF 446
#define RULESET_VERSION 1U
enum { PATH_RULE = 1, PORT_RULE = 2 };

struct ruleset {
    uint64_t files, ports, scopes;
};
struct path_rule {
    uint64_t allowed;
    int32_t directory;
} __attribute__((packed));
struct port_rule {
    uint64_t allowed, port;
};

#define RIGHT(bit) (UINT64_C(1) << (bit))
enum { BIND = 1, CONNECT = 2, SCOPE_ABSTRACT_SOCKETS = 1, SCOPE_SIGNALS = 2 };
static const uint64_t execute = RIGHT(0), write_file = RIGHT(1), read_file = RIGHT(2), read_directory = RIGHT(3);
static const uint64_t remove_file = RIGHT(5), make_socket = RIGHT(9);
static const uint64_t make_device = RIGHT(6) | RIGHT(11), refer = RIGHT(13), truncate_file = RIGHT(14);
static const uint64_t control_device = RIGHT(15);

// The rights to files that a version of the kernel knows.
static uint64_t known(int version) {
    uint64_t rights = refer - 1;
    if (version >= 2) rights |= refer;
    if (version >= 3) rights |= truncate_file;
    if (version >= 5) rights |= control_device;
    return rights;
}

static uint64_t rights(enum martlet_landlock_use use, bool is_directory) {
    uint64_t reading = read_file | read_directory;
    uint64_t of_files = execute | write_file | read_file | truncate_file | control_device;
    uint64_t all = 0;
    switch (use) {
    case MARTLET_LANDLOCK_READ: all = reading; break;
    case MARTLET_LANDLOCK_RUN: all = reading | execute; break;
    case MARTLET_LANDLOCK_WRITE: all = known(3) & ~make_device & ~execute; break;
    case MARTLET_LANDLOCK_SOCKET: all = make_socket | remove_file; break;
    case MARTLET_LANDLOCK_DEVICE: all = read_file | write_file | truncate_file | control_device; break;
    }
    // The kernel rejects a rule for a file that names a right to directories.
    return is_directory ? all : all & of_files;
}

int martlet_landlock_version(void) {
    long version = syscall(CREATE_RULESET, NULL, 0, RULESET_VERSION);
    return version < 0 ? -errno : (int)version;
}

int martlet_landlock_open(int version, bool listening, bool connecting, int scopes) {
    struct ruleset attributes = {.files = known(version)};
    if (version >= 4) attributes.ports = (listening ? BIND : 0) | (connecting ? CONNECT : 0);
    if (version >= 6) {
        attributes.scopes = (scopes & MARTLET_LANDLOCK_SIGNALS ? SCOPE_SIGNALS : 0) |
                            (scopes & MARTLET_LANDLOCK_ABSTRACT_SOCKETS ? SCOPE_ABSTRACT_SOCKETS : 0);
    }
    // An earlier kernel rejects the fields that it does not know.
    size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    long ruleset = syscall(CREATE_RULESET, &attributes, size, 0);
    return ruleset < 0 ? -errno : (int)ruleset;
}

int martlet_landlock_allow_path(int ruleset, int version, const char *path, enum martlet_landlock_use use) {
    int place = open(path, O_PATH | O_CLOEXEC);
    if (place < 0) return -errno;
    struct stat status;
    int error = fstat(place, &status) < 0 ? -errno : 0;
    if (!error) {
        struct path_rule rule = {rights(use, S_ISDIR(status.st_mode)) & known(version), place};
        error = syscall(ADD_RULE, ruleset, PATH_RULE, &rule, 0) < 0 ? -errno : 0;
    }
    close(place);
    return error;
}

int martlet_landlock_allow_port(int ruleset, uint16_t port, bool binds) {
    struct port_rule rule = {binds ? BIND : CONNECT, port};
    return syscall(ADD_RULE, ruleset, PORT_RULE, &rule, 0) < 0 ? -errno : 0;
}

int martlet_landlock_enter(int ruleset) {
    return syscall(RESTRICT_SELF, ruleset, 0) < 0 ? -errno : 0;
}

