/// How a call ended, as far as the labels of the handled calls tell.
struct CallOutcome: Hashable, Comparable, Sendable {
    /// The route that the call took.
    let route: RouteLabel
    /// The number of the code (gRPC's numbers, 0 to 16).
    let code: UInt8

    /// Whether `left` comes first: by route, then by code.
    static func < (left: CallOutcome, right: CallOutcome) -> Bool {
        (left.route, left.code) < (right.route, right.code)
    }
}

extension [StaticString] {
    /// The value of the label `code`, where these are the names of the codes.
    func label(ofCode code: Int) -> String {
        indices.contains(code) ? self[code].description : "\(code)"
    }
}
