package import Bytes
internal import Configuration

/// What one worker has at one address of an upstream.
package struct AddressUsage: Sendable {
    /// The name of the upstream.
    package let upstream: String
    /// The address.
    package let address: SocketAddress
    /// The attempts under way.
    package var calls: Int
    /// The open connections.
    package var connections: Int
    /// Whether the upstream has the address no more, and it only ends what is under way.
    package let isLeaving: Bool

    /// Adds what another worker has at the same address.
    package mutating func add(_ other: AddressUsage) {
        calls += other.calls
        connections += other.connections
    }
}

extension Upstream {
    /// What there is at each address; nothing if calls are not spread.
    var addressUsage: [AddressUsage] {
        (balancer?.addresses ?? []).compactMap { place in
            place.address.map {
                AddressUsage(
                    upstream: settings.name,
                    address: $0,
                    calls: place.calls,
                    connections: place.connections,
                    isLeaving: place.isLeaving
                )
            }
        }
    }
}
