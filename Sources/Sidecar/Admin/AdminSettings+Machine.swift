internal import Configuration

extension AdminSettings {
    /// The admin sockets that a daemon opens: those of the file, and one in the runtime directory that a service manager or
    /// a container gives it, unless a socket of the file serves all pages.
    static func effective(_ settings: Settings) -> [AdminSettings] {
        let named = settings.admin
        guard !named.contains(where: \.servesAllPages), let ours = inRuntimeDirectory else { return named }
        return named + [ours]
    }

    /// The admin socket in the runtime directory that a service manager or a container gives; nil if it gives none.
    static var inRuntimeDirectory: AdminSettings? {
        Environment.runtimeDirectory.map { AdminSettings(path: "\($0)/admin.sock") }
    }

    /// Where the daemon of `file` serves its admin pages if the file names no socket that serves all of them; nil if that
    /// is not known.
    ///
    /// A service has `/run/martlet`, an instance of `martlet@.service` a directory of its own below it, and a service of a
    /// user one below `$XDG_RUNTIME_DIR`. A file elsewhere may belong to any daemon, and a command must not reach another's.
    static func standard(for file: ConfigurationFile) -> AdminSettings? {
        if let inRuntimeDirectory { return inRuntimeDirectory }
        let directory: String? =
            switch file.path {
            case nil, ConfigurationFile.usualPath: "/run/martlet"
            case usersPath: Environment.value("XDG_RUNTIME_DIR").map { "\($0)/martlet" }
            default: instance(of: file.path).map { "/run/martlet/\($0)" }
            }
        return directory.map { AdminSettings(path: "\($0)/admin.sock") }
    }

    /// The file that a service of the user reads.
    private static var usersPath: String? {
        let directory = Environment.value("XDG_CONFIG_HOME") ?? Environment.value("HOME").map { "\($0)/.config" }
        return directory.map { "\($0)/martlet/martlet.yaml" }
    }

    /// The instance of `martlet@.service` that reads the file: `shop` for `/etc/martlet/shop.yaml`.
    private static func instance(of path: String?) -> String? {
        let (directory, suffix) = ("/etc/martlet/", ".yaml")
        guard let path, path.hasPrefix(directory), path.hasSuffix(suffix) else { return nil }
        let name = path.dropFirst(directory.count).dropLast(suffix.count)
        return name.isEmpty || name.contains("/") ? nil : String(name)
    }
}
