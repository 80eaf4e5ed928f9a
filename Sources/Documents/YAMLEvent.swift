internal import Configuration

/// One step of a YAML document.
struct YAMLEvent {
    /// What the step is.
    enum Kind {
        case scalar(String, quoted: Bool)
        case alias(String)
        case sequenceStart
        case mappingStart
        case end
        case document
        case endOfStream
    }

    let kind: Kind
    let mark: Mark
    var anchor: String?
    var tag: String?
}
