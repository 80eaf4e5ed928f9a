internal import Configuration
internal import Proxy

/// `martlet run`: builds the daemon and runs it to its end.
enum Run {
    static func run(file: String?, with registry: Registry) -> Exit {
        let file = ConfigurationFile.find(file, registry)
        do throws(ConfigurationFile.Refusal) {
            Machine.forbidCoreDumps()
            let loaded = try file.load()
            let daemon = Daemon(file: file, logLevel: loaded.settings.logLevel)
            return daemon.run(loaded)
        } catch {
            error.lines.forEach(Terminal.complain)
            return .configuration
        }
    }
}
