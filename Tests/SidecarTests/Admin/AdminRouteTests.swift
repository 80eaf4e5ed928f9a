import Bytes
import Configuration
import Testing

@testable import Sidecar

/// The table of the admin pages.
@Suite struct AdminRouteTests {
    private static func request(_ method: String, _ path: String, _ query: String = "") -> AdminRequest {
        AdminRequest(
            method: method,
            path: path,
            query: AdminQuery(Array(query.utf8).span),
            originError: nil,
            acceptsHTML: false
        )
    }

    private static func route(
        _ method: String,
        _ path: String,
        _ query: String = "",
        among pages: Set<AdminPage> = Set(AdminPage.allCases)
    ) -> Result<AdminRoute, AdminRoute.Rejection> {
        Result { () throws(AdminRoute.Rejection) in
            try AdminRoute.route(request(method, path, query), among: pages)
        }
    }

    private static func rejection(
        _ method: String,
        _ path: String,
        _ query: String = "",
        among pages: Set<AdminPage> = Set(AdminPage.allCases)
    ) -> AdminResponse.Whole? {
        guard case .failure(let rejection) = route(method, path, query, among: pages) else { return nil }
        return rejection.response
    }

    @Test func `each page is there once`() {
        #expect(Set(AdminRoute.all.compactMap(\.page)) == Set(AdminPage.allCases))
        let paths = AdminRoute.all.flatMap { route in route.paths.map { "\(route.method) \($0)" } }
        #expect(Set(paths).count == paths.count)
        #expect(AdminRoute.all.allSatisfy { $0.summary.hasSuffix(".") })
    }

    @Test func `what other machines may reach changes nothing`() {
        #expect(AdminRoute.all.filter(\.isForOthers).allSatisfy { $0.method == .get })
    }

    @Test(arguments: Set(AdminRoute.all.map(\.paths[0])).sorted())
    func `a page has its methods, and HEAD beside GET`(path: String) throws {
        let methods = AdminRoute.all.filter { $0.paths[0] == path }.map(\.method.rawValue)
        for other in ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "get"] {
            let isRight = methods.contains(other) || other == "HEAD" && methods.contains("GET")
            let rejection = Self.rejection(other, path.replacing("{name}", with: "orders"))
            #expect((rejection == nil) == isRight)
            guard let rejection else { continue }
            #expect(rejection.status == 405)
            #expect(rejection.fields == [.init("allow", methods.joined(separator: ", "))])
        }
    }

    @Test(arguments: [
        ("/mocks/a/calls", "a"), ("/mocks//calls", nil), ("/mocks/a/b/calls", nil), ("/mocks/calls", nil),
    ])
    func `a part of a path may be a name`(path: String, name: String?) {
        #expect(AdminRoute.name(in: path, by: "/mocks/{name}/calls") == name)
    }

    @Test(arguments: ["/none", "", "/healthz/", "//healthz", "/calls"])
    func `another path is not found`(path: String) {
        #expect(Self.rejection("GET", path) == .init(status: 404, text: "page not found; GET / lists the pages"))
    }

    @Test func `a page that the address does not serve is not found`() {
        #expect(Self.rejection("GET", "/config", among: [.metrics])?.status == 404)
        #expect(Self.rejection("POST", "/metrics", among: [.metrics])?.status == 405)
        #expect(Self.rejection("GET", "/live", among: [.healthz]) == nil)
        #expect(Self.rejection("GET", "/", among: [.metrics]) == nil)
    }

    @Test(
        arguments: [
            ("folow=true", "unknown parameter \"folow\"; did you mean \"follow\"?"),
            ("follow=true&x", "unknown parameter \"x\"; expected one of: follow"),
            ("follow=%zz", "the query has an escape that is not valid; write a percent sign as %25"),
            ("%4=", "the query has an escape that is not valid; write a percent sign as %25"),
        ]
    )
    func `a query that is not understood is rejected`(query: String, text: String) {
        #expect(Self.rejection("GET", "/calls/recent", query) == .init(status: 400, text: text))
    }

    @Test func `a page without parameters rejects them`() {
        let text = "unknown parameter \"a\"; /status has no parameters"
        #expect(Self.rejection("GET", "/status", "a=b") == .init(status: 400, text: text))
        #expect(Self.rejection("GET", "/status", "&&") == nil)
    }

    @Test func `the list of pages names those that an address serves`() {
        let index = AdminRoute.index([.metrics, .drain])
        #expect(
            index.split(separator: "\n") == [
                "GET    /metrics             Shows the metrics in Prometheus's text format, or in OpenMetrics.",
                "POST   /drain               Responds 202 and does what SIGTERM does.",
            ]
        )
    }

    @Test func `an address with the dashboard lists it, and not its parts`() {
        let lines = AdminRoute.index([.dashboard, .drain]).split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines[0].hasPrefix("GET    /                    Shows the dashboard in a browser"))
    }
}

/// The parameters of a query.
@Suite struct AdminQueryTests {
    private static func query(_ text: String) -> AdminQuery? { AdminQuery(Array(text.utf8).span) }

    @Test func `names and values are decoded, and the first of a name counts`() throws {
        let query = try #require(Self.query("a=1&b%20c=d+e%2B%e2%82%ac&a=2&f&&g=x=y"))
        #expect(query.names == ["a", "b c", "a", "f", "g"])
        #expect(query["a"] == "1")
        #expect(query["b c"] == "d e+\u{20ac}")
        #expect(query["f"] == "")
        #expect(query["g"] == "x=y")
        #expect(query["h"] == nil)
    }

    @Test(arguments: ["%", "a=%4", "a=%g0", "%0", "a=b&c=%"])
    func `an escape that is broken makes no query`(text: String) {
        #expect(Self.query(text) == nil)
    }

    @Test func `there may be no query`() {
        #expect(Self.query("")?.names == [])
    }
}
