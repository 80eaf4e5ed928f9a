internal import Configuration

/// What a sandbox allows, before any of it is said to the kernel.
///
/// A reload cannot have more than the start, so reading is allowed wherever a system has files. Writing is not.
struct SandboxRules: Equatable {
    /// The TCP ports that can be used.
    struct Ports: Equatable {
        /// None is all, as where the system chooses a port.
        var listening: Set<UInt16>?
        var connecting: Set<UInt16>
    }

    /// What may be read, and all beneath it.
    private(set) var readable: [String] = []
    /// What may be read and written, and all beneath it.
    private(set) var writable: [String] = []
    /// The directories in which Unix sockets may be made, and files removed.
    private(set) var sockets: [String] = []
    /// Whether Unix sockets may be made after startup: with one a process can connect to every socket of its user.
    let connectsToSockets: Bool
    /// Whether Unix sockets without a file may be connected to if a process outside has made them.
    let connectsToAbstractSockets: Bool
    /// The devices that may be used.
    private(set) var devices = [
        "/dev/full", "/dev/null", "/dev/pts", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero",
    ]
    /// Whether programs may be started.
    private(set) var startsPrograms = false
    /// None if all ports can be used.
    private(set) var ports: Ports?

    /// Where people and machines keep what is their own, and no system keeps a file that Martlet needs.
    ///
    /// In `/dev` are disks.
    private static let closed: Set = ["boot", "dev", "home", "lost+found", "media", "mnt", "root", "srv"]
    static let scratch = ["/dev/shm", "/tmp", "/var/tmp"]
    /// The directories that systemd gives a service, several with colons between them (systemd.exec(5)).
    private static let given = ["RUNTIME_DIRECTORY", "STATE_DIRECTORY", "CACHE_DIRECTORY", "LOGS_DIRECTORY"]
    /// What names are looked up by, which may be links to anywhere.
    private static let ofNames = ["/etc/hosts", "/etc/resolv.conf"]
    /// DNS over TCP.
    private static let nameServer: UInt16 = 53

    /// Makes the rules for a file.
    ///
    /// - Parameters:
    ///   - settings: its settings.
    ///   - needs: what it needs of the system.
    ///   - admin: the addresses of its admin pages.
    ///   - file: its path; none for the demo.
    ///   - machine: the machine.
    init(_ settings: Settings, needs: [SystemNeed], admin: [ListenAddress], file: String?, on machine: SandboxMachine) {
        let isOpen = !settings.sandbox.fixesUnixSockets
        connectsToSockets = isOpen || needs.contains { if case .connectsToSocket = $0.kind { true } else { false } }
        // An upstream cannot be in the abstract namespace, but a service manager can.
        connectsToAbstractSockets = isOpen || machine.variable("NOTIFY_SOCKET")?.hasPrefix("@") == true
        readable = machine.roots.filter { !Self.closed.contains($0) }.map { "/\($0)" }
        let given = Self.given.compactMap(machine.variable).flatMap { $0.split(separator: ":").map(String.init) }
        writable = (Self.scratch + given).compactMap { machine.resolve($0)?.path }
        // What OpenSSL reads authorities from.
        let authorities = ["SSL_CERT_FILE", "SSL_CERT_DIR"].compactMap(machine.variable)
        for path in [file].compactMap({ $0 }) + authorities + Self.ofNames { allowReading(path, on: machine) }
        let addresses = settings.listeners.map(\.address) + admin
        for case .unix(let path) in addresses { sockets += machine.folders(of: path) }
        if settings.coreDumps { allowCores(on: machine) }
        for need in needs { allow(need, on: machine) }
        // Not the directory around one that is missing.
        readable += settings.sandbox.readable.compactMap { machine.resolve($0.text)?.path }
        writable += settings.sandbox.writable.compactMap { machine.resolve($0.text)?.path }
        guard settings.sandbox.fixesPorts else { return }
        let listening = addresses.compactMap { if case .tcp(_, let port) = $0 { port } else { nil } }
        let connecting = needs.compactMap { if case .connects(let port) = $0.kind { port } else { nil } }
        ports = Ports(
            listening: listening.contains(0) ? nil : Set(listening),
            connecting: Set(connecting + [Self.nameServer])
        )
    }

    private mutating func allow(_ need: SystemNeed, on machine: SandboxMachine) {
        switch need.kind {
        case .reads(let path): allowReading(path, on: machine)
        case .writes(let path): allowWriting(path, on: machine)
        case .starts(let path):
            startsPrograms = true
            for folder in machine.folders(of: path) {
                // What a program needs of its own stands beside its `bin`.
                readable.append(folder.hasSuffix("/bin") ? String(folder.dropLast("/bin".count)) : folder)
            }
        case .connects, .connectsAnywhere, .connectsToSocket: break
        }
    }

    private mutating func allowReading(_ path: String, on machine: SandboxMachine) {
        for folder in machine.folders(of: path) where !readable.contains(where: folder.isBeneath) {
            readable.append(folder)
        }
    }

    private mutating func allowWriting(_ path: String, on machine: SandboxMachine) {
        writable += machine.folders(of: path)
        // Also what /dev/stdout leads to, if that is a terminal.
        if let place = machine.resolve(path), place.path.hasPrefix("/dev/"), !place.isDirectory {
            devices.append(place.path)
        }
    }

    /// The kernel writes a core with the rights of the process that crashed.
    private mutating func allowCores(on machine: SandboxMachine) {
        guard !machine.corePattern.hasPrefix("|") else { return }
        let isAbsolute = machine.corePattern.hasPrefix("/")
        allowWriting(isAbsolute ? machine.corePattern : "./\(machine.corePattern)", on: machine)
    }
}

extension SandboxMachine {
    /// The directories in which a path is, and in which what it leads to is: others may take the place of both.
    ///
    /// A directory stands for itself. A file in `/` does as well, since everything else is in `/` too.
    func folders(of path: String) -> [String] {
        let place = resolve(path)
        if let place, place.isDirectory { return [place.path] }
        var folders: [String] = []
        for named in [path, place?.path].compactMap({ $0 }) {
            let end = named.utf8.lastIndex(of: UInt8(ascii: "/"))
            let name = end.map { end in end == named.startIndex ? "/" : String(named[..<end]) } ?? "."
            guard let folder = resolve(name)?.path else { continue }
            let own = folder == "/" ? named : folder
            if !Self.isOfKernel(own), !folders.contains(own) { folders.append(own) }
        }
        return folders
    }

    /// Whether a directory has devices and processes in it in place of files.
    private static func isOfKernel(_ path: String) -> Bool {
        ["/dev", "/proc", "/sys"].contains { path.isBeneath($0) } && !path.isBeneath("/dev/shm")
    }

    /// Whether a file is, or would be, beneath one of these paths.
    ///
    /// A device or a pipe counts as if it were.
    func isWithin(_ allowed: [String], _ path: String) -> Bool {
        let place = canonical(path)
        return Self.isOfKernel(place) || allowed.contains { place.isBeneath($0) }
    }

    private func canonical(_ path: String) -> String {
        if let place = resolve(path) { return place.path }
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        guard let folder = resolve(end.map { String(path[..<$0]) } ?? ".") else { return path }
        return folder.path + (end.map { path[$0...] } ?? "/\(path)")
    }
}

extension String {
    /// Whether a path is a directory, or beneath it.
    func isBeneath(_ directory: String) -> Bool {
        self == directory || hasPrefix(directory + "/")
    }
}
