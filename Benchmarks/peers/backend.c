// A gRPC server that costs little: `backend PORT AUTHORIZATION` responds to each message of a call by one of as many bytes
// as the number says in which the path ends, in a DATA frame of its own, and the end of the call by `grpc-status: 0`.
// It responds with 401 without that authorization, and 403 if `x-internal` has come through.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PREFIX = 5, FULL = 256 * 1024, LARGEST = 1 << 20 };

struct call {
    size_t size;       // of a message of the response
    size_t due, sent;  // messages to send, and bytes of the first of them that are out
    size_t left;       // bytes that are missing of a message of the request
    unsigned char prefix[PREFIX];
    unsigned prefixed;
    int authorized, leaked, responded, ended, waiting;
};

struct connection {
    int socket, writes;
    nghttp2_session *session;
    unsigned char *out;
    size_t start, end;
};

static const char *authorization;
static unsigned char message[PREFIX + LARGEST];
static int events;

#define FIELD(n, v) {(uint8_t *)(n), (uint8_t *)(v), sizeof(n) - 1, sizeof(v) - 1, \
                     NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE}

static ssize_t next_frame(nghttp2_session *session, int32_t id, uint8_t *into, size_t room, uint32_t *flags,
                          nghttp2_data_source *source, void *context) {
    static const nghttp2_nv trailers[] = {FIELD("grpc-status", "0")};
    struct call *call = source->ptr;
    (void)context;
    if (!call->due && !call->ended) {
        call->waiting = 1;
        return NGHTTP2_ERR_DEFERRED;
    }
    size_t count = 0;
    if (call->due) {
        size_t left = PREFIX + call->size - call->sent;
        count = left < room ? left : room;
        for (size_t done = 0; done < count && call->sent < PREFIX; done++, call->sent++)
            into[done] = call->sent ? (unsigned char)(call->size >> 8 * (4 - call->sent)) : 0;
        size_t prefixed = PREFIX + call->size - left < PREFIX ? call->sent - (PREFIX + call->size - left) : 0;
        memcpy(into + prefixed, message, count - prefixed);
        call->sent += count - prefixed;
        if (call->sent == PREFIX + call->size) call->sent = 0, call->due--;
    }
    if (!call->due && call->ended) {
        *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
        nghttp2_submit_trailer(session, id, trailers, 1);
    }
    return (ssize_t)count;
}

static void response(nghttp2_session *session, int32_t id, struct call *call) {
    static const nghttp2_nv good[] = {FIELD(":status", "200"), FIELD("content-type", "application/grpc")};
    static const nghttp2_nv unknown[] = {FIELD(":status", "401")};
    static const nghttp2_nv leaked[] = {FIELD(":status", "403")};
    nghttp2_data_provider body = {.source = {.ptr = call}, .read_callback = next_frame};
    if (call->responded) {
        if (call->waiting) call->waiting = 0, nghttp2_session_resume_data(session, id);
        return;
    }
    call->responded = 1;
    if (!call->authorized) nghttp2_submit_response(session, id, unknown, 1, NULL);
    else if (call->leaked) nghttp2_submit_response(session, id, leaked, 1, NULL);
    else nghttp2_submit_response(session, id, good, 2, &body);
}

static int on_begin(nghttp2_session *session, const nghttp2_frame *frame, void *context) {
    (void)context;
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
        nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, calloc(1, sizeof(struct call)));
    return 0;
}

static int is(const uint8_t *bytes, size_t count, const char *text) {
    return count == strlen(text) && !memcmp(bytes, text, count);
}

