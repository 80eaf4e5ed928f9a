internal import CYAML
internal import Configuration

/// The steps of a YAML text, read by libyaml.
///
/// A syntax error ends the reading: it is thrown with the position and words that a person can use.
@safe
final class YAMLEvents {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let text: UnsafeMutableBufferPointer<UInt8>

    /// Starts to read a copy of `text`, which is UTF-8.
    init(_ text: [UInt8]) {
        // libyaml keeps a pointer to the text, so it must not move.
        let withoutBOM = text.starts(with: [0xef, 0xbb, 0xbf]) ? text.dropFirst(3) : text[...]
        unsafe self.text = .allocate(capacity: withoutBOM.count)
        _ = unsafe self.text.initialize(from: withoutBOM)
        unsafe parser = .allocate(capacity: 1)
        let isReady = unsafe yaml_parser_initialize(parser)
        guard isReady == 1 else { fatalError("out of memory creating a YAML parser") }
        unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        unsafe yaml_parser_set_input_string(parser, self.text.baseAddress, self.text.count)
    }

    deinit {
        unsafe yaml_parser_delete(parser)
        unsafe parser.deallocate()
        unsafe text.deallocate()
    }

    /// The next step; after the end of the stream it must not be asked for.
    func next() throws(Diagnostic) -> YAMLEvent {
        var event = unsafe yaml_event_t()
        while true {
            guard unsafe yaml_parser_parse(parser, &event) == 1 else {
                throw unsafe YAMLProblem(parser.pointee, in: text).diagnostic
            }
            defer { unsafe yaml_event_delete(&event) }
            if let step = unsafe Self.step(event) { return step }
        }
    }

    private static func step(_ event: yaml_event_t) -> YAMLEvent? {
        let mark = unsafe Mark(event.start_mark)
        switch unsafe event.type {
        case YAML_SCALAR_EVENT:
            let scalar = unsafe event.data.scalar
            let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            let isPlain = unsafe scalar.style == YAML_PLAIN_SCALAR_STYLE
            let kind = YAMLEvent.Kind.scalar(unsafe String(decoding: bytes, as: UTF8.self), quoted: !isPlain)
            return unsafe YAMLEvent(kind: kind, mark: mark, anchor: string(scalar.anchor), tag: string(scalar.tag))
        case YAML_ALIAS_EVENT:
            return unsafe YAMLEvent(kind: .alias(string(event.data.alias.anchor) ?? ""), mark: mark)
        case YAML_SEQUENCE_START_EVENT:
            let start = unsafe event.data.sequence_start
            return unsafe YAMLEvent(
                kind: .sequenceStart,
                mark: mark,
                anchor: string(start.anchor),
                tag: string(start.tag)
            )
        case YAML_MAPPING_START_EVENT:
            let start = unsafe event.data.mapping_start
            return unsafe YAMLEvent(
                kind: .mappingStart,
                mark: mark,
                anchor: string(start.anchor),
                tag: string(start.tag)
            )
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: return YAMLEvent(kind: .end, mark: mark)
        case YAML_DOCUMENT_START_EVENT: return YAMLEvent(kind: .document, mark: mark)
        case YAML_STREAM_END_EVENT: return YAMLEvent(kind: .endOfStream, mark: mark)
        default: return nil
        }
    }

    private static func string(_ text: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        unsafe text.map { unsafe String(cString: $0) }
    }
}

extension Mark {
    /// The position that libyaml counts from zero.
    init(_ mark: yaml_mark_t) {
        self.init(line: mark.line + 1, column: mark.column + 1)
    }
}
