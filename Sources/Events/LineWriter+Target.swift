private import Glibc

extension LineWriter {
    /// Where lines go.
    public enum Target: Hashable, Sendable {
        /// File descriptor 1.
        case standardOutput
        /// File descriptor 2.
        case standardError
        /// A file, which is appended to, and opened anew by `reopen`.
        case file(String)
        /// A file of whole documents that nobody else may read, and that begins anew when it is too long.
        case tape(String)

        /// Whether it is opened by its name.
        var isFile: Bool {
            switch self {
            case .standardOutput, .standardError: false
            case .file, .tape: true
            }
        }

        /// Writes everything to what it has been opened as, or of a tape nothing if it cannot be everything.
        ///
        /// - Returns: as `LineWriter.writeAll`.
        func write(_ bytes: [UInt8], to descriptor: Int32) -> (written: Int, error: Int32?) {
            guard case .tape = self else { return LineWriter.writeAll(bytes, to: descriptor) }
            return TapeFile.append(bytes, to: descriptor)
        }

        /// The target that is to have a writer: standard error for standard output too, if both lead to one place.
        ///
        /// They often do, in a unit or in a container. A pipe or a socket takes a large write in parts, and what another
        /// thread writes comes between them, within a line.
        ///
        /// A file may be one of the two as well, as `/dev/stdout` is.
        package var place: Target {
            switch self {
            case .standardError, .tape: return self
            case .standardOutput: return isSame(as: STDERR_FILENO) ? .standardError : self
            case .file:
                if isSame(as: STDERR_FILENO) { return .standardError }
                return isSame(as: STDOUT_FILENO) ? .standardOutput : self
            }
        }

        /// Whether it leads to what a descriptor does.
        ///
        /// The path of a file on a disk never counts: that can be rotated.
        private func isSame(as descriptor: Int32) -> Bool {
            var (own, other) = (stat(), stat())
            let isKnown =
                switch self {
                case .standardOutput: unsafe fstat(STDOUT_FILENO, &own) == 0
                case .standardError: unsafe fstat(STDERR_FILENO, &own) == 0
                case .file(let path), .tape(let path):
                    unsafe stat(path, &own) == 0 && own.st_mode & S_IFMT != S_IFREG
                }
            guard isKnown, unsafe fstat(descriptor, &other) == 0 else { return false }
            return own.st_dev == other.st_dev && own.st_ino == other.st_ino
        }

        /// Whether it is the standard output of whoever opens it, by whatever links the path leads there.
        ///
        /// What standard output leads to does not count: it may be a file of this name, or the same as standard error.
        public var namesStandardOutput: Bool {
            guard case .file(var path) = self else { return self == .standardOutput }
            let descriptors = ["/proc/self/fd", "/proc/thread-self/fd"].compactMap(Self.resolved)
            for _ in 0..<FileTrail.maxLinks {
                let parts = path.split(separator: "/")
                let folder = "/" + parts.dropLast().joined(separator: "/")
                guard let name = parts.last, let folder = Self.resolved(folder) else { return false }
                if name == "1", descriptors.contains(folder) { return true }
                guard case .link(let target) = FileTrail.follow("\(folder)/\(name)") else { return false }
                path = target.hasPrefix("/") ? target : "\(folder)/\(target)"
            }
            return false
        }

        /// A path without links; nil if nothing is there.
        private static func resolved(_ path: String) -> String? {
            guard let text = unsafe realpath(path, nil) else { return nil }
            defer { unsafe free(text) }
            return unsafe String(cString: text)
        }
    }
}
