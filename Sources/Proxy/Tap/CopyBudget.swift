/// How many bytes a worker keeps of calls under way, for people who look at them.
///
/// Belongs to the worker's thread.
final class CopyBudget {
    /// Beyond it, bodies are not kept.
    private static let limit = 8 << 20

    private(set) var held = 0

    /// How many bytes may be kept of what could have `max`.
    func room(_ max: Int) -> Int { held < Self.limit ? max : 0 }

    /// More bytes are kept, or fewer.
    func add(_ count: Int) { held += count }
}
