import HTTP
import Testing

@testable import Proxy

/// Which requests may be retried after a connection has come to nothing: the rule for calls and for our own requests.
@Suite struct SentRequestTests {
    @Test func `only what cannot be done twice is retried`() {
        let flags = [false, true]
        for hasResponse in flags {
            for wasIdle in flags {
                for hasLeft in flags {
                    for isIdempotent in flags {
                        let sent = SentRequest(
                            hasResponse: hasResponse,
                            wasIdle: wasIdle,
                            hasLeft: hasLeft,
                            isIdempotent: isIdempotent
                        )
                        #expect(sent.canRetry(after: .unprocessed) == !hasResponse)
                        let isSafe = !hasResponse && wasIdle && (!hasLeft || isIdempotent)
                        #expect(sent.canRetry(after: .lost) == isSafe, "\(sent)")
                        let others: [UpstreamError] = [
                            .connectTimeout, .firstByteTimeout, .attemptTimeout, .callTimeout, .tooManyWaiting, .cutOff,
                            .needsHTTP2, .reset(HTTP2Code(rawValue: 2)), .badResponse(.statusLine),
                        ]
                        for error in others { #expect(!sent.canRetry(after: error), "\(error)") }
                    }
                }
            }
        }
    }
}
