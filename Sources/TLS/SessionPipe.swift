internal import COpenSSL

/// The pipe between OpenSSL and a session: a BIO that reads what the session has been given, and writes to its output.
///
/// Not OpenSSL's own memory BIOs: those keep their buffers, also while a connection idles, and copy once more.
enum SessionPipe {
    /// Makes one; `session` must outlive it.
    @unsafe
    static func make(for session: TLSSession) -> OpaquePointer {
        guard let bio = unsafe BIO_new(method) else { fatalError("out of memory creating a TLS session") }
        unsafe BIO_set_data(bio, Unmanaged.passUnretained(session).toOpaque())
        unsafe BIO_set_init(bio, 1)
        return unsafe bio
    }

    /// The session at the other end of a pipe.
    @unsafe
    static func session<Result>(of bio: OpaquePointer, _ body: (TLSSession) -> Result) -> Result {
        unsafe Unmanaged<TLSSession>.fromOpaque(BIO_get_data(bio)!)._withUnsafeGuaranteedRef { body($0) }
    }

    /// Never changed after it has been made.
    private nonisolated(unsafe) static let method: OpaquePointer = {
        let method = unsafe BIO_meth_new(martlet_bio_new_type(), "martlet")!
        unsafe BIO_meth_set_read(method) { bio, bytes, count in
            let taken = unsafe session(of: bio!) { unsafe $0.read(UnsafeMutableRawPointer(bytes!), Int(count)) }
            if taken == 0 { unsafe martlet_bio_retry_read(bio) }
            return taken == 0 ? -1 : Int32(taken)
        }
        unsafe BIO_meth_set_write(method) { bio, bytes, count in
            unsafe session(of: bio!) { unsafe $0.put(UnsafeRawPointer(bytes!), Int(count)) }
            return count
        }
        unsafe BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
        return unsafe method
    }()
}
