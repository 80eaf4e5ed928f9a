internal import Bytes
public import Documents
public import Protocols
internal import RPC

/// What becomes of one message on its way through the chain.
///
/// Belongs to the worker's thread, and to one message: good until the hook returns, or, if that suspends, until the
/// suspension is resumed.
public final class Message {
    /// What it is to its body.
    enum Form {
        /// One of several, in an envelope.
        case enveloped
        /// All of it.
        case bare
        /// All of it, and no message of RPC.
        case plain
    }

    /// Its number in its direction, from 1.
    public internal(set) var number = 0
    /// Whether it came compressed, and is to go on so.
    private(set) var isCompressed = false
    /// Whether it is other than what has arrived.
    private(set) var isChanged = false
    /// Whether it goes no further.
    private(set) var isDropped = false
    /// What it is to its body.
    private(set) var form: Form
    /// Who sends it.
    public let direction: Direction
    private let queues: ByteQueuePool
    /// The way to decompress the message, which is large and has not been decompressed yet.
    private(set) var packing: Packing?
    /// The reason why the message cannot be decompressed.
    private(set) var error: RPCError?
    /// The message as JSON, once somebody has asked for it.
    private var view: JSONValue??
    /// What is wrong with a message that was asked for as JSON, and is not of its type.
    public private(set) var flaw: MessageFlaw?
    /// The message where it is not what lies in the bytes that have arrived: decompressed, changed or held.
    private(set) var current: ByteQueue?
    /// The message as it has arrived, where it is held and `current` is not that.
    private var arrived: ByteQueue?
    private var replacement: ByteQueue?
    private var added: [[UInt8]] = []

    init(_ direction: Direction, isBare: Bool, queues: ByteQueuePool) {
        self.direction = direction
        form = isBare ? .bare : .enveloped
        self.queues = queues
    }

    deinit {
        release()
    }

    /// Replaces the message; lengths and compression are made to fit.
    public func replace(with payload: Span<UInt8>) {
        // The hook may be reading what is replaced.
        let queue = replacement ?? queues.acquire()
        replacement = queue
        queue.removeAll()
        queue.append(payload)
    }

    /// Lets the message go no further.
    ///
    /// A bare one becomes an empty one: its body cannot be without a message.
    public func drop() {
        if form == .enveloped { isDropped = true } else { replace(with: Span()) }
    }

    /// Lets `payload` go on as a message of its own behind this one, to the interceptors that follow.
    ///
    /// - Returns: false where messages are bare, which come alone.
    @discardableResult
    public func add(_ payload: Span<UInt8>) -> Bool {
        guard form == .enveloped else { return false }
        added.append(payload.array)
        return true
    }

    /// Reads the message, once it has been suspended; nil before, when the hook has got it as its payload.
    public func withPayload<Result>(_ body: (Span<UInt8>) -> Result) -> Result? {
        guard let current else { return nil }
        return body(current.readable)
    }

    /// The message as JSON: that of a message in Protobuf is its ProtoJSON, if its type is known.
    ///
    /// It is read once, however many interceptors ask.
    ///
    /// - Parameters:
    ///   - payload: the message, as the hook has got it.
    ///   - call: its call.
    /// - Returns: none for what is not JSON, and for a message of an unknown type.
    public func json(_ payload: Span<UInt8>, _ call: Call) -> JSONValue? {
        if let view { return view }
        let read = call.json(payload, direction, &flaw)
        view = .some(read)
        return read
    }

    // MARK: What the engine does with it

    /// Whether the message has been read as JSON, or proved to be something else.
    var isRead: Bool { view != nil }

    /// Keeps what the message was read as.
    func read(_ message: ReadMessage) {
        (view, flaw) = (.some(message.value), message.flaw)
    }

    /// Keeps the message if it has been decompressed, or the reason why it cannot be.
    func unpack(_ output: LargeMessage.Output) {
        (packing, error) = (nil, output.error)
        guard let payload = output.payload else { return }
        let queue = queues.acquire()
        queue.append(payload)
        current = queue
    }

    /// Becomes the next message.
    func begin(
        _ number: Int,
        isCompressed: Bool,
        isPlain: Bool = false,
        decompressed: ByteQueue? = nil,
        packing: Packing? = nil
    ) {
        release()
        self.packing = packing
        if form != .enveloped { form = isPlain ? .plain : .bare }
        current = decompressed
        self.number = number
        self.isCompressed = isCompressed
        isChanged = false
        isDropped = false
    }

    /// Gives back what is held of the message.
    func release() {
        for queue in [current, arrived, replacement] { if let queue { queues.release(queue) } }
        (current, arrived, replacement) = (nil, nil, nil)
        (added, view, flaw, packing, error) = ([], nil, nil, nil, nil)
    }

    /// Does what hooks have asked for.
    ///
    /// - Returns: the messages to go on behind this one.
    func settle() -> [[UInt8]] {
        if let replacement {
            if let current { queues.release(current) }
            current = replacement
            (self.replacement, view, flaw) = (nil, nil, nil)
            isChanged = true
        }
        guard !added.isEmpty else { return [] }
        defer { added = [] }
        return added
    }

    /// Keeps what has arrived beyond the call that brought it.
    func hold(_ bytes: Span<UInt8>) {
        guard !isChanged, arrived == nil, isCompressed || current == nil else { return }
        let queue = queues.acquire()
        queue.append(bytes)
        if isCompressed { arrived = queue } else { current = queue }
    }

    /// Whether the hook that was called last wants it otherwise.
    var isTouched: Bool { replacement != nil || isDropped || !added.isEmpty }

    /// How many bytes are kept.
    var heldBytes: Int { (current?.count ?? 0) + (arrived?.count ?? 0) }

    /// Reads the message as it has arrived; `bytes` are what has arrived, if that is not held.
    func withArrived<Result>(_ bytes: Span<UInt8>, _ body: (Span<UInt8>) -> Result) -> Result {
        if let arrived { return body(arrived.readable) }
        if !isCompressed, let current { return body(current.readable) }
        return body(bytes)
    }

    /// Reads the message as hooks see it; likewise.
    func withPayload<Result>(or bytes: Span<UInt8>, _ body: (Span<UInt8>) -> Result) -> Result {
        guard let current else { return body(bytes) }
        return body(current.readable)
    }
}
