internal import Configuration
private import Glibc

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

    /// Where a command looks for the daemon of `file`, in this order, if the file names no admin socket that serves all pages.
    ///
    /// A service has `/run/martlet`, an instance of `martlet@.service` a directory of its own below it, and a service of a
    /// user one below `$XDG_RUNTIME_DIR`.
    static func usualPlaces(for file: ConfigurationFile) -> [AdminSettings] {
        let directories = [
            Environment.runtimeDirectory,
            instance(of: file.path).map { "/run/martlet/\($0)" },
            "/run/martlet",
            Environment.value("XDG_RUNTIME_DIR").map { "\($0)/martlet" },
        ]
        return directories.compactMap { $0 }.map { AdminSettings(path: "\($0)/admin.sock") }
    }

    /// The instance of `martlet@.service` that reads the file: `shop` for `/etc/martlet/shop.yaml`.
    private static func instance(of path: String?) -> String? {
        let (directory, suffix) = ("/etc/martlet/", ".yaml")
        guard let path, path.hasPrefix(directory), path.hasSuffix(suffix) else { return nil }
        let name = path.dropFirst(directory.count).dropLast(suffix.count)
        return name.isEmpty || name.contains("/") || name == "martlet" ? nil : String(name)
    }

    /// Whether the socket's file is there; an address of TCP always is.
    var isThere: Bool {
        guard case .unix(let path) = address else { return true }
        return unsafe access(path, F_OK) == 0
    }
}
