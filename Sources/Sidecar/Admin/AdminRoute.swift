internal import Configuration

/// One page of the admin socket.
struct AdminRoute: Sendable {
    /// GET changes nothing; what changes something is POST.
    enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
    }

    typealias Respond = (AdminResponse) -> Void

    /// The word that `pages` uses for it; nil for the list of pages, which every address serves.
    let page: AdminPage?
    let method: Method
    /// Where the page is, and where other programs of this kind have it.
    let paths: [String]
    /// The parameters that its query may have.
    let parameters: [String]
    /// What the page does, in one sentence.
    let summary: String
    /// Responds, now or when the workers have said what is needed.
    let handle: @Sendable (AdminPages, AdminRequest, @escaping Respond) -> Void

    /// Declares a page.
    init(
        _ method: Method,
        _ paths: String...,
        page: AdminPage?,
        parameters: [String] = [],
        _ summary: String,
        _ handle: @escaping @Sendable (AdminPages, AdminRequest, @escaping Respond) -> Void
    ) {
        (self.method, self.paths, self.page) = (method, paths, page)
        (self.parameters, self.summary, self.handle) = (parameters, summary, handle)
    }

    /// Whether an address that other machines reach may serve the page.
    var isForOthers: Bool { page?.isForOthers ?? true }

    /// Why there is no page for a request: a response that says so.
    struct Rejection: Error {
        let response: AdminResponse.Whole
    }

    /// The page that a request is for, among those that its address serves.
    static func route(_ request: AdminRequest, among pages: Set<AdminPage>) throws(Rejection) -> AdminRoute {
        let path = request.path
        guard let route = served(pages).first(where: { $0.paths.contains(path) }) else {
            throw Rejection(response: .init(status: 404, text: "page not found; GET / lists the pages"))
        }
        let method = route.method.rawValue
        guard request.method == method || request.isHead && route.method == .get else {
            throw Rejection(response: .init(status: 405, text: "\(path) requires \(method)", allow: method))
        }
        guard let query = request.query else {
            let text = "the query has an escape that is not valid; write a percent sign as %25"
            throw Rejection(response: .init(status: 400, text: text))
        }
        if let name = query.names.first(where: { !route.parameters.contains($0) }) {
            let advice =
                route.parameters.isEmpty
                ? "\(path) has no parameters" : Suggestion.text(for: name, among: route.parameters)
            let text = "unknown parameter \(Diagnostic.quote(name)); \(advice)"
            throw Rejection(response: .init(status: 400, text: text))
        }
        return route
    }

    /// The list of the pages that an address serves, a line each.
    static func index(_ pages: Set<AdminPage>) -> String {
        let named = served(pages).filter { $0.page != nil }
        let width = all.map(\.paths[0].count).max() ?? 0
        return named.map { route in
            let method = route.method == .get ? "GET " : "POST"
            let padding = String(repeating: " ", count: width - route.paths[0].count)
            return "\(method) \(route.paths[0])\(padding)  \(route.summary)"
        }
        .joined(separator: "\n")
    }

    private static func served(_ pages: Set<AdminPage>) -> [AdminRoute] {
        all.filter { route in route.page.map(pages.contains) ?? true }
    }
}
