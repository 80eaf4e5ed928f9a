/// The events of a call that an interceptor asks for; a call pays only for those that somebody in its chain asks for.
public struct EventSet: OptionSet, Sendable {
    public let rawValue: UInt32

    /// Makes a set of events from its bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The head of the request, before it goes upstream.
    public static let requestHead = EventSet(rawValue: 1)
    /// Each message of the request, without envelope and decompressed; plain HTTP has none.
    public static let requestMessages = EventSet(rawValue: 2)
    /// The end of the request.
    public static let requestEnd = EventSet(rawValue: 4)
    /// The head of the response, before it goes to the caller.
    public static let responseHead = EventSet(rawValue: 8)
    /// Each message of the response, without envelope and decompressed; plain HTTP has none.
    public static let responseMessages = EventSet(rawValue: 16)
    /// The end of the response, whatever it is.
    ///
    /// Responses of one bare message are held until it has come.
    public static let responseEnd = EventSet(rawValue: 32)
    /// The end of a response that is an error; not for what the upstream sends in plain HTTP, which has no such end.
    public static let responseErrors = EventSet(rawValue: 64)
    /// The end of a response whose trailers come behind its messages; made where there are none, so that fields can be
    /// added.
    ///
    /// In unary Connect they are in the head: unless that waits for the end, `responseHead` is called, and the trailers are
    /// its fields that begin with `trailer-`.
    public static let responseTrailers = EventSet(rawValue: 128)
    /// The end of the call, whatever became of it.
    public static let finished = EventSet(rawValue: 256)
    /// Messages are counted in both directions.
    public static let messageCounts = EventSet(rawValue: 512)
    /// No event: the interceptor may return `retry`.
    ///
    /// What goes upstream of a request is kept, up to the upstream's `limits.retry_buffer`, and the head of a
    /// response that has envelopes waits a moment for what follows, until something of it goes out.
    public static let retries = EventSet(rawValue: 1024)

    /// The whole body of a response in plain HTTP, and of an error in unary Connect, as one message; not of errors that are
    /// made here.
    ///
    /// In plain HTTP only a body in JSON of at most `limits.held_message`; it is held until it has come, and so is a response
    /// without a body.
    public static let plainBodies = EventSet(rawValue: 2048)

    /// The head of a response whose status is an error, or that is all there is, and the end of one that is an error; it cannot
    /// be changed there.
    ///
    /// Unlike with `responseErrors`, nothing is looked at of responses that go well.
    public static let errors = EventSet(rawValue: 4096)

    /// The end of a call that the interceptor has let be retried, whatever became of it.
    public static let finishedRetries = EventSet(rawValue: 8192)

    /// The bytes of bodies in plain HTTP, as they leave the chain; nothing is held for it.
    public static let plainBytes = EventSet(rawValue: 16384)

    /// The bytes of a response's body as they pass the interceptor, in every protocol, and the end of the response; nothing is
    /// held for it, and nothing can be changed.
    public static let responseBytes = EventSet(rawValue: 32768)

    /// The heads of interim responses (1xx) of the upstream; they cannot be changed.
    public static let interimHeads = EventSet(rawValue: 65536)

    /// The ends of responses, for one reason or another.
    static let anyEnd: EventSet = [.responseEnd, .responseErrors, .responseTrailers]

    /// What it asks for that comes before the outcome is known.
    var early: EventSet { subtracting([.anyEnd, .finished]) }
}
