internal import Bytes
internal import Time

/// What a worker counts per method: an open-addressing table from the path of a call to its counts.
///
/// Callers choose the paths, so only `admit` adds one; method 0 stands for all others and no path finds it.
struct MethodTable {
    /// A path longer than this, in bytes, is never counted by name.
    static let maxPath = 256

    private struct Key {
        let hash: UInt64
        let offset: Int
        let count: Int
    }

    /// How many methods may be counted by name; those that already are stay.
    var limit: Int

    private var names: [MethodName] = [.other]
    private var keys = [Key(hash: 0, offset: 0, count: 0)]
    /// The paths of all keys, one behind the other.
    private var paths: [UInt8] = []
    /// The number of a method, or 0 where the slot is free; at most half of the slots are taken.
    private var slots = [Int32](repeating: 0, count: 16)
    /// One for each method and protocol.
    private var counts: [CallCounts] = []
    /// A row for each method and protocol.
    var durations = HistogramRows()
    /// How many counts each method has; kept, because `allCases` makes an array each time.
    private let protocols = CallProtocol.allCases.count

    init(limit: Int) {
        self.limit = limit
        addCounts()
    }

    /// The number of the method at `path`, or 0 if it is not counted by name.
    func find(_ path: Span<UInt8>, hash: UInt64) -> Int32 {
        slots[slot(of: path, hash: hash)]
    }

    /// Adds the method at `path` if there is room, and returns its number, or 0 if it is not counted by name.
    mutating func admit(
        _ path: Span<UInt8>,
        hash: UInt64,
        service: Span<UInt8>,
        method: Span<UInt8>
    ) -> Int32 {
        let known = find(path, hash: hash)
        guard known == 0, keys.count - 1 < limit, path.count <= Self.maxPath else { return known }
        if keys.count * 2 >= slots.count { grow() }
        let new = Int32(keys.count)
        slots[slot(of: path, hash: hash)] = new
        keys.append(Key(hash: hash, offset: paths.count, count: path.count))
        for index in path.indices { paths.append(path[index]) }
        names.append(MethodName(service: service.string, method: method.string))
        addCounts()
        return new
    }

    mutating func start(_ method: Int32, _ callProtocol: CallProtocol) {
        counts[index(method, callProtocol)].start()
    }

    mutating func end(
        _ call: StartedCall,
        _ route: RouteCounter,
        code: UInt8,
        duration: Duration,
        _ messages: MessageCounts,
        span: ExportedSpan?
    ) {
        let index = index(call.method, call.callProtocol)
        counts[index].end(route, code: code, messages)
        durations.record(duration, row: index, span: span)
    }

    /// Adds all counts to `copy`, with routes as `routes` calls them.
    func add(to copy: inout CountersSnapshot, routes: RouteNames) {
        for method in names.indices {
            for callProtocol in CallProtocol.allCases {
                let index = index(Int32(method), callProtocol)
                guard counts[index].started > 0 else { continue }
                let counted = CallCountsSnapshot(counts[index], durations[index], routes: routes)
                copy.add(counted, to: names[method], callProtocol)
            }
        }
    }

    private mutating func addCounts() {
        for _ in 0..<protocols {
            counts.append(CallCounts())
            durations.addRow()
        }
    }

    private func index(_ method: Int32, _ callProtocol: CallProtocol) -> Int {
        Int(method) * protocols + Int(callProtocol.rawValue)
    }

    /// The slot that holds the method at `path`, or the free one where it belongs.
    private func slot(of path: Span<UInt8>, hash: UInt64) -> Int {
        let mask = slots.count - 1
        var index = Int(truncatingIfNeeded: hash) & mask
        while slots[index] != 0, !isPath(path, hash, ofMethod: slots[index]) { index = (index + 1) & mask }
        return index
    }

    private func isPath(_ path: Span<UInt8>, _ hash: UInt64, ofMethod method: Int32) -> Bool {
        let key = keys[Int(method)]
        guard key.hash == hash else { return false }
        return path.equals(paths.span.extracting(key.offset..<key.offset + key.count))
    }

    private mutating func grow() {
        slots = [Int32](repeating: 0, count: slots.count * 2)
        let mask = slots.count - 1
        for method in 1..<keys.count {
            var index = Int(truncatingIfNeeded: keys[method].hash) & mask
            while slots[index] != 0 { index = (index + 1) & mask }
            slots[index] = Int32(method)
        }
    }
}
