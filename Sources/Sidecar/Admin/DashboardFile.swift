internal import Configuration

/// A file of the dashboard, which the build puts into the program.
enum DashboardFile {
    /// What a browser is shown.
    case page
    /// How it looks.
    case style
    /// What keeps it up to date.
    case script
    /// What shows one call.
    case callScript
    /// What reads the metrics for it.
    case metricsScript

    /// Where the file is served.
    var path: String {
        switch self {
        case .page: "/"
        case .style: "/dashboard.css"
        case .script: "/dashboard.js"
        case .callScript: "/dashboard-call.js"
        case .metricsScript: "/dashboard-metrics.js"
        }
    }

    /// What the files may do: nothing but ask the address that they came from.
    private static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:",
        "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    ]
    .joined(separator: "; ")

    /// The response that is the file.
    var response: AdminResponse {
        let (type, body) =
            switch self {
            case .page: ("text/html", PackageResources.dashboard_html)
            case .style: ("text/css", PackageResources.dashboard_css)
            case .script: ("text/javascript", PackageResources.dashboard_js)
            case .callScript: ("text/javascript", PackageResources.dashboard_call_js)
            case .metricsScript: ("text/javascript", PackageResources.dashboard_metrics_js)
            }
        var whole = AdminResponse.Whole(contentType: "\(type); charset=utf-8", body: body)
        whole.fields = [
            .init("content-security-policy", Self.policy), .init("x-content-type-options", "nosniff"),
            .init("referrer-policy", "no-referrer"), .init("cache-control", "no-store"), .init("vary", "accept"),
        ]
        return .whole(whole)
    }
}

extension AdminRoute {
    /// A file that the dashboard consists of, which the list of pages leaves out.
    init(dashboard file: DashboardFile) {
        self.init(.get, file.path, page: .dashboard, isPart: true, "Has a part of the dashboard.") {
            $2(file.response)
        }
    }
}
