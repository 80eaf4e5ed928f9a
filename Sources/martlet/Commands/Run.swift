internal import Configuration

/// `martlet run`: builds the daemon and runs it to its end.
enum Run {
    static func run(file: String?) -> Exit {
        let file = ConfigurationFile.find(file)
        do throws(ConfigurationFile.Refusal) {
            let loaded = try file.load()
            let daemon = Daemon(file: file, logLevel: loaded.settings.logLevel)
            return daemon.run(loaded)
        } catch {
            error.lines.forEach(Terminal.complain)
            return .configuration
        }
    }
}
