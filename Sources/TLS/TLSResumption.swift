internal import COpenSSL

/// The last session with an upstream, by which the next connection spares the certificates (RFC 8446 §2.2).
///
/// Belongs to one thread.
@safe
public final class TLSResumption {
    private var session: OpaquePointer?

    /// Remembers nothing yet.
    public init() {}

    deinit {
        clear()
    }

    /// Whether there is a session to resume.
    public var isEmpty: Bool { unsafe session == nil }

    /// The session, if it is still good for something; unsafe because it is a bare pointer.
    @unsafe
    var resumable: OpaquePointer? {
        guard let session = unsafe session, unsafe SSL_SESSION_is_resumable(session) == 1 else { return nil }
        return unsafe session
    }

    /// Takes over a session in the place of the one before; unsafe because it is a bare pointer.
    @unsafe
    func keep(_ new: OpaquePointer) {
        clear()
        unsafe session = new
    }

    /// Begins the next connection from scratch.
    func clear() {
        if let session = unsafe session { unsafe SSL_SESSION_free(session) }
        unsafe session = nil
    }
}
