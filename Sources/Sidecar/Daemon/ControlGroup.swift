internal import Events

/// The control group that the process is in (cgroups(7)), of version 1 or 2.
enum ControlGroup {
    /// The bytes of memory that the group, or one that it is in, may have; nil if there is no limit.
    static var memoryLimit: Int? {
        memoryLimit { path in
            guard case .success(let bytes) = SmallFile.read(path, limit: 1 << 16) else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Likewise, from what `read` gives for the path of a file.
    static func memoryLimit(read: (String) -> String?) -> Int? {
        let groups = (read("/proc/self/cgroup") ?? "").split(separator: "\n")
        return groups.compactMap { memoryLimit(ofGroup: String($0), read: read) }.min()
    }

    /// The limit that a line such as `4:memory:/a/b`, or `0::/a/b` of version 2, leads to.
    private static func memoryLimit(ofGroup line: String, read: (String) -> String?) -> Int? {
        let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let isUnified = parts[0] == "0" && parts[1].isEmpty
        guard isUnified || parts[1].split(separator: ",").contains("memory") else { return nil }
        let roots = isUnified ? ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"] : ["/sys/fs/cgroup/memory"]
        let file = isUnified ? "memory.max" : "memory.limit_in_bytes"
        // Up to the root, since any group above may have the lowest limit; in a container the root is the group itself.
        var path = parts[2].split(separator: "/")
        var limits: [Int] = []
        while true {
            let folder = path.map { "/\($0)" }.joined()
            limits += roots.compactMap { read("\($0)\(folder)/\(file)").flatMap(number) }
            guard path.popLast() != nil else { return limits.min() }
        }
    }

    /// The number in a file; nil for `max`, and for the number of version 1 that is beyond all memory.
    private static func number(_ text: String) -> Int? {
        Int(text.prefix { $0 != "\n" }).flatMap { $0 < 1 << 60 ? $0 : nil }
    }
}
