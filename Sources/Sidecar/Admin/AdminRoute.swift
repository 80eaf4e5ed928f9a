internal import Configuration

/// One page of the admin socket.
struct AdminRoute: Sendable {
    /// GET changes nothing; what changes something is POST or DELETE.
    enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case delete = "DELETE"
    }

    typealias Respond = (AdminResponse) -> Void

    /// The word that `pages` uses for it; nil for the list of pages, which every address serves.
    let page: AdminPage?
    let method: Method
    /// Where the page is, and where other programs of this kind have it; `{name}` stands for a name of the configuration.
    let paths: [String]
    /// The parameters that its query may have.
    let parameters: [String]
    /// Whether it is a part of the dashboard, which the list of pages leaves out.
    let isPart: Bool
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
        isPart: Bool = false,
        _ summary: String,
        _ handle: @escaping @Sendable (AdminPages, AdminRequest, @escaping Respond) -> Void
    ) {
        (self.method, self.paths, self.page) = (method, paths, page)
        (self.parameters, self.isPart) = (parameters, isPart)
        (self.summary, self.handle) = (summary, handle)
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
        let routes = served(pages).filter { $0.paths.contains { name(in: path, by: $0) != nil } }
        guard !routes.isEmpty else {
            let isTap = all.contains { $0.page == .tap && $0.paths.contains { name(in: path, by: $0) != nil } }
            let text = "this address has no tap; add tap: true to it in the file, or use a Unix socket"
            guard !isTap else { throw Rejection(response: .init(status: 403, text: text)) }
            throw Rejection(response: .init(status: 404, text: "page not found; GET / lists the pages"))
        }
        let fit = routes.first { request.method == $0.method.rawValue || request.isHead && $0.method == .get }
        guard let route = fit else {
            let methods = routes.map(\.method.rawValue)
            let text = "\(path) requires \(methods.joined(separator: " or "))"
            throw Rejection(response: .init(status: 405, text: text, .init("allow", methods.joined(separator: ", "))))
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

    /// What a path has in the place of `{name}`; nothing where there is no such place, and none if the path is another.
    static func name(in path: String, by pattern: String) -> String? {
        guard let place = pattern.firstRange(of: "{name}") else { return path == pattern ? "" : nil }
        let (start, end) = (pattern[..<place.lowerBound], pattern[place.upperBound...])
        guard path.utf8.count > start.utf8.count + end.utf8.count, path.hasPrefix(start), path.hasSuffix(end) else {
            return nil
        }
        let name = path.dropFirst(start.count).dropLast(end.count)
        return name.contains("/") ? nil : String(name)
    }

    /// The list of the pages that an address serves, a line each.
    static func index(_ pages: Set<AdminPage>) -> String {
        // An address without the dashboard has but one use for the path of the list.
        let named = served(pages).filter { ($0.page != nil || pages.contains(.dashboard)) && !$0.isPart }
        let width = all.filter { !$0.isPart }.map(\.paths[0].count).max() ?? 0
        return named.map { route in
            let method = route.method.rawValue
            let gap = String(repeating: " ", count: 7 - method.count)
            let padding = String(repeating: " ", count: width - route.paths[0].count)
            return "\(method)\(gap)\(route.paths[0])\(padding)  \(route.summary)"
        }
        .joined(separator: "\n")
    }

    private static func served(_ pages: Set<AdminPage>) -> [AdminRoute] {
        all.filter { route in route.page.map(pages.contains) ?? true }
    }
}
