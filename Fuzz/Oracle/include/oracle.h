// llhttp in strict mode, as one function for Swift: it reads HTTP/1 and tells what it reads.
#ifndef MARTLET_ORACLE_H
#define MARTLET_ORACLE_H

#include <stddef.h>
#include <stdint.h>

enum oracle_event {
    ORACLE_BEGIN,     // a message begins
    ORACLE_METHOD,    // bytes of the method
    ORACLE_TARGET,    // bytes of the target
    ORACLE_REASON,    // bytes of the reason phrase
    ORACLE_NAME,      // bytes of the name of a field, of the head or of the trailer section
    ORACLE_NAME_END,  // the name is complete
    ORACLE_VALUE,     // bytes of its value
    ORACLE_VALUE_END, // the field is complete
    ORACLE_HEAD,      // the head is complete
    ORACLE_BODY,      // bytes of the body
    ORACLE_END        // the message is complete
};

// What is known of a message when its head is complete.
struct oracle_head {
    int status;
    int persists; // the connection can be used again
    int chunked;
    int has_length;
    uint64_t length;
};

// Told for each event; `head` is there with ORACLE_HEAD only. Bytes lie in what is read.
typedef void (*oracle_told)(void *context, enum oracle_event event, const char *bytes, size_t count,
                            const struct oracle_head *head);

enum oracle_kind { ORACLE_REQUESTS, ORACLE_RESPONSE, ORACLE_RESPONSE_TO_HEAD };

// Reads requests, or one response after its interim ones.
//
// Returns the name of the error, or NULL if everything was in order; `error_at` is where the error stands.
const char *oracle_read(enum oracle_kind kind, const char *bytes, size_t count, size_t *error_at, void *context,
                        oracle_told told);

// How many bytes are allocated, as AddressSanitizer counts them.
size_t fuzz_allocated(void);

#endif
