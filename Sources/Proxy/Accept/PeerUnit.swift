internal import Events

/// The systemd unit of the process that connected: read at once if the configuration asks for units, else when somebody
/// first asks, and kept as long as the connection.
///
/// A trap: the kernel tells the number that the process had when it connected. The process may be gone by the time it is
/// asked for, or have passed its socket on, and the number may be another's. So the sooner the better; and what is kept
/// does not change, so that no call of a connection sees another unit.
final class PeerUnit {
    /// The name, such as `app.service`; nil if the process is in no unit, gone, or hidden from us.
    private(set) lazy var name: [UInt8]? = read(process).flatMap(Self.name(in:))

    /// Finds the name out now; there is none if the process has ended meanwhile, as what was read may be another's.
    func settle(hasEnded: () -> Bool) {
        if name != nil, hasEnded() { name = nil }
    }
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
    ///
    /// A trap: whoever owns a group can name those in it, and in a `String` a slash before a combining mark is no slash.
    static func name(in controlGroups: [UInt8]) -> [UInt8]? {
        for line in controlGroups.split(separator: UInt8(ascii: "\n")) {
            let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
            // Of the hierarchies, systemd keeps its units in the unified one and in that with its name.
            guard parts.count == 3, parts[1].isEmpty || parts[1].elementsEqual("name=systemd".utf8) else { continue }
            if let unit = unit(at: parts[2]) { return Array(unit) }
        }
        return nil
    }

    /// The unit at a path of control groups: the first that is no slice, and in a user's manager the first below that.
    ///
    /// What is further in is not systemd's: a container, say, which can name its groups as it likes.
    private static func unit(at path: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        // Seen from another namespace, a path may lead up first.
        let isOuter = { (group: ArraySlice<UInt8>) in group.elementsEqual("..".utf8) || group.hasSuffix(".slice") }
        let groups = path.split(separator: UInt8(ascii: "/")).drop(while: isOuter)
        guard let outer = groups.first.flatMap(unit(ofGroup:)) else { return nil }
        guard isUserManager(outer) else { return outer }
        return groups.dropFirst().drop(while: isOuter).first.flatMap(unit(ofGroup:)) ?? outer
    }

    private static func unit(ofGroup group: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        // Systemd puts this before names that the kernel has a use for.
        let name = group.first == UInt8(ascii: "_") ? group.dropFirst() : group
        return name.hasSuffix(".service") || name.hasSuffix(".scope") ? name : nil
    }

    private static func isUserManager(_ unit: ArraySlice<UInt8>) -> Bool {
        guard unit.starts(with: "user@".utf8), unit.hasSuffix(".service") else { return false }
        let user = unit.dropFirst("user@".utf8.count).dropLast(".service".utf8.count)
        return 1...10 ~= user.count && user.allSatisfy { 0x30...0x39 ~= $0 }
    }
}

extension ArraySlice<UInt8> {
    fileprivate func hasSuffix(_ text: String) -> Bool {
        suffix(text.utf8.count).elementsEqual(text.utf8)
    }
}
