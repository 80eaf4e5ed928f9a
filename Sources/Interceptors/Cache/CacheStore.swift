internal import Bytes
internal import Caching
internal import Configuration
internal import Events

/// The responses that interceptors of all workers keep under one name.
///
/// A reload keeps it if its settings stay as they are. Safe on any thread.
public final class CacheStore: Sendable {
    /// What the file says of it.
    let settings: CacheSettings
    private let state: Locked<CacheState>

    init(_ settings: CacheSettings) {
        self.settings = settings
        state = Locked(CacheState(limit: settings.bytes, bodyLimit: settings.object))
    }

    /// Its name.
    public var name: String { settings.name }

    /// What it holds: bytes, entries, and how many entries had to go.
    public var usage: (bytes: Int, objects: Int, evictions: Int) {
        state.withLock { ($0.byteCount, $0.count, $0.evictions) }
    }

    /// Removes the responses whose path begins like this, in whatever form; how many there were.
    public func purge(path prefix: [UInt8]) -> Int {
        let prefix = URLPath.normal(prefix: prefix.span)
        return state.withLock { $0.purge { CacheKey.isOf(target: prefix, $0) } }
    }

    /// Decides with no other thread in between.
    func withState<Result>(_ body: (inout CacheState) -> Result) -> Result { state.withLock(body) }
}

/// What stands around a cache and has a part in its responses: another one brings others.
struct CacheSurroundings: Equatable, Sendable {
    /// The items of the chain, without those that only watch.
    let chain: [ChainItem]
    /// How many caches stand before it: each has responses of its own, or one would wait for what another fetches.
    let place: Int
    /// The named calls of the file.
    let calls: [CallSettings]
    /// The mocks of the file.
    let mocks: [MockSettings]
}

/// Numbers what stands around caches: responses that came through other interceptors, or from elsewhere, are others.
///
/// Safe on any thread.
final class CacheScopes: Sendable {
    private static let limit = 4096

    private struct Known {
        var scopes: [(around: CacheSurroundings, upstream: UpstreamSettings?, number: Int)] = []
        var last = 0
    }

    private let known = Locked(Known())

    /// The number of some surroundings and an upstream, if there is one; the same for those that say the same.
    func number(of around: CacheSurroundings, _ upstream: UpstreamSettings?) -> Int {
        known.withLock { known in
            let scope = known.scopes.first { $0.upstream == upstream && $0.around == around }
            if let scope { return scope.number }
            known.last += 1
            known.scopes.append((around, upstream, known.last))
            if known.scopes.count > Self.limit { known.scopes.removeFirst() }
            return known.last
        }
    }
}
