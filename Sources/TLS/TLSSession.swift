public import Bytes
internal import COpenSSL

/// The state of TLS on one connection: a transform between what is on the wire and what is meant.
///
/// No I/O: the owner gives what has arrived and sends what the output queue holds after each call. Belongs to one
/// thread. It fails once and stays so; the output then holds the alert that tells the other end, if there is one.
@safe
public final class TLSSession {
    private enum Phase { case handshaking, established, failed }

    /// The most bytes of one record (RFC 8446 §5.1); no call of `receive` gives that much more than it was given.
    public static let recordSize = 16 * 1024

    /// How many messages of the handshake the other end may send in all, also after the handshake; alerts of ours count, too.
    ///
    /// New keys, tickets and attempts at another handshake come after it (RFC 8446 §4.6, RFC 5246 §7.4.1.1). Each new key costs as much as
    /// a small call and brings no byte. The owner allows more as time passes.
    public var allowedMessages = maxMessages

    /// How many messages of the handshake are allowed at first.
    public static let maxMessages = 100

    /// Why the session failed; nil while it has not.
    public private(set) var error: TLSError?
    /// Whether the other end has said that it sends no more.
    public private(set) var hasEnded = false
    /// What both ends have agreed to speak, by its name in ALPN (RFC 7301); nil if nothing was said.
    public private(set) var negotiatedProtocol: String?

    let ssl: OpaquePointer
    private let context: TLSContext
    /// What was offered by ALPN, or may be chosen.
    private var offered: [String]
    /// Whom the certificate must be for, in words of an error.
    private let name: String
    private let resumption: TLSResumption?
    private let output: ByteQueue
    private var phase = Phase.handshaking
    private var hasSaidEnd = false
    private var messages = 0
    /// What has been given and OpenSSL has not read, during a call of `receive`.
    private var input = unsafe UnsafeBufferPointer<UInt8>(start: nil, count: 0)

    /// Makes the client's end of a connection; `output` gets what is to be sent.
    ///
    /// - Parameters:
    ///   - client: whom to trust and what to say.
    ///   - resumption: where the session is kept for the next connection, and taken from.
    ///   - protocols: what is offered by ALPN, if it is not all that the context names.
    ///   - output: gets what is to be sent.
    public convenience init(
        _ client: TLSClientContext,
        resuming resumption: TLSResumption,
        offering protocols: [String]? = nil,
        output: ByteQueue
    ) {
        self.init(client.context, name: client.name, resumption: resumption, output: output)
        if let protocols { offer(protocols) }
        unsafe SSL_set_connect_state(ssl)
        // An address is no name, and must not be told as one (RFC 6066 §3).
        if !client.isAddress { unsafe martlet_ssl_set_server_name(ssl, client.name) }
        if let session = unsafe resumption.resumable { unsafe SSL_set_session(ssl, session) }
    }

    /// Makes the server's end of a connection; `output` gets what is to be sent.
    public convenience init(_ server: TLSServerContext, output: ByteQueue) {
        self.init(server.context, name: "", resumption: nil, output: output)
        unsafe SSL_set_accept_state(ssl)
    }

    private func offer(_ protocols: [String]) {
        offered = protocols
        let list = TLSContext.list(protocols)
        unsafe list.withUnsafeBufferPointer { list in
            unsafe _ = SSL_set_alpn_protos(ssl, list.baseAddress, UInt32(list.count))
        }
    }

    private init(_ context: TLSContext, name: String, resumption: TLSResumption?, output: ByteQueue) {
        self.context = context
        offered = context.protocols
        self.name = name
        self.resumption = resumption
        self.output = output
        guard let ssl = unsafe SSL_new(context.raw) else { fatalError("out of memory creating a TLS session") }
        unsafe self.ssl = ssl
        let pipe = unsafe SessionPipe.make(for: self)
        unsafe SSL_set_bio(ssl, pipe, pipe)
    }

    deinit {
        // Else OpenSSL takes the TCP connection's end for a sign that the session must not be resumed.
        unsafe SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        unsafe SSL_free(ssl)
    }

    /// Whether the handshake is over and bytes can be sent.
    public var isEstablished: Bool { phase == .established }

    /// Whether the session goes on from an earlier one.
    public var isResumed: Bool { unsafe SSL_session_reused(ssl) == 1 }

    /// Begins the handshake; to be called once at the client's end.
    public func start() {
        handshake()
    }

