/// The two labels that name a method.
public struct MethodName: Hashable, Comparable, Sendable {
    /// The full name of the service, or nothing for `other`.
    public let service: String
    /// The name of the method.
    public let method: String

    /// Names a method.
    public init(service: String, method: String) {
        self.service = service
        self.method = method
    }

    /// Stands for plain HTTP and for all methods that are not counted by name.
    public static let other = MethodName(service: "", method: "_OTHER")

    /// Whether `left` comes first: by service, then by method.
    public static func < (left: MethodName, right: MethodName) -> Bool {
        (left.service, left.method) < (right.service, right.method)
    }
}
