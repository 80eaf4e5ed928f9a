/// The kinds of interceptors that a configuration may name.
public struct Registry: Sendable {
    /// The kinds, in the order of the reference page.
    public let kinds: [InterceptorKind]

    /// Takes kinds, of which no two have the same name.
    public init(kinds: [InterceptorKind]) { self.kinds = kinds }

    /// The same kinds and `more`.
    ///
    /// - Precondition: no two kinds have the same name.
    public func adding(_ more: [InterceptorKind]) -> Registry {
        let all = kinds + more
        for (index, kind) in all.enumerated() where all[..<index].contains(where: { $0.name == kind.name }) {
            preconditionFailure("two interceptor kinds have the name \(kind.name)")
        }
        return Registry(kinds: all)
    }

    /// The kind of that name.
    func kind(named name: String) -> InterceptorKind? {
        kinds.first { $0.name == name }
    }
}
