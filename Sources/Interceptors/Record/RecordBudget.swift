/// How many bytes of calls under way a worker has recorded, whose documents are not written yet.
///
/// Belongs to the worker's thread.
final class RecordBudget {
    /// Beyond it, calls are not recorded whole.
    static let limit = 64 << 20

    var held = 0
}
