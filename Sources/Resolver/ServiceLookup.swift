internal import CAres

/// The SRV records of a name that have been asked for; c-ares keeps it alive as it does ``Lookup``.
final class ServiceLookup: PendingLookup {
    let completion: (Result<ServiceRecords, ResolverError>) -> Void
    private(set) var outcome: Result<ServiceRecords, ResolverError>?

    /// The class IN and the type SRV.
    private static let (internet, service): (Int32, Int32) = (1, 33)

    init(completion: @escaping (Result<ServiceRecords, ResolverError>) -> Void) {
        self.completion = completion
    }

    @unsafe
    func start(_ name: String, on channel: ares_channel) {
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        let callback: ares_callback = { context, status, _, bytes, count in
            let lookup = unsafe Unmanaged<ServiceLookup>.fromOpaque(context!).takeRetainedValue()
            let message = unsafe UnsafeBufferPointer(start: bytes, count: Int(count))
            unsafe lookup.finish(status, Array(message))
        }
        unsafe ares_query(channel, name, Self.internet, Self.service, callback, context)
    }

    private func finish(_ status: Int32, _ message: [UInt8]) {
        guard status == ARES_SUCCESS else {
            outcome = .failure(ResolverError(status: status))
            return
        }
        do throws(ResolverError) {
            outcome = .success(try ServiceRecords(message))
        } catch {
            outcome = .failure(error)
        }
    }
}