static int on_field(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_length,
                    const uint8_t *value, size_t length, uint8_t flags, void *context) {
    struct call *call = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    (void)flags, (void)context;
    if (!call) return 0;
    if (is(name, name_length, ":path")) {
        while (length && value[length - 1] >= '0' && value[length - 1] <= '9') length--;
        call->size = strtoul((const char *)value + length, NULL, 10);
        if (call->size > LARGEST) call->size = LARGEST;
    } else if (is(name, name_length, "authorization")) {
        call->authorized = is(value, length, authorization);
    } else if (is(name, name_length, "x-internal")) {
        call->leaked = 1;
    }
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data, size_t length,
                   void *context) {
    struct call *call = nghttp2_session_get_stream_user_data(session, id);
    (void)flags, (void)context;
    if (!call) return 0;
    size_t before = call->due;
    while (length) {
        if (call->prefixed < PREFIX) {
            call->prefix[call->prefixed++] = *data++, length--;
            if (call->prefixed < PREFIX) continue;
            call->left = (size_t)call->prefix[1] << 24 | call->prefix[2] << 16 | call->prefix[3] << 8 | call->prefix[4];
        } else {
            size_t taken = length < call->left ? length : call->left;
            data += taken, length -= taken, call->left -= taken;
        }
        if (!call->left) call->prefixed = 0, call->due++;
    }
    if (call->due > before) response(session, id, call);
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context) {
    (void)context;
    if (!(frame->hd.flags & NGHTTP2_FLAG_END_STREAM)) return 0;
    if (frame->hd.type != NGHTTP2_DATA && frame->hd.type != NGHTTP2_HEADERS) return 0;
    struct call *call = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (!call) return 0;
    call->ended = 1;
    response(session, frame->hd.stream_id, call);
    return 0;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t code, void *context) {
    (void)code, (void)context;
    free(nghttp2_session_get_stream_user_data(session, id));
    nghttp2_session_set_stream_user_data(session, id, NULL);
    return 0;
}

static void watch(struct connection *each, int how, int writes) {
    struct epoll_event event = {.events = EPOLLIN | (writes ? EPOLLOUT : 0), .data.ptr = each};
    if (how == EPOLL_CTL_ADD || writes != each->writes) epoll_ctl(events, how, each->socket, &event);
    each->writes = writes;
}

static int flush(struct connection *each) {  // 0, or -1 when the connection is over
    for (;;) {
        if (each->start == each->end) each->start = each->end = 0;
        while (!each->start && each->end < FULL) {
            const uint8_t *bytes;
            ssize_t count = nghttp2_session_mem_send(each->session, &bytes);
            if (count < 0) return -1;
            if (!count) break;
            memcpy(each->out + each->end, bytes, (size_t)count);
            each->end += (size_t)count;
        }
        if (each->start == each->end) break;
        ssize_t count = send(each->socket, each->out + each->start, each->end - each->start, MSG_NOSIGNAL);
        if (count < 0 && errno != EAGAIN) return -1;
        if (count < 0) return watch(each, EPOLL_CTL_MOD, 1), 0;
        each->start += (size_t)count;
    }
    watch(each, EPOLL_CTL_MOD, 0);
    return nghttp2_session_want_read(each->session) || nghttp2_session_want_write(each->session) ? 0 : -1;
}

static int receive(struct connection *each) {
    static unsigned char bytes[FULL];
    ssize_t count = read(each->socket, bytes, sizeof bytes);
    if (count < 0 && errno == EAGAIN) return 0;
    if (count <= 0) return -1;
    return nghttp2_session_mem_recv(each->session, bytes, (size_t)count) < 0 ? -1 : 0;
}

static void admit(int listener, nghttp2_session_callbacks *callbacks) {
    int one = 1, client;
    while ((client = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        struct connection *each = calloc(1, sizeof *each);
        nghttp2_settings_entry streams = {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1024};
        setsockopt(client, SOL_TCP, TCP_NODELAY, &one, sizeof one);
        each->socket = client;
        each->out = malloc(FULL + (1 << 17));
        nghttp2_session_server_new(&each->session, callbacks, each);
        nghttp2_submit_settings(each->session, 0, &streams, 1);
        watch(each, EPOLL_CTL_ADD, 0);
    }
}

static void discard(struct connection *each) {
    nghttp2_session_del(each->session);
    close(each->socket);
    free(each->out);
    free(each);
}

int main(int count, char **words) {
    if (count != 3) return fprintf(stderr, "usage: backend PORT AUTHORIZATION\n"), 2;
    authorization = words[2];
    // The first 40 bytes are a message in Protobuf, with a text in field 1.
    memset(message, 'm', sizeof message);
    memcpy(message, "\n\x26", 2);
    nghttp2_session_callbacks *callbacks;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_field);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);

    int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(words[1])),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 4096)) return perror("bind"), 1;
    events = epoll_create1(0);
    struct epoll_event ready[256], accepts = {.events = EPOLLIN, .data.ptr = NULL};
    epoll_ctl(events, EPOLL_CTL_ADD, listener, &accepts);
    for (;;) {
        int found = epoll_wait(events, ready, 256, -1);
        for (int index = 0; index < found; index++) {
            struct connection *each = ready[index].data.ptr;
            if (!each) admit(listener, callbacks);
            else if (((ready[index].events & ~EPOLLOUT) && receive(each)) || flush(each)) discard(each);
        }
    }
}
