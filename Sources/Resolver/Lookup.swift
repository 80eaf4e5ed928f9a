internal import Bytes
internal import CAres

/// A question that is under way.
protocol PendingLookup: AnyObject {
    associatedtype Value
    /// Told the outcome, once.
    var completion: (Result<Value, ResolverError>) -> Void { get }
    /// What became of it, as soon as that is known.
    var outcome: Result<Value, ResolverError>? { get }
    /// Asks for `name`; unsafe because the channel is a bare pointer.
    @unsafe
    func start(_ name: String, on channel: ares_channel)
}

extension PendingLookup {
    /// Whether the outcome is known.
    var isDone: Bool { outcome != nil }

    /// Tells the outcome.
    func deliver() {
        if let outcome { completion(outcome) }
    }

    /// Tells that there is none, and why.
    func fail(_ error: ResolverError) { completion(.failure(error)) }
}

/// One name that has been asked for.
///
/// c-ares keeps it alive until it has called back, once for each lookup, at the latest when the channel is destroyed. The
/// call back only notes the outcome: it comes from the middle of c-ares, which must not be called again from there.
final class Lookup: PendingLookup {
    let completion: (Result<Resolution, ResolverError>) -> Void
    private(set) var outcome: Result<Resolution, ResolverError>?
    private let port: UInt16
    /// Whether c-ares has been left since the question, so that a response must come from a DNS server.
    private var isWaiting = false

    /// The time to live of an address from /etc/hosts, in seconds.
    private static let hostsTimeToLive = 60

    init(port: UInt16, completion: @escaping (Result<Resolution, ResolverError>) -> Void) {
        self.port = port
        self.completion = completion
    }

    @unsafe
    func start(_ name: String, on channel: ares_channel) {
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        let callback: ares_addrinfo_callback = { context, status, _, result in
            unsafe Unmanaged<Lookup>.fromOpaque(context!).takeRetainedValue().finish(status, result)
        }
        // Not sorted by c-ares, which asks the kernel about each of thousands of addresses.
        var hints = ares_addrinfo_hints()
        hints.ai_flags = Int32(ARES_AI_NOSORT)
        unsafe ares_getaddrinfo(channel, name, nil, &hints, callback, context)
        isWaiting = true
    }

    private func finish(_ status: Int32, _ result: UnsafeMutablePointer<ares_addrinfo>?) {
        guard status == ARES_SUCCESS, let result = unsafe result else {
            outcome = .failure(ResolverError(status: status))
            return
        }
        outcome = unsafe outcome(of: result)
        unsafe ares_freeaddrinfo(result)
    }

    private func outcome(of result: UnsafeMutablePointer<ares_addrinfo>) -> Result<Resolution, ResolverError> {
        var addresses: [SocketAddress] = []
        var timeToLive = isWaiting ? Int(Int32.max) : Self.hostsTimeToLive
        var node = unsafe result.pointee.nodes
        while let this = unsafe node {
            let count = unsafe Int(this.pointee.ai_addrlen)
            let bytes = unsafe UnsafeRawBufferPointer(start: this.pointee.ai_addr, count: count)
            if let address = unsafe SocketAddress(bytes: Array(bytes).span) {
                addresses.append(address.with(port: port))
            }
            if isWaiting { timeToLive = unsafe min(timeToLive, Int(this.pointee.ai_ttl)) }
            unsafe node = this.pointee.ai_next
        }
        var alias = unsafe result.pointee.cnames
        while isWaiting, let this = unsafe alias {
            timeToLive = unsafe min(timeToLive, Int(this.pointee.ttl))
            unsafe alias = this.pointee.next
        }
        if addresses.isEmpty { return .failure(.noAddress) }
        let sorted = DestinationOrder(source: SourceAddress.of).sorted(addresses)
        return .success(Resolution(addresses: sorted, timeToLive: timeToLive))
    }
}
