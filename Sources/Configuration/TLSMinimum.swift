/// The oldest version of TLS that is good enough.
public enum TLSMinimum: String, CaseIterable, Sendable {
    /// TLS 1.2.
    case tls12 = "1.2"
    /// TLS 1.3.
    case tls13 = "1.3"

    static let option = Option(
        "minimum",
        .choice(allCases.map(\.rawValue)),
        "The lowest TLS version that Martlet accepts. The default is 1.2."
    )

    /// Reads the option above.
    init(_ section: Section) {
        self = Self(rawValue: section.string("minimum")) ?? .tls12
    }
}
