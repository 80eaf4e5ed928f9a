internal import Glibc

/// The directories in which a change can make a path lead to another file.
///
/// These are the directory of the file, that of each symbolic link on the way, and where a part of the path is missing,
/// the directory that it would appear in.
struct FileTrail {
    private(set) var directories: Set<String> = []

    /// As many links as Linux follows before it calls the path a loop.
    static let maxLinks = 40

    init(of path: String) {
        var current = path.utf8.first == UInt8(ascii: "/") ? "/" : "."
        var rest = Self.steps(path)
        var links = 0
        while let step = rest.popLast() {
            let path = current + "/" + step
            switch Self.follow(path) {
            case .link(let target):
                directories.insert(current)
                links += 1
                guard links <= Self.maxLinks else { return }
                if target.utf8.first == UInt8(ascii: "/") { current = "/" }
                rest += Self.steps(target)
            case .file where !rest.isEmpty:
                current = path
            case .file, .missing:
                directories.insert(current)
                return
            }
        }
    }

    /// What one step of a path is.
    enum Step {
        case link(String)
        case file
        case missing
    }

    static func follow(_ path: String) -> Step {
        var error: Int32 = 0
        let target = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { room -> String? in
            let length = unsafe readlink(path, room.baseAddress!, room.count)
            error = errno
            guard length >= 0 else { return nil }
            return unsafe String(
                decoding: UnsafeRawBufferPointer(start: room.baseAddress, count: length),
                as: UTF8.self
            )
        }
        if let target { return .link(target) }
        return error == EINVAL ? .file : .missing
    }

    /// The parts of a path, last first.
    private static func steps(_ path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }.filter { $0 != "." }.reversed()
    }
}
