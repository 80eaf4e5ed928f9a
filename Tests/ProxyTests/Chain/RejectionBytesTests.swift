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
        _ talk: Conversation,
        behind sent: [UInt8],
        isWhole: Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        talk.scene.settle()
        _ = talk.callerEar.heard
        let (head, body) = (talk.callerEar.head, talk.callerEar.body)
        let isUnary = talk.style == .connectUnary
        #expect(head[":status"] == (isUnary ? "500" : "200"), sourceLocation: sourceLocation)
        #expect(head["content-type"] == talk.style.contentType, sourceLocation: sourceLocation)
        switch talk.style {
        case .connectUnary: #expect(body == Self.json.latin1, sourceLocation: sourceLocation)
        case .connectStream: #expect(body == sent + bytes(Self.streamEnd), sourceLocation: sourceLocation)
        case .grpcWeb: #expect(body == sent + bytes(Self.webEnd), sourceLocation: sourceLocation)
        case .grpcWebText: #expect(body == sent + Self.textEnd.latin1, sourceLocation: sourceLocation)
        case .grpc:
            #expect(body == sent, sourceLocation: sourceLocation)
            let trailers = talk.callerEar.trailers
            #expect(trailers["grpc-status"] == "2", sourceLocation: sourceLocation)
            #expect(trailers["grpc-message"] == "auth token fetch failed", sourceLocation: sourceLocation)
            #expect(trailers["grpc-status-details-bin"] == nil, sourceLocation: sourceLocation)
        }
        guard isWhole else { return }
        let length = talk.style == .grpc ? nil : "\(body.count)"
        #expect(head["content-length"] == length, "\(talk.style)", sourceLocation: sourceLocation)
    }

    @Test(arguments: ["request head", "request message 1", "request end", "response head", "response end"])
    func `R13 a rejection has the bytes of its protocol, whichever event it rejects`(_ event: String) {
        converse("{name: a, gate: {hold: [\(event)]}}") { talk in
            talk.begin()
            talk.say("hello", end: true)
            if event.hasPrefix("response") || event != "request head" && talk.style != .connectUnary { talk.accept() }
            if event.hasPrefix("response") {
                talk.respond()
                talk.conclude()
            }
            talk.scene.settle()
            talk.scene.gates["a"].release(nil, .reject(Self.error))
            expect(talk, behind: [], isWhole: event != "response end" || talk.style == .connectUnary)
        }
    }

    @Test func `R13 a rejection behind messages has the bytes of its protocol`() {
        converse("{name: a, gate: {hold: [response message 2]}}", in: Style.streams) { talk in
            talk.begin(end: true)
            talk.accept()
            talk.respond()
            talk.reply("1", "2")
            talk.callerHears("head", "message 1")
            let sent = talk.callerEar.body
            talk.scene.gates["a"].release(nil, .reject(Self.error))
            expect(talk, behind: sent, isWhole: false)
        }
    }

    @Test func `R13 the details of a rejection are those of its protocol`() {
        converse("{name: a, gate: {hold: [request head]}}", in: [.connectUnary, .grpc]) { talk in
            var error = Self.error
            error.details = [ErrorDetail(type: "google.rpc.RetryInfo", value: [0x0a, 0x02, 0x08, 0x3c])]
            talk.begin()
            talk.scene.gates["a"].release(nil, .reject(error))
            talk.scene.settle()
            _ = talk.callerEar.heard
            if talk.style == .connectUnary {
                let details = #","details":[{"type":"google.rpc.RetryInfo","value":"CgIIPA"}]}"#
                #expect(talk.callerEar.body.latin1 == Self.json.dropLast() + details)
            } else {
                let details =
                    "CAISF2F1dGggdG9rZW4gZmV0Y2ggZmFpbGVkGjAKKHR5cGUuZ29vZ2xlYXBpcy5jb20vZ29vZ2xlLnJwYy5SZXRyeUluZm8S"
                    + "BAoCCDw"
                #expect(talk.callerEar.trailers["grpc-status-details-bin"] == details)
            }
        }
    }
}
