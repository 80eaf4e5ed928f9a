internal import Events

/// The systemd unit of the process that connected: read when somebody first asks, and kept as long as the connection.
///
/// A trap: the kernel tells the number that the process had when it connected. The process may be gone by the time
/// somebody asks, or have passed its socket on, and the number may be another's. It is asked for at the first request
/// that needs it, since no later answer could be better, and kept, so that no call of a connection sees another unit.
final class PeerUnit {
    /// The name, such as `app.service`; nil if the process is in no unit, gone, or hidden from us.
    private(set) lazy var name: [UInt8]? = read(process).flatMap(Self.name(in:))
    private let process: Int32
    private let read: (Int32) -> [UInt8]?

    /// Asks for a process; none has number 0.
    ///
    /// `read` is how: what the kernel says of the control groups of a process, if it does.
    init?(of process: Int32, read: @escaping (Int32) -> [UInt8]? = PeerUnit.controlGroups) {
        guard process > 0 else { return nil }
        self.process = process
        self.read = read
    }

    private static func controlGroups(of process: Int32) -> [UInt8]? {
        try? SmallFile.read("/proc/\(process)/cgroup", limit: 64 * 1024).get()
    }

    /// The unit that a `/proc/PID/cgroup` tells of.
    static func name(in controlGroups: [UInt8]) -> [UInt8]? {
        for line in String(decoding: controlGroups, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            // Of the hierarchies, systemd keeps its units in the unified one and in that with its name.
            guard parts.count == 3, parts[1].isEmpty || parts[1] == "name=systemd" else { continue }
            if let unit = unit(at: parts[2]) { return Array(unit.utf8) }
        }
        return nil
    }

    /// The unit at a path of control groups: the first that is no slice, and in a user's manager the first below that.
    ///
    /// What is further in is not systemd's: a container, say, which can name its groups as it likes.
    private static func unit(at path: Substring) -> Substring? {
        // Seen from another namespace, a path may lead up first.
        let isOuter = { (group: Substring) in group == ".." || group.hasSuffix(".slice") }
        let groups = path.split(separator: "/").drop(while: isOuter)
        guard let outer = groups.first.flatMap(unit(ofGroup:)) else { return nil }
        guard isUserManager(outer) else { return outer }
        return groups.dropFirst().drop(while: isOuter).first.flatMap(unit(ofGroup:)) ?? outer
    }

    private static func unit(ofGroup group: Substring) -> Substring? {
        // Systemd puts this before names that the kernel has a use for.
        let name = group.hasPrefix("_") ? group.dropFirst() : group
        return name.hasSuffix(".service") || name.hasSuffix(".scope") ? name : nil
    }

    private static func isUserManager(_ unit: Substring) -> Bool {
        unit.hasPrefix("user@") && unit.hasSuffix(".service") && UInt32(unit.dropFirst(5).dropLast(8)) != nil
    }
}
