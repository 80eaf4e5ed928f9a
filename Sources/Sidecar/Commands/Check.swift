internal import Configuration
internal import Proxy

/// `martlet check`: says all that is wrong with the configuration.
enum Check {
    static func run(file: String?, with registry: Registry) -> Exit {
        let file = ConfigurationFile.find(file, registry)
        do throws(ConfigurationFile.Refusal) {
            let loaded = try file.load()
            let settings = loaded.settings
            loaded.warnings.forEach(Terminal.complain)
            Terminal.print(
                "\(file.name): good: \(settings.listeners.count) listeners, \(settings.upstreams.count) upstreams, "
                    + "\(settings.routes.count) routes"
            )
            return .success
        } catch {
            error.lines.forEach(Terminal.complain)
            return .configuration
        }
    }
}
