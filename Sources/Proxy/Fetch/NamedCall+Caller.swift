internal import Configuration

extension NamedCall {
    /// What of a caller its request depends on, as `CallerDependence` names it.
    public var callerParts: Set<String> {
        let values = [settings.url.path, settings.url.query ?? ""] + (settings.query + settings.headers).map(\.text)
        let parts = values.reduce(into: Set<String>()) { $0.formUnion(CallerDependence.parts(of: $1)) }
        return parts.union(settings.body?.callerParts ?? [])
    }
}

extension CallBodySettings {
    fileprivate var callerParts: Set<String> {
        switch self {
        case .base64, .file: []
        case .text(let text): CallerDependence.parts(of: text.text)
        case .json(let node): CallerDependence.parts(of: node)
        case .form(let entries): entries.reduce(into: []) { $0.formUnion(CallerDependence.parts(of: $1.text)) }
        case .multipart(let parts):
            parts.reduce(into: []) { all, part in
                if case .value(let text) = part.content { all.formUnion(CallerDependence.parts(of: text.text)) }
            }
        }
    }
}
