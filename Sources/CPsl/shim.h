// <features.h> comes first: a header below may define _GNU_SOURCE, and glibc's types would then differ from those
// of Swift's Glibc module.
#include <features.h>

#include <libpsl.h>
