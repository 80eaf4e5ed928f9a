import HTTP
import Testing

@testable import Proxy

/// Which requests may be retried after a connection has come to nothing: the rule for calls and for our own requests.
@Suite struct SentRequestTests {
    @Test func `only what cannot be done twice is retried`() {
        for number in 0..<32 {
            let flags = (0..<5).map { number >> $0 & 1 == 1 }
            let (hasResponse, wasIdle, wasUnaccepted, hasLeft, isIdempotent) = (
                flags[0], flags[1], flags[2], flags[3], flags[4]
            )
            let sent = SentRequest(
                hasResponse: hasResponse,
                wasIdle: wasIdle,
                wasUnaccepted: wasUnaccepted,
                hasLeft: hasLeft,
                isIdempotent: isIdempotent
            )
            #expect(sent.canRetry(after: .unprocessed) == !hasResponse)
            let isSafe = !hasResponse && (!hasLeft || isIdempotent && (wasIdle || wasUnaccepted))
            #expect(sent.canRetry(after: .lost) == isSafe, "\(sent)")
            let others: [UpstreamError] = [
                .connectTimeout, .firstByteTimeout, .attemptTimeout, .callTimeout, .tooManyWaiting, .cutOff,
                .needsHTTP2, .reset(HTTP2Code(rawValue: 2)), .badResponse(.statusLine),
            ]
            for error in others { #expect(!sent.canRetry(after: error), "\(error)") }
        }
    }
}
