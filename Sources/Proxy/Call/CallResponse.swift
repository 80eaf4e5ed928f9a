internal import HTTP
internal import Protocols
internal import RPC

/// The response of a call, on its way back through the chain to the caller: the upstream's, or one that was made here.
struct CallResponse {
    /// Whether more of it is wanted.
    enum Progress {
        case open
        /// The upstream has failed behind what is still on its way: what comes of the request is nobody's.
        case upstreamFailed
        /// An interceptor has ended it: what still comes of it is nobody's.
        case closed
    }

    /// How many have set out, each in the place of the one before it.
    var number = 0
    /// How many of them there were when the call was retried: they are none any more.
    var discarded = 0
    var progress = Progress.open
    /// What was decided here, where the response was made here.
    var ownOutcome: Outcome?
    /// Reads it as it sets out.
    var reader: ResponseReader
    var compression = Compression.identity
    /// The head is all that there is.
    var isHeadLast = false
    /// The frame that has ended the body.
    var endFrame: EndFrame?
    /// What of it waits behind the chain.
    var hold = ResponseHold()
    /// The caller has got the head.
    var headSent = false
    /// Whether what the caller has got stands between two messages, where that is not where the reader stands.
    var mayEnd: Bool?
    /// One of our own that waits for the request to have come whole, and the link that has given it.
    var pending: (response: LocalResponse, index: Int)?
    /// The end of a call with a complete response, while the rest of its request is read.
    var settled: (code: RPCCode, decider: CallRecord.Decider)?
    /// What has not gone into the chain of one that was made here.
    var rest: Call.Rest?
    /// The messages of one that was made here.
    var ownMessages = 0

    init(_ reader: ResponseReader) {
        self.reader = reader
    }

    /// Whether it was made here.
    var isOwn: Bool { ownOutcome != nil }

    /// Whether it may still be the upstream's, which gets the request.
    var wantsRequest: Bool { !isOwn && progress == .open }

    /// Whether its head has set out, and was not dropped.
    var hasBegun: Bool { number > discarded }

    /// The upstream has failed behind what is still on its way; one that was ended before stays so.
    mutating func failUpstream() {
        if progress == .open { progress = .upstreamFailed }
    }

    /// Another head sets out.
    mutating func begin(isHeadLast: Bool) {
        number += 1
        progress = .open
        self.isHeadLast = isHeadLast
        hold.state = .open
    }

    /// The call is retried: what has come is dropped, and the next is read by `reader`.
    mutating func discard(for reader: ResponseReader) {
        number += 1
        discarded = number
        progress = .open
        ownOutcome = nil
        self.reader = reader
    }
}
