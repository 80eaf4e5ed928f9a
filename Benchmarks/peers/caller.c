// Calls at a fixed rate, or streams of messages one after the other, and tells how long they took:
//
//   caller http1 RATE    PORT PATH CONNECTIONS SECONDS SIZE [NAME=VALUE]...
//   caller grpc RATE     ...
//   caller stream COUNT  ...        8 calls at a time on each connection, each of COUNT messages each way in turn
//
// wrk keeps to no rate, and h2load makes bursts of one. Calls are due at uneven times, the same in each run. What is
// measured is the time from the sending of a call to its end, or from when it was due if no connection was free.
// A response is good if its status is 200, it has SIZE bytes (and their prefix) and, in gRPC, trailers behind them.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 1 << 18, SLOTS = 1024, TOGETHER = 8, PREFIX = 5 };
enum { DATA, HEADERS, RESET = 3, SETTINGS, PING = 6, GOAWAY, WINDOW_UPDATE, END = 1, END_HEADERS = 4 };
static const int64_t GRACE = 15000000000;  // ns for the last responses to come

struct call {
    int64_t since;
    size_t bytes;
    unsigned heads, good, messages;
};

struct connection {
    int socket, opened, under_way;
    uint32_t next;
    int64_t window;
    char *in, *out;
    size_t got, due;
    struct call calls[SLOTS];
};

static const char JSON[] = "{\"sentence\":\"Hello, how are you today?\"}";
static int http1, streams;
static char request[2048], first[2048], again[64];
static size_t request_length, first_length, again_length, size;
static unsigned messages;
static uint32_t *times;
static size_t good, bad, sent, most;
static const char *problem = "";

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void give_up(const char *why) {
    fprintf(stderr, "caller: %s\n", why);
    exit(1);
}

static void finish(struct connection *each, struct call *call, int is_good, const char *why) {
    each->under_way--;
    if (is_good && good < most) times[good++] = (uint32_t)((now() - call->since) / 1000);
    else if (!is_good) bad++, problem = why;
    call->since = 0;
}

static void put(struct connection *each, const void *bytes, size_t count) {
    if (each->due + count > ROOM) give_up("too much waits to be sent");
    memcpy(each->out + each->due, bytes, count);
    each->due += count;
}

static void put_frame(struct connection *each, int kind, int flags, uint32_t stream, const void *bytes, size_t count) {
    unsigned char head[9] = {count >> 16, count >> 8, count, kind, flags, stream >> 24, stream >> 16, stream >> 8, stream};
    put(each, head, sizeof head);
    put(each, bytes, count);
}

static void flush(struct connection *each) {
    size_t done = 0;
    while (done < each->due) {
        ssize_t count = write(each->socket, each->out + done, each->due - done);
        if (count < 0 && errno != EAGAIN) give_up(strerror(errno));
        if (count > 0) done += (size_t)count;
    }
    each->due = 0;
}

static void put_message(struct connection *each, uint32_t stream, int last) {
    char bytes[PREFIX + sizeof JSON - 1] = {0, 0, 0, 0, sizeof JSON - 1};
    memcpy(bytes + PREFIX, JSON, sizeof JSON - 1);
    if ((each->window -= sizeof bytes) < 0) give_up("the window of a connection ran out");
    put_frame(each, DATA, last ? END : 0, stream, bytes, sizeof bytes);
}

static void begin(struct connection *each, int64_t since) {
    sent++;
    each->under_way++;
    if (http1) {
        each->calls[0] = (struct call){.since = since};
        put(each, request, request_length);
        return;
    }
    uint32_t stream = each->next;
    each->next += 2;
    struct call *call = &each->calls[stream / 2 % SLOTS];
    if (call->since) give_up("too many calls at a time");
    *call = (struct call){.since = since};
    put_frame(each, HEADERS, END_HEADERS, stream, each->opened ? again : first, each->opened ? again_length : first_length);
    each->opened = 1;
    put_message(each, stream, messages == 1);
}

// HTTP/1.1

