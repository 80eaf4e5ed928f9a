import RPC
import Testing

private let table: [(number: UInt8, name: String, status: Int)] = [
    (0, "ok", 200), (1, "canceled", 499), (2, "unknown", 500), (3, "invalid_argument", 400),
    (4, "deadline_exceeded", 504), (5, "not_found", 404), (6, "already_exists", 409), (7, "permission_denied", 403),
    (8, "resource_exhausted", 429), (9, "failed_precondition", 400), (10, "aborted", 409), (11, "out_of_range", 400),
    (12, "unimplemented", 501), (13, "internal", 500), (14, "unavailable", 503), (15, "data_loss", 500),
    (16, "unauthenticated", 401),
]

@Test(arguments: table)
func `a code has its number, name and HTTP status`(number: UInt8, name: String, status: Int) throws {
    let code = try #require(RPCCode(rawValue: number))
    #expect("\(code.name)" == name)
    #expect(RPCCode(name: name) == code)
    #expect(code.httpStatus == status)
}

@Test func `there are seventeen codes and no name but theirs`() {
    #expect(RPCCode.allCases.count == table.count)
    for name in ["", "OK", "cancelled", "unknow", "unknownn"] { #expect(RPCCode(name: name) == nil) }
}

@Test(arguments: [
    (400, RPCCode.internal), (401, .unauthenticated), (403, .permissionDenied), (404, .unimplemented),
    (429, .unavailable), (502, .unavailable), (503, .unavailable), (504, .unavailable), (200, .unknown),
    (204, .unknown),
    (302, .unknown), (408, .unknown), (409, .unknown), (412, .unknown), (413, .unknown), (415, .unknown),
    (418, .unknown), (431, .unknown), (500, .unknown), (505, .unknown), (800, .unknown),
])
func `an HTTP status without a code lets a caller infer one`(status: Int, code: RPCCode) {
    #expect(RPCCode(inferredFromStatus: status) == code)
}

@Test(
    arguments: [
        (0x0, RPCCode.internal), (0x1, .internal), (0x2, .internal), (0x3, .internal), (0x4, .internal),
        (0x5, .internal), (0x6, .internal), (0x7, .unavailable), (0x8, .canceled), (0x9, .internal), (0xa, .internal),
        (0xb, .resourceExhausted), (0xc, .permissionDenied), (0xd, .internal), (0xffff_ffff, .internal),
    ] as [(UInt32, RPCCode)]
)
func `a stream reset lets a caller infer a code`(reset: UInt32, code: RPCCode) {
    #expect(RPCCode(http2Reset: reset) == code)
}

@Test(arguments: [
    ("0", RPCCode.ok), (" 14 ", .unavailable), ("16", .unauthenticated), ("17", .unknown), ("-1", .unknown),
    ("", .unknown), ("ok", .unknown), ("99999999999999999999", .unknown),
])
func `a grpc-status is a number from 0 to 16`(field: String, code: RPCCode) {
    #expect(RPCCode(grpcStatus: field.bytes.span) == code)
}

@Test func `errors are equal if they say the same`() {
    let error = RPCError(.notFound, "no", metadata: [("x-why", "1")])
    #expect(error == RPCError(.notFound, "no", metadata: [("x-why", "1")]))
    #expect(error != RPCError(.notFound, "no", metadata: [("x-why", "2")]))
    #expect(error != RPCError(.notFound, "no", metadata: [("x-why", "1")], httpStatus: 404))
}
