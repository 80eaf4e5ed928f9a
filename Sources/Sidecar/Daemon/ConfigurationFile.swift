internal import Configuration
internal import Documents
internal import Events
private import Glibc
internal import Proxy

/// The configuration file, and what has been read of it.
struct ConfigurationFile {
    /// A configuration that is good for use.
    struct Loaded {
        let plan: Plan
        /// The state of the file that was read, or an earlier one; none for what is no file.
        let identity: FileIdentity?
        /// What may go wrong with the file nevertheless: lines for people.
        let warnings: [String]
        /// What this process lacks to use it; nothing if it was loaded to serve.
        let lacks: [Diagnostic]
        /// What the file needs of the system.
        let needs: [SystemNeed]
    }

    /// Why a file is not good for use: lines for people, in the order of the file.
    struct Rejection: Error {
        let lines: [String]
    }

    /// Where the file of the service is.
    static let usualPath = "/etc/martlet/martlet.yaml"

    /// The path, or `-` for standard input; nil for the built-in demo.
    let path: String?
    /// The kinds of interceptors that it may name.
    let registry: Registry
    /// Whether another program writes to standard output, so that no log may go there.
    var outputIsTaken = false

    /// The file that the command line names, or the environment, or the one in its usual place, or the demo.
    static func find(_ named: String?, _ registry: Registry, outputIsTaken: Bool = false) -> ConfigurationFile {
        let given = named ?? Environment.value("MARTLET_CONFIG")
        let path = given.map { inputFiles.contains($0) ? standardInput : $0 }
        let isThere = unsafe access(usualPath, F_OK) == 0
        let found = path ?? (isThere ? usualPath : nil)
        return ConfigurationFile(path: found, registry: registry, outputIsTaken: outputIsTaken)
    }

    /// How the file is called in logs.
    var name: String { path == Self.standardInput ? "(standard input)" : path ?? "(demo)" }

    /// Whether it is a file that can change.
    var canBeWatched: Bool { path != nil && !isStandardInput }

    /// Whether it is standard input.
    var isStandardInput: Bool { path == Self.standardInput }

    private static let standardInput = "-"
    /// Files that are standard input: at the first of them a daemon has something else by the time it reads.
    private static let inputFiles = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"]
    /// What standard input had: it can be read once, and a reload takes the same text.
    private static let input = Terminal.read(limit: YAML.maxText)

    /// Reads and checks the file as a whole; every error of it is in the rejection, and what a sandbox does not allow.
    ///
    /// Credentials of systemd that this process cannot read are errors only `toServe`: no other command needs them.
    func load(toServe: Bool = false, within sandbox: Sandbox? = nil) throws(Rejection) -> Loaded {
        let diagnostics = Diagnostics()
        // Before it is read: a change in between is one that was not read.
        let identity = canBeWatched ? path.flatMap(FileIdentity.init(of:)) : nil
        let root = YAML.parse(try text(), into: diagnostics)
        // What was read despite errors such as a key given twice is checked further, to tell all errors at once.
        guard root != nil || diagnostics.isEmpty else { throw Rejection(lines: diagnostics.lines(file: name)) }
        let plan = Plan(
            root,
            kinds: registry,
            version: Version.number,
            variable: Environment.value,
            into: diagnostics
        )
        if outputIsTaken {
            let problem = "the program has standard output; write to stderr or a file, or run exec with --own-stdout"
            for mark in plan.outputLogs { diagnostics.report(problem, at: mark) }
        }
        sandbox?.check(plan.settings, into: diagnostics)
        guard diagnostics.isEmpty else { throw Rejection(lines: diagnostics.lines(file: name)) }
        guard diagnostics.lacks.isEmpty || !toServe else {
            throw Rejection(lines: diagnostics.lacks.map { $0.line(file: name) })
        }
        let warnings = diagnostics.warnings.map { $0.line(file: name) }
        return Loaded(
            plan: plan,
            identity: identity,
            warnings: warnings,
            lacks: diagnostics.lacks,
            needs: diagnostics.needs
        )
    }

    /// The admin sockets that a command asks, the second only if nobody listens on the first.
    ///
    /// The file names the socket, whatever else is wrong with it, since a running daemon may well be fine. In a service the
    /// daemon may still run by an earlier file that named none.
    func admins() throws(Rejection) -> [AdminSettings] {
        let diagnostics = Diagnostics()
        do throws(Rejection) {
            let root = YAML.parse(try text(), into: diagnostics)
            guard root != nil || diagnostics.isEmpty else { throw Rejection(lines: diagnostics.lines(file: name)) }
            if let named = Settings(root, into: diagnostics).admin.first(where: \.servesAllPages) {
                return [named] + [AdminSettings.inRuntimeDirectory].compactMap { $0 }
            }
            return [AdminSettings.standard(for: self)].compactMap { $0 }
        } catch {
            guard let place = AdminSettings.standard(for: self) else { throw error }
            return [place]
        }
    }

    /// Checks that this process can write where it is to, before a configuration is put to use.
    func checkPlaces(of loaded: Loaded) throws(Rejection) {
        let problems = Self.unwritablePlaces(of: loaded)
        guard problems.isEmpty else { throw Rejection(lines: problems.map { $0.line(file: name) }) }
    }

    /// The log files and the directories of files in which this process cannot write.
    static func unwritablePlaces(of loaded: Loaded) -> [Diagnostic] {
        let logs = loaded.plan.logFiles.compactMap { log in
            LineWriter.error(openingFile: log.text).map { error in
                Diagnostic(mark: log.mark, message: "cannot write to the log \(log.text): \(error.text)")
            }
        }
        let spools = loaded.plan.settings.upstreams.compactMap(\.limits.spool?.directory).compactMap { directory in
            SpoolFile.error(in: directory.text).map { error in
                let problem = "cannot make files in \(directory.text): \(error.text)"
                return Diagnostic(mark: directory.mark, message: "\(problem); write a directory that Martlet may write")
            }
        }
        return logs + spools
    }

    private func text() throws(Rejection) -> [UInt8] {
        guard let path else { return Array(Demo.configuration.utf8) }
        guard path == Self.standardInput else { return try Self.text(path) }
        guard let input = Self.input else {
            throw Rejection(lines: ["\(name) has more than \(YAML.maxText >> 20) MiB"])
        }
        return input
    }

    /// Reads another file in YAML that a command is given; what is wrong with it is reported.
    static func parse(_ path: String, into diagnostics: Diagnostics) throws(Rejection) -> Node? {
        YAML.parse(try text(path), into: diagnostics)
    }

    private static func text(_ path: String) throws(Rejection) -> [UInt8] {
        switch SmallFile.read(path, limit: YAML.maxText) {
        case .success(let bytes): return bytes
        case .failure(let error): throw Rejection(lines: ["cannot read \(path): \(error.text)"])
        }
    }
}

/// The process's environment.
enum Environment {
    /// The value of a variable; nil if it is not set, or empty.
    static func value(_ name: String) -> String? {
        guard let text = unsafe getenv(name) else { return nil }
        let value = unsafe String(cString: text)
        return value.isEmpty ? nil : value
    }

    /// The directory for sockets that a service manager or a container gives the daemon, the first of several
    /// (systemd.exec(5), `RuntimeDirectory=`).
    static var runtimeDirectory: String? {
        runtimeDirectories.first
    }

    /// The directories for sockets that a service manager or a container gives the daemon; empty if it gives none.
    static var runtimeDirectories: [String] {
        value("RUNTIME_DIRECTORY")?.split(separator: ":").map(String.init) ?? []
    }
}
