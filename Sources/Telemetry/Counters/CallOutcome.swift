/// How a call ended, as far as the labels of the handled calls tell.
public struct CallOutcome: Hashable, Comparable, Sendable {
    /// The number of the route the call took, or -1 where it took none.
    public let route: Int
    /// The number of the code (gRPC's numbers, 0 to 16).
    public let code: UInt8

    /// Names the outcome of a call.
    public init(route: Int?, code: UInt8) {
        self.route = route ?? -1
        self.code = code
    }

    /// Whether `left` comes first: by route, then by code.
    public static func < (left: CallOutcome, right: CallOutcome) -> Bool {
        (left.route, left.code) < (right.route, right.code)
    }

    /// The value of the label `route`.
    var routeLabel: String {
        route < 0 ? "none" : "\(route)"
    }

    /// The value of the label `code`.
    func codeLabel(_ names: [StaticString]) -> String {
        names.indices.contains(Int(code)) ? names[Int(code)].description : "\(code)"
    }
}
