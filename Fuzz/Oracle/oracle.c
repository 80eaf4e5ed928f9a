#include "oracle.h"

#include "llhttp.h"

struct reading {
    void *context;
    oracle_told told;
    enum oracle_kind kind;
    uint16_t flags;
};

static struct reading *reading_of(llhttp_t *parser) { return parser->data; }

static int report(llhttp_t *parser, enum oracle_event event, const char *bytes, size_t count) {
    struct reading *reading = reading_of(parser);
    reading->told(reading->context, event, bytes, count, NULL);
    return 0;
}

static int on_begin(llhttp_t *parser) { return report(parser, ORACLE_BEGIN, NULL, 0); }
static int on_method(llhttp_t *parser, const char *at, size_t count) { return report(parser, ORACLE_METHOD, at, count); }
static int on_target(llhttp_t *parser, const char *at, size_t count) { return report(parser, ORACLE_TARGET, at, count); }
static int on_reason(llhttp_t *parser, const char *at, size_t count) { return report(parser, ORACLE_REASON, at, count); }
static int on_name(llhttp_t *parser, const char *at, size_t count) { return report(parser, ORACLE_NAME, at, count); }
static int on_name_end(llhttp_t *parser) { return report(parser, ORACLE_NAME_END, NULL, 0); }
static int on_value(llhttp_t *parser, const char *at, size_t count) { return report(parser, ORACLE_VALUE, at, count); }
static int on_value_end(llhttp_t *parser) { return report(parser, ORACLE_VALUE_END, NULL, 0); }
static int on_body(llhttp_t *parser, const char *at, size_t count) { return report(parser, ORACLE_BODY, at, count); }

static int on_head(llhttp_t *parser) {
    struct reading *reading = reading_of(parser);
    // Martlet passes over offers of another protocol, and so does llhttp then.
    if (reading->kind == ORACLE_REQUESTS) parser->upgrade = 0;
    // A response with one of these has no body, whatever its fields say (RFC 9112, section 6.3); llhttp leaves that to us.
    int status = parser->status_code;
    int is_bare = reading->kind == ORACLE_RESPONSE_TO_HEAD;
    if (reading->kind == ORACLE_RESPONSE) is_bare = status / 100 == 1 || status == 204 || status == 304;
    if (is_bare) parser->flags |= F_SKIPBODY;
    reading->flags = parser->flags;
    struct oracle_head head = {
        .status = parser->status_code,
        .persists = llhttp_should_keep_alive(parser),
        .chunked = (parser->flags & F_CHUNKED) != 0,
        .has_length = (parser->flags & F_CONTENT_LENGTH) != 0,
        .length = parser->content_length,
    };
    reading->told(reading->context, ORACLE_HEAD, NULL, 0, &head);
    return is_bare ? 1 : 0;
}

static int on_end(llhttp_t *parser) {
    struct reading *reading = reading_of(parser);
    report(parser, ORACLE_END, NULL, 0);
    // What trailers say of the connection does not count.
    parser->flags = reading->flags;
    if (reading->kind == ORACLE_REQUESTS) return 0;
    if (parser->status_code / 100 != 1) return HPE_PAUSED;
    // Nor does what an interim response says of it.
    parser->http_major = parser->http_minor = 1;
    parser->flags &= ~F_CONNECTION_CLOSE;
    return 0;
}

const char *oracle_read(enum oracle_kind kind, const char *bytes, size_t count, size_t *error_at, void *context,
                        oracle_told told) {
    static llhttp_settings_t settings;
    settings.on_message_begin = on_begin;
    settings.on_method = on_method;
    settings.on_url = on_target;
    settings.on_status = on_reason;
    settings.on_header_field = on_name;
    settings.on_header_field_complete = on_name_end;
    settings.on_header_value = on_value;
    settings.on_header_value_complete = on_value_end;
    settings.on_headers_complete = on_head;
    settings.on_body = on_body;
    settings.on_message_complete = on_end;

    struct reading reading = {.context = context, .told = told, .kind = kind};
    llhttp_t parser;
    llhttp_init(&parser, kind == ORACLE_REQUESTS ? HTTP_REQUEST : HTTP_RESPONSE, &settings);
    parser.data = &reading;
    llhttp_errno_t error = llhttp_execute(&parser, bytes, count);
    const char *at = error == HPE_OK ? NULL : llhttp_get_error_pos(&parser);
    *error_at = at ? (size_t)(at - bytes) : count;
    // A response may be ended by the end of the connection.
    if (error == HPE_OK && kind != ORACLE_REQUESTS) llhttp_finish(&parser);
    return error == HPE_OK || error == HPE_PAUSED ? NULL : llhttp_errno_name(error);
}
