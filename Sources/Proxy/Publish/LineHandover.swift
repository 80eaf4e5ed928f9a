internal import Events
package import Telemetry

/// The lines on their way from one worker to one subscriber on another thread.
///
/// A bound keeps a subscriber that does not read from holding memory: further lines are dropped and counted.
package final class LineHandover: Sendable {
    /// How many bytes of lines may be on their way.
    package static let maxBytes = 256 * 1024

    private let buffer = Locked(LineBuffer(maxBytes: maxBytes))
    private let wake: @Sendable () -> Void

    /// Makes an empty one; `wake` is called on the worker's thread when the first lines wait, and has the subscriber call
    /// `removeAll`.
    package init(wake: @escaping @Sendable () -> Void) {
        self.wake = wake
    }

    /// Hands a line over; on the worker's thread.
    package func append(_ line: [UInt8]) {
        let wasEmpty = buffer.withLock { buffer in
            defer { buffer.append(line) }
            return buffer.isEmpty
        }
        if wasEmpty { wake() }
    }

    /// Removes all that waits; on the subscriber's thread.
    package func removeAll() -> LineBuffer {
        buffer.withLock { buffer in
            defer { buffer = LineBuffer(maxBytes: Self.maxBytes) }
            return buffer
        }
    }
}