    /// Takes bytes that have arrived, all of them, and appends what they mean to `plaintext`, at most `room` bytes.
    ///
    /// - Precondition: `room` is at least the number of bytes and `recordSize` more.
    public func receive(_ bytes: Span<UInt8>, into plaintext: ByteQueue, room: Int) {
        precondition(room >= bytes.count + Self.recordSize)
        unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe input = buffer
            if phase == .handshaking { handshake() }
            if phase == .established, !hasEnded { decrypt(into: plaintext, limit: plaintext.count + room) }
            unsafe input = UnsafeBufferPointer(start: nil, count: 0)
        }
        if messages > allowedMessages, phase != .failed { exceeded() }
    }

    /// Appends `bytes` to the output, encrypted.
    ///
    /// - Precondition: the session is established.
    public func send(_ bytes: Span<UInt8>) {
        precondition(isEstablished)
        guard bytes.count > 0 else { return }
        ErrorQueue.clear()
        let result = unsafe bytes.withUnsafeBytes { unsafe SSL_write(ssl, $0.baseAddress, Int32($0.count)) }
        if result <= 0 { fail() }
    }

    /// Takes it that the connection is over without the other end having said so.
    public func receiveEnd() {
        guard phase == .handshaking else { return }
        fail(.closed)
    }

    /// Tells the other end that nothing more comes (the alert `close_notify`), once.
    public func end() {
        guard phase == .established, !hasSaidEnd else { return }
        hasSaidEnd = true
        ErrorQueue.clear()
        _ = unsafe SSL_shutdown(ssl)
        ErrorQueue.clear()
    }

    // MARK: Stepping

    private func handshake() {
        ErrorQueue.clear()
        let result = unsafe SSL_do_handshake(ssl)
        guard result == 1 else { return stopped(result) }
        phase = .established
        negotiatedProtocol = chosenProtocol
        // A server must not choose what it was not offered.
        guard let chosen = negotiatedProtocol, !offered.contains(chosen) else { return }
        fail(.malformed("the peer selected the protocol \(chosen)"))
    }

    private var chosenProtocol: String? {
        var bytes: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        unsafe SSL_get0_alpn_selected(ssl, &bytes, &count)
        guard count > 0 else { return nil }
        return unsafe String(decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
    }

    private func decrypt(into plaintext: ByteQueue, limit: Int) {
        ErrorQueue.clear()
        repeat {
            let room = max(1, min(Self.recordSize, limit - plaintext.count))
            var result: Int32 = 0
            _ = unsafe plaintext.append(room: room) { buffer in
                unsafe result = SSL_read(ssl, buffer.baseAddress, Int32(buffer.count))
                return Int(result)
            }
            guard result > 0 else { return stopped(result) }
        } while unsafe !input.isEmpty || SSL_pending(ssl) > 0
    }

    /// OpenSSL did not get on: for want of bytes, or for good.
    private func stopped(_ result: Int32) {
        switch unsafe SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return
        case SSL_ERROR_ZERO_RETURN: hasEnded = true
        default: fail()
        }
    }

    private func fail() {
        let verification = unsafe SSL_get_verify_result(ssl)
        fail(TLSError(ErrorQueue.popProtocolError(), verification: verification, name: name))
    }

    private func fail(_ error: TLSError) {
        self.error = error
        phase = .failed
        resumption?.clear()
    }

    private func exceeded() {
        fail(.malformed("the peer sent too many handshake messages"))
    }

    // MARK: What OpenSSL calls

    /// The session of an `SSL`.
    @unsafe
    static func of<Result>(_ ssl: OpaquePointer, _ body: (TLSSession) -> Result) -> Result {
        unsafe SessionPipe.session(of: SSL_get_rbio(ssl)!, body)
    }

    /// Gives as many of the arrived bytes as there are, at most `count`.
    @unsafe
    func read(_ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
        guard messages <= allowedMessages else { return 0 }
        let taken = unsafe min(count, input.count)
        guard taken > 0 else { return 0 }
        unsafe bytes.copyMemory(from: input.baseAddress!, byteCount: taken)
        unsafe input = UnsafeBufferPointer(rebasing: input[taken...])
        return taken
    }

    /// Counts a message of the handshake that has come.
    func countMessage() {
        messages += 1
    }

    /// Takes bytes that are to be sent.
    @unsafe
    func put(_ bytes: UnsafeRawPointer, _ count: Int) {
        let bytes = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
        output.append(unsafe Span(_unsafeBytes: bytes))
    }

    /// Takes over an `SSL_SESSION`, if there is a place for it.
    @unsafe
    func keep(_ session: OpaquePointer) -> Bool {
        guard let resumption else { return false }
        unsafe resumption.keep(session)
        return true
    }
}
