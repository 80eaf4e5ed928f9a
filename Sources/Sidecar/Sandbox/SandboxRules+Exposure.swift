internal import Configuration

/// What lies outside of a sandbox and could be used to leave it.
extension SandboxRules {
    /// A file that processes outside of the sandbox trust, in a directory that can be written inside.
    struct Exposure: Equatable {
        /// The name of the file for operators, with its path.
        let file: String
        /// The directory that can be written, and all below it.
        let directory: String
        /// Whether the directory is for temporary files.
        let isScratch: Bool
    }

    /// The first of some files that can be replaced inside; `nil` if none can.
    ///
    /// A file can be replaced if a process can write its directory, one above it, or one in which a link to it is.
    func exposure(of files: [(name: String, path: String)], on machine: SandboxMachine) -> Exposure? {
        for (name, path) in files {
            for place in machine.places(on: path) {
                guard let directory = writable.first(where: place.isBeneath) else { continue }
                let isScratch = Self.scratch.contains { machine.resolve($0)?.path == directory }
                return Exposure(file: "\(name) \(path)", directory: directory, isScratch: isScratch)
            }
        }
        return nil
    }
}

extension SandboxMachine {
    /// The directories in which the names of a path are looked up, with those of the links on it, and what it leads to.
    func places(on path: String) -> [String] {
        var names = Self.names(in: path)
        var current = path.hasPrefix("/") ? "/" : resolve(".")?.path ?? "/"
        var places: [String] = []
        var links = 0
        while let name = names.popLast() {
            places.append(current)
            let next = name == ".." ? Self.parent(of: current) : current == "/" ? "/\(name)" : "\(current)/\(name)"
            if links < Self.maxLinks, let target = link(next) {
                links += 1
                names += Self.names(in: target)
                if target.hasPrefix("/") { current = "/" }
            } else {
                current = next
            }
        }
        return places + [current]
    }

    /// As many links as Linux follows.
    private static let maxLinks = 40

    /// The names in a path, the last one first.
    private static func names(in path: String) -> [String] {
        path.split(separator: "/").filter { $0 != "." }.map(String.init).reversed()
    }

    private static func parent(of directory: String) -> String {
        let end = directory.utf8.lastIndex(of: UInt8(ascii: "/"))!
        return end == directory.startIndex ? "/" : String(directory[..<end])
    }

    /// The sockets of service managers and container runtimes to which this process may connect: each of them starts
    /// programs outside of the sandbox.
    var managers: [String] {
        let runtime = variable("XDG_RUNTIME_DIR") ?? "/run/user/\(user)"
        let ofUser = ["bus", "systemd/private", "docker.sock", "podman/podman.sock"].map { "\(runtime)/\($0)" }
        let ofSystem = [
            "/run/systemd/private", "/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock",
            "/run/crio/crio.sock", "/run/k3s/containerd/containerd.sock",
        ]
        // The system's bus is open to all users, and systemd obeys root there.
        return (ofUser + ofSystem + (user == 0 ? ["/run/dbus/system_bus_socket"] : [])).filter(canConnect)
    }
}
