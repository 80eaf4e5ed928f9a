internal import Proxy

/// `martlet diff`: says what a reload from one file to another would touch.
enum DiffCommand {
    static func run(from old: String, to new: String, with registry: Registry) -> Exit {
        do throws(ConfigurationFile.Rejection) {
            // Both are to be loaded, so that all errors of both are told at once.
            var plans: [Plan] = []
            var lines: [String] = []
            for path in [old, new] {
                do throws(ConfigurationFile.Rejection) {
                    plans.append(try ConfigurationFile(path: path, registry: registry).load().plan)
                } catch {
                    lines += error.lines
                }
            }
            guard plans.count == 2 else { throw ConfigurationFile.Rejection(lines: lines) }
            ReloadDiff(from: plans[0], to: plans[1]).lines.forEach(Terminal.print)
            return .success
        } catch {
            error.lines.forEach(Terminal.complain)
            return .configuration
        }
    }
}
