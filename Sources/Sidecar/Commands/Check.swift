internal import Configuration
internal import Credentials
internal import Events
private import Glibc
internal import Proxy

/// `martlet check`: says all that is wrong with the configuration.
enum Check {
    static func run(file: String?, with registry: Registry) -> Exit {
        let file = ConfigurationFile.find(file, registry)
        do throws(ConfigurationFile.Rejection) {
            let loaded = try file.load()
            let settings = loaded.plan.settings
            loaded.warnings.forEach(Terminal.complain)
            let needs = DescriptorNeeds(settings)
            if needs.isMeant, let shortage = needs.shortage(DescriptorBudget(limit: DescriptorLimit.hard)) {
                Terminal.complain("\(file.name): \(shortage)")
            }
            lacks(loaded).forEach { Terminal.complain("\(file.name): warning for this machine: \($0)") }
            Terminal.print(
                "\(file.name): valid: "
                    + "\(counted(settings.listeners, "listener")), \(counted(settings.upstreams, "upstream")), "
                    + counted(settings.routes, "route")
            )
            return .success
        } catch {
            error.lines.forEach(Terminal.complain)
            return .configuration
        }
    }

    private static func counted(_ things: some Collection, _ name: String) -> String {
        things.count == 1 ? "1 \(name)" : "\(things.count) \(name)s"
    }

    /// What the file needs and this machine does not have: it may be checked where it is not used.
    private static func lacks(_ loaded: ConfigurationFile.Loaded) -> [String] {
        let admin = AdminSettings.effective(loaded.plan.settings).filter(\.isRequired).map {
            ($0.address, $0.permissions)
        }
        let listeners = loaded.plan.settings.listeners.map { ($0.address, $0.permissions) }
        let sockets = (listeners + admin).compactMap { address, permissions in
            ListenSocket.check(address, permissions: permissions)?.description
        }
        let tokens = loaded.plan.tokenFiles.compactMap { path -> String? in
            guard case .failure(let error) = SmallFile.read(path, limit: TokenText.limit) else { return nil }
            return "cannot read the token in \(path): \(error.text)"
        }
        let settings = loaded.plan.settings.sandbox
        let sandbox =
            settings.isOn && settings.fixesPorts && !Landlock.canLimitPorts
            ? ["the kernel cannot limit ports; use Linux 6.7 or later, or write sandbox: { ports: any }"] : []
        let missing = (settings.readable + settings.writable).filter { unsafe access($0.text, F_OK) != 0 }
            .map { "the sandbox cannot allow \($0.text): there is no such directory" }
        let lacks = (loaded.lacks + ConfigurationFile.unwritablePlaces(of: loaded)).map(\.message)
        return sandbox + missing + sockets + lacks + tokens
    }
}
