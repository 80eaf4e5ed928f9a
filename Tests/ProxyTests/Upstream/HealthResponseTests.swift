import Bytes
import Configuration
import HTTP
import Testing

@testable import Proxy

/// What a response says of the health of an address.
@Suite struct HealthResponseTests {
    private func result(
        _ request: UpstreamHealthSettings.Request = .grpc("a"),
        status: Int = 200,
        type: String = "application/grpc",
        body: [UInt8] = [],
        trailers fields: [(String, String)]? = [("grpc-status", "0")]
    ) -> HealthResponse.Result {
        var response = HealthResponse(to: request)
        let head = HTTPHead()
        head.status = status
        head.add(name: Array("content-type".utf8).span, value: Array(type.utf8).span)
        response.read(head: head)
        // In pieces of one byte.
        for byte in body { response.read(body: [byte].span) }
        guard let fields else { return response.result(trailers: nil) }
        let trailers = HTTPHead()
        for (name, value) in fields {
            trailers.add(name: Array(name.utf8).span, value: Array(value.utf8).span)
        }
        return response.result(trailers: trailers)
    }

    private func message(_ bytes: UInt8...) -> [UInt8] { [0, 0, 0, 0, UInt8(bytes.count)] + bytes }

    @Test func `what a message says`() {
        #expect(result(body: message(8, 1)) == .up)
        #expect(result(body: message(8, 2)) == .down("NOT_SERVING"))
        #expect(result(body: message(8, 3)) == .unknown("it does not know the service"))
        #expect(result(body: message()) == .down("UNKNOWN"))
        #expect(result(body: message(8, 0x84, 1)) == .down("status 132"))
    }

    @Test(
        arguments: [
            [], [0], [0, 0, 0, 0, 2, 8], [0, 0, 0, 0, 1, 8], [1, 0, 0, 0, 2, 8, 1], [0, 0, 0, 0, 2, 8, 0x81],
            [0, 0, 0, 0, 2, 16, 1], [0, 0, 0, 0, 3, 8, 1, 1], [UInt8](repeating: 0, count: 300),
        ] as [[UInt8]]
    )
    func `what is no message of the protocol`(_ body: [UInt8]) {
        #expect(result(body: body) == .down("the response is not of grpc.health.v1"))
    }

    @Test func `what a code says`() {
        #expect(result(trailers: [("grpc-status", "5")]) == .unknown("it does not know the service"))
        #expect(result(trailers: [("grpc-status", "12")]) == .unknown("it has no health service"))
        #expect(result(trailers: [("grpc-status", "14")]) == .down("code unavailable"))
        #expect(result(trailers: [("grpc-status", "14"), ("grpc-message", "a%20b")]) == .down("code unavailable: a b"))
        #expect(result(trailers: [("grpc-status", "what")]) == .down("code unknown"))
    }

    @Test func `what is no gRPC`() {
        #expect(result(status: 404, type: "text/html", trailers: nil) == .unknown("it has no health service"))
        #expect(result(status: 503, type: "text/html", trailers: nil) == .down("HTTP status 503"))
        #expect(result(status: 200, type: "text/html", trailers: []) == .down("the response is not gRPC"))
        #expect(result(status: 200, trailers: []) == .down("the response has no gRPC status"))
    }

    @Test(arguments: [(200, true), (204, true), (302, true), (399, true), (400, false), (503, false), (101, false)])
    func `what a status says`(_ status: Int, _ isUp: Bool) {
        let result = result(.http("/healthz"), status: status, type: "text/plain", trailers: nil)
        #expect(result == (isUp ? .up : .down("HTTP status \(status)")))
    }
}
