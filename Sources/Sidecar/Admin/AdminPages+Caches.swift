internal import Configuration
internal import Interceptors
internal import Proxy
internal import Telemetry

/// The page about caches.
extension AdminPages {
    /// Removes responses by the beginning of their paths.
    func purgeCaches(_ request: AdminRequest, _ respond: (AdminResponse) -> Void) {
        guard let path = request.query?["path"], path.hasPrefix("/") else {
            return respond(.text("there is no path; write /cache/purge?path=/v1/", status: 400))
        }
        var caches = daemon.caches
        if let name = request.query?["cache"] {
            let known = caches.map(\.name)
            caches = caches.filter { $0.name == name }
            guard !caches.isEmpty else {
                let advice = known.isEmpty ? "no interceptor uses one" : Suggestion.text(for: name, among: known)
                return respond(.text("no cache is named \(Diagnostic.quote(name)); \(advice)", status: 404))
            }
        }
        let count = caches.reduce(0) { $0 + $1.purge(path: Array(path.utf8)) }
        respond(.text(count == 1 ? "removed 1 response" : "removed \(count) responses"))
    }
}

extension Daemon {
    /// The caches that interceptors use, in the order of their names.
    var caches: [CacheStore] { budgets.shared.all(CacheStore.self).sorted { $0.name < $1.name } }

    /// What the caches hold.
    var cacheFamilies: [MetricFamily] {
        let usages = caches.map { ($0.name, $0.usage) }
        return [
            MetricFamily(.cacheBytes, usages.map { MetricSample([$0], .number($1.bytes)) }),
            MetricFamily(.cacheObjects, usages.map { MetricSample([$0], .number($1.objects)) }),
            MetricFamily(.cacheEvictions, usages.map { MetricSample([$0], .number($1.evictions)) }),
        ]
    }
}
