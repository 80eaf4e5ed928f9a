internal import HTTP
internal import Telemetry

/// What pools of connections have at one moment; counted when somebody asks, so that no call pays for it.
struct PoolUsage {
    /// The open connections without a call.
    var idle = 0
    /// The open connections with calls.
    var active = 0
    /// The calls that wait for a connection.
    var waiting = 0

    /// The open connections.
    var connections: Int { idle + active }

    static func += (left: inout PoolUsage, right: PoolUsage) {
        left.idle += right.idle
        left.active += right.active
        left.waiting += right.waiting
    }
}

extension Upstream {
    /// What the pools of both versions of HTTP have.
    var usage: PoolUsage {
        var all = PoolUsage()
        all.waiting = balancer?.waitingCount ?? 0
        for place in places {
            all += place.http1.usage
            all += place.http2.usage
        }
        return all
    }
}

extension CountersSnapshot {
    /// Adds what the pools of an upstream have.
    mutating func add(_ usage: PoolUsage, of upstream: String) {
        addPools(of: upstream, idle: usage.idle, active: usage.active, waiting: usage.waiting)
    }
}
