internal import Bytes
internal import Configuration
internal import HTTP
internal import Protocols
internal import Proxy

/// Lets the browsers of `martlet dashboard` through to the admin address, and nobody else.
struct DashboardGatePlan: InterceptorPlan {
    /// The name of the kind, which no file can use: only the command registers it.
    static let name = "dashboard_gate"

    /// The kind, for one run of the command.
    static func kind(_ access: DashboardAccess) -> InterceptorKind {
        InterceptorKind(
            name: name,
            summary: "Lets browsers through that have the cookie.",
            responds: true,
            options: [],
            plan: { _, _ in DashboardGatePlan(access: access) }
        )
    }

    let events: EventSet = .requestHead
    let access: DashboardAccess

    func instance(on worker: WorkerServices) -> any Interceptor { DashboardGate(access) }
}

/// Checks host, origin and cookie of each request, and sends it on as a program of this machine would.
final class DashboardGate: Interceptor {
    /// What is for this command alone: the admin address has rules of its own for what browsers send.
    private static let ownFields = [
        "cookie", "origin", "referer", "sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest", "sec-fetch-user",
    ]
    .map { FieldName($0) }

    private let access: DashboardAccess

    init(_ access: DashboardAccess) { self.access = access }

    func requestHead(_ call: Call) -> Verdict {
        let received = call.received
        if let error = AdminAccess.loopback.error(for: BrowserOrigin(received)) { return reject(error) }
        let isAdmitted = access.admits(cookies: received.values(of: "cookie"))
        if let token = AdminQuery(received.query)?["token"] {
            if received.method.string == "GET", let cookie = access.exchange(token) { return openPage(cookie) }
            if isAdmitted { return openPage(nil) }
            return reject("this address was used already; open the one that martlet dashboard printed last")
        }
        guard isAdmitted else { return reject("open the address that martlet dashboard printed last, with its token") }
        let request = call.request
        for name in Self.ownFields { while let index = request.first(name) { request.remove(at: index) } }
        request.setAuthority(Array("localhost".utf8).span)
        return .next
    }

    private func reject(_ text: String) -> Verdict {
        respond(403, [("content-type", "text/plain; charset=utf-8")], "\(text)\n")
    }

    /// Sends the browser to the page, and the token out of its address bar and its history.
    private func openPage(_ cookie: String?) -> Verdict {
        respond(
            303,
            [("location", "/"), ("referrer-policy", "no-referrer")] + (cookie.map { [("set-cookie", $0)] } ?? [])
        )
    }

    private func respond(_ status: Int, _ fields: [(String, String)], _ body: String = "") -> Verdict {
        let always = [("cache-control", "no-store"), ("x-content-type-options", "nosniff")]
        let headers = (fields + always).map { (name: Array($0.utf8), value: Array($1.utf8)) }
        return .respond(LocalResponse(status: status, headers: headers, body: Array(body.utf8)))
    }
}