static void read_http1(struct connection *each) {
    each->in[each->got] = 0;
    char *end = strstr(each->in, "\r\n\r\n");
    if (!end) return;
    size_t body = each->got - (size_t)(end + 4 - each->in);
    *end = 0;
    char *length = strcasestr(each->in, "\r\ncontent-length:");
    *end = '\r';
    // Whoever puts responses into chunks puts these into one.
    if (length ? body < strtoul(length + 17, NULL, 10) : body < 5 || memcmp(each->in + each->got - 5, "0\r\n\r\n", 5)) return;
    size_t told = length ? strtoul(length + 17, NULL, 10) : strtoul(end + 4, NULL, 16);
    finish(each, &each->calls[0], !strncmp(each->in, "HTTP/1.1 200", 12) && told == size, "status or length");
    each->got = 0;
}

// HTTP/2

static int is_200(const unsigned char *block, size_t count) {
    while (count && (*block & 0xe0) == 0x20) {  // a new size of the table, in as many bytes as it needs
        int more = (*block & 0x1f) == 0x1f;
        for (block++, count--; more && count; block++, count--) more = *block & 0x80;
    }
    return count && *block == 0x88;
}

static void take(struct connection *each, int kind, int flags, uint32_t stream, const unsigned char *bytes, size_t count) {
    struct call *call = &each->calls[stream / 2 % SLOTS];
    if (kind == SETTINGS && !(flags & 1)) {
        for (; count >= 6; bytes += 6, count -= 6)
            if (bytes[1] == 1 && !bytes[2] && !bytes[3] && bytes[4] < 2) give_up("the table of fields is too small");
        put_frame(each, SETTINGS, 1, 0, "", 0);
    } else if (kind == PING && !(flags & 1)) {
        put_frame(each, PING, 1, 0, bytes, count);
    } else if (kind == WINDOW_UPDATE && !stream) {
        each->window += (int64_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
    } else if (kind == GOAWAY) {
        give_up("the connection was ended");
    } else if (kind == RESET && call->since) {
        finish(each, call, 0, "reset");
    } else if (kind == HEADERS && call->since) {
        if (!call->heads++) call->good = is_200(bytes, count);
        if (flags & END)
            finish(each, call, call->good && call->heads == 2 && call->bytes == messages * (PREFIX + size), "response");
    } else if (kind == DATA && call->since) {
        if (flags & END) finish(each, call, 0, "no trailers");
        call->bytes += count;
        for (; call->bytes / (PREFIX + size) > call->messages; call->messages++)
            if (call->messages + 1 < messages) put_message(each, stream, call->messages + 2 == messages);
    }
}

static void read_http2(struct connection *each) {
    size_t done = 0;
    while (each->got - done >= 9) {
        const unsigned char *at = (unsigned char *)each->in + done;
        size_t count = (size_t)at[0] << 16 | at[1] << 8 | at[2];
        if (each->got - done < 9 + count) break;
        take(each, at[3], at[4], (uint32_t)(at[5] & 127) << 24 | at[6] << 16 | at[7] << 8 | at[8], at + 9, count);
        done += 9 + count;
    }
    memmove(each->in, each->in + done, each->got -= done);
}

static void receive(struct connection *each) {
    ssize_t count = read(each->socket, each->in + each->got, ROOM - each->got - 1);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) give_up("the connection was closed");
    each->got += (size_t)count;
    if (http1) read_http1(each);
    else read_http2(each);
}

// The request: for gRPC its fields as HPACK has them, in full and, once they are in the table, as their numbers.

static void field(size_t *length, int name, const char *text, const char *value) {
    first[(*length)++] = (char)(0x40 | name);
    if (!name) {
        first[(*length)++] = (char)strlen(text);
        *length += (size_t)sprintf(first + *length, "%s", text);
    }
    first[(*length)++] = (char)strlen(value);
    *length += (size_t)sprintf(first + *length, "%s", value);
}

static void compose(const char *path, char **fields, int count) {
    const char *type = http1 ? "application/json" : "application/grpc";
    request_length = (size_t)sprintf(request, "POST %s HTTP/1.1\r\nhost: bench\r\ncontent-type: %s\r\n", path, type);
    memcpy(first, "\x83\x86", first_length = 2);  // POST and http, of the static table
    memcpy(again, "\x83\x86", again_length = 2);
    field(&first_length, 4, "", path);
    field(&first_length, 1, "", "bench");
    field(&first_length, 31, "", type);
    field(&first_length, 0, "te", "trailers");
    for (int index = 0; index < count; index++) {
        char *name = strdup(fields[index]), *equals = strchr(name, '=');
        *equals = 0;
        field(&first_length, 0, name, equals + 1);
        request_length += (size_t)sprintf(request + request_length, "%s: %s\r\n", name, equals + 1);
    }
    for (int index = 0; index < 4 + count; index++) again[again_length++] = (char)(0x80 | (65 + count - index));
    request_length += (size_t)sprintf(request + request_length, "content-length: %zu\r\n\r\n%s", sizeof JSON - 1, JSON);
}

