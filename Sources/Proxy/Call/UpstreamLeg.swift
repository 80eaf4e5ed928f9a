internal import Bytes
internal import Events
internal import HTTP
internal import Protocols
internal import Types

/// The side of a call that its upstream has: what becomes of the request, whose head is `Call.request`, and how far that is.
struct UpstreamLeg {
    /// How far the head of the request has come.
    enum Progress: Comparable {
        case inChain
        /// It is through the chain, and waits for the body.
        case waiting
        /// The call goes to its destination.
        case forwarded
        /// It goes through a part of the chain once more, for a retry.
        case retried
    }

    /// Whether the request is being handed to the attempt, which may fail meanwhile.
    private enum Sending {
        case no, underWay, failed
    }

    /// What the caller speaks, in which the chain has the request, and the response as well.
    let rpcProtocol: RPCProtocol
    /// What the upstream is spoken to in; translated at the border to it, where that is something else.
    var spoken: RPCProtocol
    let codec: Codec
    /// How messages are converted, if the upstream does not understand their codec.
    var conversion: MessageConversion?
    /// The REST paths of the method, if the upstream speaks REST; Connect with JSON is what is translated to them.
    var restBindings: [RESTBinding] = []
    /// What serves the call in this process, if that is not left to an upstream of the network.
    var service: LocalUpstream.Opening? {
        didSet { isServed = service != nil }
    }
    /// Whether something does, as is asked on the path of every call.
    private(set) var isServed = false
    /// Whether what serves the call responds in the protocol of the caller.
    var isServedRaw = false
    var progress = Progress.inChain
    /// The end of the request is through the chain.
    var hasEnd = false
    var attempt: Attempt?
    /// What else is tried until there is a response, if the call may be sent to several addresses.
    var hedge: Hedge?
    private var sending = Sending.no
    /// What is through the chain and waits for a connection.
    var outbox: ByteQueue?
    /// What a Connect GET asks for, if that is other than what has come.
    var query: ByteQueue?
    var retryBuffer = RetryBuffer()
    /// The head of the request has what the upstream adds to it.
    var hasDefaults = false
    /// Those under way that the call is one of, if the upstream limits them.
    var calls: UpstreamCallLimit?
    /// The address that an attempt has gone to last, if the upstream has several.
    private(set) var address: UpstreamAddress?
    /// Those before.
    private var tried: [UpstreamAddress] = []
    /// Why there is no response from the upstream, if that is why.
    var error: UpstreamError?
    /// Fires when the time is over that the upstream's settings allow.
    var timer: Timer?
    private var sendingError: UpstreamError?
    private var pathProcedure: Procedure?
    private var pathVersion: Int

    init(_ classification: Classification, pathVersion: Int) {
        rpcProtocol = classification.rpcProtocol
        spoken = rpcProtocol
        codec = classification.codec
        pathProcedure = classification.procedure
        self.pathVersion = pathVersion
    }

    /// The service and the method, as places in the path of the request: whoever has changed that, as it is now.
    mutating func procedure(of request: HTTPHead) -> Procedure? {
        if request.targetVersion != pathVersion {
            pathVersion = request.targetVersion
            pathProcedure = Procedure(path: request.path, in: rpcProtocol)
        }
        return pathProcedure
    }

    /// Begins to hand the request to the attempt.
    mutating func beginSending() { sending = .underWay }

    /// Notes that the attempt has failed while the request was being handed to it.
    ///
    /// - Returns: Whether that is so; the failure waits for `endSending` then.
    mutating func failedSending(_ error: UpstreamError) -> Bool {
        guard sending != .no else { return false }
        (sending, sendingError) = (.failed, error)
        return true
    }

    /// Returns the failure of the attempt that the request has been handed to, if it has failed meanwhile.
    mutating func endSending() -> UpstreamError? {
        let hasFailed = sending == .failed
        sending = .no
        return hasFailed ? sendingError.take() : nil
    }

    /// How the upstream is spoken with.
    var side: UpstreamSide { spoken.upstreamSide }

    /// Whether the message of a request is in its query.
    var isQuery: Bool { rpcProtocol == .connectGet }

    /// Reads a response of the upstream, as it is when translated.
    func makeReader(messageLimit: Int?) -> ResponseReader {
        rpcProtocol.upstreamSide.makeReader(codec: codec, messageLimit: messageLimit)
    }

    /// How many bytes are set aside for what its attempts wait for.
    var heldBytes: Int {
        guard let hedge else { return attempt?.heldBytes ?? 0 }
        return hedge.rivals.reduce(attempt?.heldBytes ?? 0) { $0 + $1.heldBytes }
    }

    /// An attempt goes to an address.
    mutating func enter(_ new: UpstreamAddress) {
        if let address { tried.append(address) }
        address = new
    }

    /// The addresses that attempts have gone to.
    var allTried: [UpstreamAddress] { tried + [address].compactMap { $0 } }

    /// Whether an attempt has gone to an address.
    func hasTried(_ other: UpstreamAddress) -> Bool { address === other || tried.contains { $0 === other } }

    /// Whether an attempt has its connection.
    var isConnected: Bool {
        attempt?.isConnected == true || hedge?.rivals.contains(where: \.isConnected) == true
    }

    /// Whether an attempt is one of the call.
    func has(_ attempt: Attempt) -> Bool {
        self.attempt === attempt || hedge?.rivals.contains { $0 === attempt } == true
    }

    /// Whether the attempt is sent what the spool keeps: what else goes there waits.
    var isSendingSpool: Bool { retryBuffer.spool?.isRead ?? false }

    var isForwarded: Bool { progress >= .forwarded }
    var isRetried: Bool { progress == .retried }
}
