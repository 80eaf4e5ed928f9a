internal import Configuration
internal import Events
internal import Proxy
internal import Telemetry

/// Where an interceptor's lines go: stdout, stderr or a file.
struct LogDestination: Sendable {
    let target: LineWriter.Target
    /// The permission bits of the file, if the configuration says any.
    let mode: UInt32?

    /// Takes the destination that an option names, and the mode that another does; what is wrong with them is reported.
    init(_ key: String, mode modeKey: String? = nil, of section: Section, _ context: BuildContext) {
        switch section.string(key) {
        case "stdout":
            target = .standardOutput
            context.resources.outputLogs.append(section.mark(of: key))
        case "stderr": target = .standardError
        case let path:
            target = .file(path)
            if !path.hasPrefix("/") {
                let problem = "\(Diagnostic.quote(path)) is not a valid log destination"
                section.report("\(problem); write stdout, stderr or /path", at: key)
            }
            if target.namesStandardOutput { context.resources.outputLogs.append(section.mark(of: key)) }
            context.resources.logFiles.append(MarkedString(path, at: section.mark(of: key)))
            section.diagnostics.note(SystemNeed(.writes(path), at: section.mark(of: key)))
        }
        mode = modeKey.flatMap { [target] in Self.mode($0, of: target, section, context.resources) }
    }

    private static func mode(
        _ key: String,
        of target: LineWriter.Target,
        _ section: Section,
        _ resources: BuildResources
    ) -> UInt32? {
        guard let mode = section.fileMode(key) else { return nil }
        guard case .file(let path) = target else {
            section.report("\"\(key)\" has no effect without a file; write to a file, or remove it", at: key)
            return nil
        }
        let first = resources.logModes[path] ?? mode
        if first != mode {
            let problem = "another log sets the mode of \(path) to 0\(String(first, radix: 8))"
            section.report("\(problem); write the same mode", at: key)
        }
        resources.logModes[path] = first
        return mode
    }
}
