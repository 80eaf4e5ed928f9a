internal import Bytes

/// The name of a method, or of all methods of a service, as `service/method` or `service/*`.
public struct MethodPattern: Equatable, Sendable {
    /// The full name of the service.
    public let service: [UInt8]
    /// The name of the method; `*` is all of the service.
    public let method: [UInt8]

    /// Reads a name; none if it is malformed, which is reported.
    public init?(_ name: MarkedString, into diagnostics: Diagnostics) {
        let parts = name.text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts.contains("") else {
            let advice = "write a service and a method without a slash before them, such as shop.v1.Catalog/Get"
            diagnostics.report("a method cannot be \(Diagnostic.quote(name.text)); \(advice)", at: name.mark)
            return nil
        }
        (service, method) = (Array(parts[0].utf8), Array(parts[1].utf8))
    }
}
