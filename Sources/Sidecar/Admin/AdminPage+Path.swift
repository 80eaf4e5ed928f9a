internal import Configuration

extension AdminPage {
    /// The page at a path; some have a second one, which other programs of this kind use.
    init?(path: String) {
        let page = Self.allCases.first { $0.path == path }
        switch path {
        case "/live": self = .healthz
        case "/ready": self = .readyz
        default:
            guard let page else { return nil }
            self = page
        }
    }

    /// Where the page is.
    var path: String { self == .calls ? "/calls/recent" : "/\(rawValue)" }

    /// Whether the page changes something, so that it takes POST; the others take GET and change nothing.
    var changesSomething: Bool { self == .reload || self == .drain }
}
