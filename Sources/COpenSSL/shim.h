// <features.h> comes first: a header below may define _GNU_SOURCE, and glibc's types would then differ from those
// of Swift's Glibc module.
#include <features.h>

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// What OpenSSL has as macros, which Swift does not see.

static inline int martlet_ssl_ctx_set_minimum(SSL_CTX *context, int version) {
    return SSL_CTX_set_min_proto_version(context, version);
}

// Buffers go back to the allocator while a connection idles, and bytes to send may lie elsewhere at each try.
static inline void martlet_ssl_ctx_set_modes(SSL_CTX *context) {
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
}

static inline void martlet_ssl_ctx_set_cache_mode(SSL_CTX *context, long mode) {
    SSL_CTX_set_session_cache_mode(context, mode);
}

static inline int martlet_ssl_set_server_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}

// Since OpenSSL 3.2 the reason is ERR_R_CRYPTO_LIB, and the queue below it says more.
static inline int martlet_error_is_of_memory(unsigned long error) {
    return ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE;
}

static inline void martlet_bio_retry_read(BIO *bio) {
    BIO_clear_retry_flags(bio);
    BIO_set_retry_read(bio);
}

static inline int martlet_bio_new_type(void) {
    return BIO_get_new_index() | BIO_TYPE_SOURCE_SINK;
}
