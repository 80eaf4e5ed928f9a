private import CLinux
private import Glibc

/// Rules of the kernel's Landlock: what of the file system, and which ports, a thread and all that it starts may still use.
///
/// Rules can only be added, and a thread that is under them is so to its end.
@safe
public struct Landlock: ~Copyable {
    /// What a path is allowed for.
    public enum Use: Sendable {
        /// Reading it, and what is beneath it.
        case read
        /// Reading, and starting programs.
        case start
        /// Reading, writing, making and removing, but no devices and no starting.
        case write
        /// Making Unix sockets, and removing files.
        case socket
        /// Reading, writing and controlling one device.
        case device
    }

    private let descriptor: Int32
    private let version: Int32

    /// Whether rules can be about TCP ports, which the kernel knows since 6.7.
    public var limitsPorts: Bool { version >= Self.versionOfPorts }

    /// Whether the kernel of this machine can limit TCP ports.
    public static var canLimitPorts: Bool { martlet_landlock_version() >= versionOfPorts }

    private static let versionOfPorts: Int32 = 4

    /// Starts a set of rules that forbids all files.
    ///
    /// - Parameters:
    ///   - listening: whether it forbids listening on all TCP ports, if the kernel can.
    ///   - connecting: whether it forbids connecting to all TCP ports, if the kernel can.
    ///   - signals: whether it forbids signals to processes outside, if the kernel can (6.12).
    ///   - abstractSockets: whether it forbids connections to Unix sockets without a file that processes outside have made, if
    ///     the kernel can (6.12).
    /// - Throws: why the kernel has no Landlock.
    public init(listening: Bool, connecting: Bool, signals: Bool, abstractSockets: Bool) throws(SystemError) {
        let version = try Self.checked(martlet_landlock_version())
        let scopes =
            (signals ? MARTLET_LANDLOCK_SIGNALS.rawValue : 0)
            | (abstractSockets ? MARTLET_LANDLOCK_ABSTRACT_SOCKETS.rawValue : 0)
        descriptor = try Self.checked(martlet_landlock_open(version, listening, connecting, Int32(scopes)))
        self.version = version
    }

    deinit { close(descriptor) }

    /// Allows the use of a file, or of what is beneath a directory; nothing happens if there is none.
    public func allow(_ path: String, for use: Use) {
        let kind =
            switch use {
            case .read: MARTLET_LANDLOCK_READ
            case .start: MARTLET_LANDLOCK_RUN
            case .write: MARTLET_LANDLOCK_WRITE
            case .socket: MARTLET_LANDLOCK_SOCKET
            case .device: MARTLET_LANDLOCK_DEVICE
            }
        _ = unsafe martlet_landlock_allow_path(descriptor, version, path, kind)
    }

    /// Allows listening on a TCP port; 0 is one that the system chooses.
    public func allow(listeningOn port: UInt16) {
        _ = martlet_landlock_allow_port(descriptor, port, true)
    }

    /// Allows connecting to a TCP port.
    public func allow(connectingTo port: UInt16) {
        _ = martlet_landlock_allow_port(descriptor, port, false)
    }

    /// Puts the calling thread under the rules; call it before there are others.
    public consuming func enter() throws(SystemError) {
        _ = try Self.checked(martlet_landlock_enter(descriptor))
    }

    private static func checked(_ result: Int32) throws(SystemError) -> Int32 {
        guard result >= 0 else { throw SystemError(-result) }
        return result
    }
}
