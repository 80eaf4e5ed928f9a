import HTTP
import Protocols
import RPC
import Testing

@testable import Proxy

@Suite struct CallResponseTests {
    private static func response() -> CallResponse {
        CallResponse(ResponseReader(rpcProtocol: .grpc, codec: .proto))
    }

    @Test func `the request is the upstream's until the response is made here or has ended`() {
        var response = Self.response()
        #expect(response.wantsRequest && !response.hasBegun)
        response.ownOutcome = Outcome(code: .ok)
        #expect(!response.wantsRequest && response.isOwn)
        for progress in [CallResponse.Progress.upstreamFailed, .closed] {
            var response = Self.response()
            response.progress = progress
            #expect(!response.wantsRequest)
        }
    }

    @Test func `a failure of the upstream opens no response that has ended`() {
        var response = Self.response()
        response.failUpstream()
        #expect(response.progress == .upstreamFailed)
        response.progress = .closed
        response.failUpstream()
        #expect(response.progress == .closed)
    }

    @Test func `a response that is dropped for a retry is none any more`() {
        var response = Self.response()
        response.begin(isHeadLast: true)
        response.ownOutcome = Outcome(code: .unavailable)
        response.progress = .closed
        #expect(response.hasBegun)
        let number = response.number
        response.discard(for: ResponseReader(rpcProtocol: .grpc, codec: .proto))
        #expect(!response.hasBegun && response.wantsRequest && response.number > number)
        response.begin(isHeadLast: false)
        #expect(response.hasBegun && !response.isHeadLast)
    }

    @Test func `a head waits for what follows it, and only then`() {
        var hold = ResponseHold()
        let head = HTTPHead()
        hold.head = head
        for state in [ResponseHold.State.open, .untilEnd, .released] {
            hold.state = state
            let sent = hold.endWait()
            #expect(sent == nil && hold.head === head)
        }
        hold.state = .untilMore
        let sent = [hold.endWait(), hold.endWait()]
        #expect(sent[0] === head && sent[1] == nil)
        #expect(hold.head == nil && hold.state == .open)
    }
}
