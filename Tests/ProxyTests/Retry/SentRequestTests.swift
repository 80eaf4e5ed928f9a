import HTTP
import Testing

@testable import Proxy

/// Which requests may be retried after a connection has come to nothing: the rule for calls and for our own requests.
@Suite struct SentRequestTests {
    private func request(
        hasResponse: Bool = false,
        wasIdle: Bool = false,
        wasUnaccepted: Bool = false,
        hasLeft: Bool = true,
        isIdempotent: Bool = false
    ) -> SentRequest {
        SentRequest(
            hasResponse: hasResponse,
            wasIdle: wasIdle,
            wasUnaccepted: wasUnaccepted,
            hasLeft: hasLeft,
            isIdempotent: isIdempotent
        )
    }

    @Test func `what has not left is retried if the connection had been idle`() {
        #expect(request(wasIdle: true, hasLeft: false).canRetry(after: .lost))
        #expect(!request(hasLeft: false).canRetry(after: .lost))
        #expect(!request(hasLeft: false, isIdempotent: true).canRetry(after: .lost))
    }

    @Test func `what may have been lost with nobody there is retried if it may be done twice`() {
        #expect(request(wasIdle: true, isIdempotent: true).canRetry(after: .lost))
        #expect(request(wasUnaccepted: true, isIdempotent: true).canRetry(after: .lost))
        #expect(!request(wasIdle: true).canRetry(after: .lost))
        #expect(!request(wasUnaccepted: true).canRetry(after: .lost))
        #expect(!request(isIdempotent: true).canRetry(after: .lost))
        #expect(!request().canRetry(after: .lost))
    }

    @Test func `what comes back unprocessed is retried`() {
        #expect(request().canRetry(after: .unprocessed))
        #expect(request(isIdempotent: true).canRetry(after: .unprocessed))
    }

    @Test func `nothing is retried after a response, or after another error`() {
        #expect(!request(hasResponse: true).canRetry(after: .unprocessed))
        #expect(!request(hasResponse: true, wasIdle: true, hasLeft: false, isIdempotent: true).canRetry(after: .lost))
        let safest = request(wasIdle: true, wasUnaccepted: true, hasLeft: false, isIdempotent: true)
        let others: [UpstreamError] = [
            .connectTimeout, .firstByteTimeout, .attemptTimeout, .callTimeout, .tooManyWaiting, .cutOff, .needsHTTP2,
            .reset(HTTP2Code(rawValue: 2)), .badResponse(.statusLine),
        ]
        for error in others { #expect(!safest.canRetry(after: error), "\(error)") }
    }
}
