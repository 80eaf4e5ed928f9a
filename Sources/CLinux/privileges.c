#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// What a service of root may need: files and sockets of others, low ports, and the end of its programs. The others open the machine,
// and some of them pass by Landlock.
static const unsigned kept = 1U << CAP_CHOWN | 1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH | 1U << CAP_FOWNER |
                             1U << CAP_KILL | 1U << CAP_NET_BIND_SERVICE;

int martlet_renounce_privileges(void) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return -errno;
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2];
    if (syscall(SYS_capget, &header, sets) < 0) return -errno;
    unsigned surplus = 0;
    for (int i = 0; i < 2; i++) {
        unsigned mask = i == 0 ? kept : 0;
        surplus |= sets[i].permitted & ~mask;
        sets[i].effective &= mask;
        sets[i].permitted &= mask;
        sets[i].inheritable &= mask;
    }
    // A service manager may have forbidden the call, along with the capabilities.
    if (!surplus) return 0;
    return syscall(SYS_capset, &header, sets) < 0 ? -errno : 0;
}
