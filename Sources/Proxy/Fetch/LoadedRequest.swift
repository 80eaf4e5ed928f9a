/// A request whose files have been read; their bytes count for `limits.memory` as long as it is there.
///
/// Safe on any thread.
final class LoadedRequest: Sendable {
    let request: FetchRequest
    private let memory: HeldMemory

    /// Creates a request whose body counts in `memory`.
    init(_ request: FetchRequest, memory: HeldMemory) {
        (self.request, self.memory) = (request, memory)
    }

    /// The bytes of the body.
    var size: Int { memory.bytes }
}