static void open_connection(struct connection *each, int port, int events) {
    // Windows as wide as they can be, so that there is never need to open them.
    static const unsigned char settings[] = {0, 4, 0x7f, 0xff, 0xff, 0xff}, wide[] = {0x7f, 0xfe, 0, 0};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = each};
    int one = 1;
    *each = (struct connection){.next = 1, .window = 65535, .in = malloc(ROOM), .out = malloc(ROOM)};
    each->socket = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(each->socket, (struct sockaddr *)&address, sizeof address)) give_up("cannot connect");
    setsockopt(each->socket, SOL_TCP, TCP_NODELAY, &one, sizeof one);
    epoll_ctl(events, EPOLL_CTL_ADD, each->socket, &event);
    if (http1) return;
    put(each, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24);
    put_frame(each, SETTINGS, 0, 0, settings, sizeof settings);
    put_frame(each, WINDOW_UPDATE, 0, 0, wide, sizeof wide);
    flush(each);
}

static int ascending(const void *one, const void *other) {
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return a < b ? -1 : a > b;
}

int main(int count, char **words) {
    if (count < 8) give_up("see the top of caller.c");
    http1 = !strcmp(words[1], "http1");
    streams = !strcmp(words[1], "stream");
    int connections = atoi(words[5]), events = epoll_create1(0);
    double number = atof(words[2]), seconds = atof(words[6]);
    size = strtoul(words[7], NULL, 10);
    messages = streams ? (unsigned)number : 1;
    compose(words[4], words + 8, count - 8);
    most = streams ? 1 << 22 : (size_t)(2 * number * seconds) + 1024;
    times = malloc(most * sizeof *times);
    struct connection *all = calloc((size_t)connections, sizeof *all);
    for (int index = 0; index < connections; index++) open_connection(&all[index], atoi(words[3]), events);
    prctl(PR_SET_TIMERSLACK, 1);

    int room = http1 ? 1 : 100;  // calls at a time on a connection; servers refuse more at some number
    double gap = streams ? 0 : 1e9 / number;
    int64_t start = now(), end = start + (int64_t)(seconds * 1e9), due = start, late = 0;
    for (int index = 0; streams && index < connections; index++) {
        for (int each = 0; each < TOGETHER; each++) begin(&all[index], start);
        flush(&all[index]);
    }
    for (size_t turn = 0;;) {
        int64_t time = now();
        for (; !streams && due <= time && due < end; turn++) {
            struct connection *each = NULL;
            for (int tries = 0; tries < connections && (!each || each->under_way >= room); tries++)
                each = &all[(turn + (size_t)tries) % (size_t)connections];
            if (each->under_way >= room) break;
            begin(each, late == due ? due : now());
            flush(each);
            due += (int64_t)(gap * (0.5 + drand48()));
        }
        if (!streams && due <= time) late = due;
        if (time >= end && good + bad == sent) break;
        if (time >= end + GRACE) give_up("responses are missing");
        int64_t until = streams || due >= end || late == due ? time + 100000000 : due;
        struct timespec wait = {0, until > time ? (until - time) % 1000000000 : 0};
        struct epoll_event ready[64];
        int found = epoll_pwait2(events, ready, 64, &wait, NULL);
        for (int index = 0; index < found; index++) {
            struct connection *each = ready[index].data.ptr;
            size_t before = good + bad;
            receive(each);
            for (size_t ended = good + bad - before; streams && ended && now() < end; ended--) begin(each, now());
            flush(each);
        }
    }
    double took = (double)(now() - start) / 1e9;
    qsort(times, good, sizeof *times, ascending);
    printf("{\"good\":%zu,\"failed\":%zu,\"seconds\":%f,\"p50\":%u,\"p99\":%u,\"most\":%u,\"problem\":\"%s\"}\n", good, bad,
           took, good ? times[good / 2] : 0, good ? times[good * 99 / 100] : 0, good ? times[good - 1] : 0, problem);
    return 0;
}
