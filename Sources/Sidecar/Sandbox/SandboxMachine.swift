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
    /// The value of an environment variable.
    var variable: (String) -> String?
    /// Where the kernel writes core dumps, as it says itself.
    var corePattern: String

    /// This machine.
    static var own: SandboxMachine {
        SandboxMachine(
            roots: names(in: "/"),
            resolve: resolved,
            variable: Environment.value,
            corePattern: corePattern
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
}
