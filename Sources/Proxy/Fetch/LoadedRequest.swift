/// A request whose files have been read; their bytes count for `limits.memory` as long as it is there.
///
/// Safe on any thread.
final class LoadedRequest: Sendable {
    let request: FetchRequest
    /// The bytes of the body.
    let size: Int
    private let memory: MemoryBudget

    /// Reads the files of `request`, unless so much is held that there is no room.
    ///
    /// The thread waits for the disk: it must not be a worker's.
    init(_ request: FetchRequest, memory: MemoryBudget) throws(NamedCallError) {
        guard !memory.isExhausted else { throw .shortOfMemory }
        self.request = try request.loaded()
        self.memory = memory
        size = if case .bytes(let bytes) = self.request.body { bytes.count } else { 0 }
        memory.add(size)
    }

    deinit {
        memory.add(-size)
    }
}
