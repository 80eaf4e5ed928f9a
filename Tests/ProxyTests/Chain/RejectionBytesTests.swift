import HTTP2Kit
import RPC
import Testing

@testable import Proxy

/// Rejections byte for byte, wherever in the chain they come from.
@Suite struct RejectionBytesTests {
    private static let error = RPCError(.unknown, "auth token fetch failed")
    private static let json = #"{"code":"unknown","message":"auth token fetch failed"}"#
    private static let streamEnd =
        "02000000407b226572726f72223a7b22636f6465223a22756e6b6e6f776e222c226d657373616765223a22617574682074"
        + "6f6b656e206665746368206661696c6564227d7d"
    private static let webEnd =
        "8000000037677270632d7374617475733a20320d0a677270632d6d6573736167653a206175746820746f6b656e20666574"
        + "6368206661696c65640d0a"
    private static let textEnd = "gAAAADdncnBjLXN0YXR1czogMg0KZ3JwYy1tZXNzYWdlOiBhdXRoIHRva2VuIGZldGNoIGZhaWxlZA0K"

    /// What the caller gets behind bytes of the body that have gone out; with its length, if the response is at hand.
    private func expect(
        _ call: CallScript,
        behind sent: [UInt8],
        isWhole: Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        call.harness.settle()
        _ = call.callerFrames.received
        let (head, body) = (call.callerFrames.head, call.callerFrames.body)
        let isUnary = call.style == .connectUnary
        #expect(head[":status"] == (isUnary ? "500" : "200"), sourceLocation: sourceLocation)
        #expect(head["content-type"] == call.style.contentType, sourceLocation: sourceLocation)
        switch call.style {
        case .connectUnary: #expect(body == Self.json.latin1, sourceLocation: sourceLocation)
        case .connectStream: #expect(body == sent + bytes(Self.streamEnd), sourceLocation: sourceLocation)
        case .grpcWeb: #expect(body == sent + bytes(Self.webEnd), sourceLocation: sourceLocation)
        case .grpcWebText: #expect(body == sent + Self.textEnd.latin1, sourceLocation: sourceLocation)
        case .grpc:
            #expect(body == sent, sourceLocation: sourceLocation)
            let trailers = call.callerFrames.trailers
            #expect(trailers["grpc-status"] == "2", sourceLocation: sourceLocation)
            #expect(trailers["grpc-message"] == "auth token fetch failed", sourceLocation: sourceLocation)
            #expect(trailers["grpc-status-details-bin"] == nil, sourceLocation: sourceLocation)
        }
        guard isWhole else { return }
        let length = call.style == .grpc ? nil : "\(body.count)"
        #expect(head["content-length"] == length, "\(call.style)", sourceLocation: sourceLocation)
    }

    @Test(arguments: ["request head", "request message 1", "request end", "response head", "response end"])
    func `a rejection has the bytes of its protocol, whichever event it rejects`(_ event: String) {
        runCall("{name: a, gate: {hold: [\(event)]}}") { call in
            call.begin()
            call.say("hello", end: true)
            if event.hasPrefix("response") || event != "request head" && call.style != .connectUnary { call.accept() }
            if event.hasPrefix("response") {
                call.respond()
                call.conclude()
            }
            call.harness.settle()
            call.harness.gates["a"].release(nil, .reject(Self.error))
            expect(call, behind: [], isWhole: event != "response end" || call.style == .connectUnary)
        }
    }

    @Test func `a rejection behind messages has the bytes of its protocol`() {
        runCall("{name: a, gate: {hold: [response message 2]}}", in: Style.streams) { call in
            call.begin(end: true)
            call.accept()
            call.respond()
            call.reply("1", "2")
            call.callerReceives("head", "message 1")
            let sent = call.callerFrames.body
            call.harness.gates["a"].release(nil, .reject(Self.error))
            expect(call, behind: sent, isWhole: false)
        }
    }

    @Test func `the details of a rejection are those of its protocol`() {
        runCall("{name: a, gate: {hold: [request head]}}", in: [.connectUnary, .grpc]) { call in
            var error = Self.error
            error.details = [ErrorDetail(type: "google.rpc.RetryInfo", value: [0x0a, 0x02, 0x08, 0x3c])]
            call.begin()
            call.harness.gates["a"].release(nil, .reject(error))
            call.harness.settle()
            _ = call.callerFrames.received
            if call.style == .connectUnary {
                let details = #","details":[{"type":"google.rpc.RetryInfo","value":"CgIIPA"}]}"#
                #expect(call.callerFrames.body.latin1 == Self.json.dropLast() + details)
            } else {
                let details =
                    "CAISF2F1dGggdG9rZW4gZmV0Y2ggZmFpbGVkGjAKKHR5cGUuZ29vZ2xlYXBpcy5jb20vZ29vZ2xlLnJwYy5SZXRyeUluZm8S"
                    + "BAoCCDw"
                #expect(call.callerFrames.trailers["grpc-status-details-bin"] == details)
            }
        }
    }
}
