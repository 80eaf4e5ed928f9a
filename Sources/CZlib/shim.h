// <features.h> comes first: a header below may define _GNU_SOURCE, and glibc's types would then differ from those
// of Swift's Glibc module.
#include <features.h>

#include <zlib.h>

// Macros that Swift does not see.
static inline int martlet_deflate_init(z_stream *stream, int level, int window_bits) {
    return deflateInit2(stream, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
}

static inline int martlet_inflate_init(z_stream *stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}
