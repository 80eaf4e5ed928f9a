internal import Events
private import Glibc

/// What of the machine the rules of a sandbox depend on.
struct SandboxMachine {
    /// A path without links, and whether a directory is there.
    struct Place: Equatable {
        let path: String
        let isDirectory: Bool
    }

    /// The names in `/` that are no links.
    var roots: [String]
    /// What a path leads to; none if nothing is there.
    var resolve: (String) -> Place?
    /// The text of a symbolic link; `nil` if the path is not one.
    var link: (String) -> String? = { _ in nil }
    /// The value of an environment variable.
    var variable: (String) -> String?
    /// Where the kernel writes core dumps, as it says itself.
    var corePattern: String
    /// The effective user of this process.
    var user: UInt32 = 0
    /// Whether a path is a Unix socket to which this process may connect.
    var canConnect: (String) -> Bool = { _ in false }

    /// This machine.
    static var own: SandboxMachine {
        SandboxMachine(
            roots: names(in: "/"),
            resolve: resolved,
            link: linked,
            variable: Environment.value,
            corePattern: corePattern,
            user: geteuid(),
            canConnect: connectable
        )
    }

    private static var corePattern: String {
        guard case .success(let bytes) = SmallFile.read("/proc/sys/kernel/core_pattern", limit: 4096) else {
            return "|"
        }
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    private static func names(in directory: String) -> [String] {
        guard let stream = unsafe opendir(directory) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            guard unsafe entry.pointee.d_type != DT_LNK else { continue }
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    private static func resolved(_ path: String) -> Place? {
        var status = stat()
        guard let text = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(text) }
        guard unsafe stat(text, &status) == 0 else { return nil }
        return Place(path: unsafe String(cString: text), isDirectory: status.st_mode & S_IFMT == S_IFDIR)
    }

    private static func linked(_ path: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe readlink(path, buffer.baseAddress!.assumingMemoryBound(to: CChar.self), buffer.count)
        }
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }

    private static func connectable(_ path: String) -> Bool {
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return false }
        return unsafe faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0
    }
}
