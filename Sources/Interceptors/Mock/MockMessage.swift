internal import Bytes
internal import Configuration
internal import Documents
internal import Events
internal import Protocols
internal import Proxy
internal import RPC

/// A message that a mock sends.
enum MockMessage: Sendable {
    /// JSON whose strings are texts; for a call in Protobuf it is the message that it means.
    case json(MockJSON)
    case text(MockText)
    case bytes([UInt8])
    /// The message of the request.
    case echo
    /// Any message of the type.
    case fake
    /// The message without fields: no bytes in Protobuf, whatever its type.
    case empty
    /// JSON that was recorded, and goes as it came.
    case played(MockJSON)
    /// JSON that does not say all of what the message has in Protobuf.
    case recorded(MockJSON, proto: [UInt8])

    /// The largest file, in bytes.
    private static let limit = 4 << 20

    /// Reads the options of a message and reports what is wrong with them; none if none is given.
    init?(_ section: Section) {
        let keys = ["json", "text", "hex", "base64", "file", "echo", "fake"].filter { section.has($0) }
        guard let key = keys.first else { return nil }
        if keys.count > 1, keys != ["json", "base64"] { section.reportConflict(keys[0], keys[1]) }
        section.reportFalse("echo", "fake")
        switch key {
        case "json":
            guard let node = section.node("json") else { return nil }
            let json = MockJSON(node, into: section.diagnostics)
            self = section.base64("base64").map { .recorded(json, proto: $0) } ?? .json(json)
        case "text":
            let text = section.string("text")
            self = .text(MockText(text, at: section.mark(of: key), into: section.diagnostics))
        case "hex": self = .bytes(section.hexadecimal("hex") ?? [])
        case "base64": self = .bytes(section.base64("base64") ?? [])
        case "file": self = .bytes(Self.file(section))
        case "fake": self = .fake
        default: self = .echo
        }
    }

    /// Reads the message of a step in a script, which may be copied from a tape, and reports what is wrong with it.
    init?(inScript section: Section) {
        for key in ["cut", "withheld"] where section.has(key) {
            let problem = "the message was not recorded"
            section.report("\(problem); write it as \"json\", \"text\" or \"base64\" in place of \"\(key)\"", at: key)
            self = .empty
            return
        }
        self.init(section)
    }

    /// Reads a recorded message of a response.
    init(recorded section: Section, isProto: Bool) {
        let json = section.node("json").map { MockJSON($0, into: section.diagnostics) }
        let bytes = section.base64("base64")
        switch (json, bytes) {
        case (let json?, let bytes?) where isProto: self = .recorded(json, proto: bytes)
        case (let json?, _): self = .played(json)
        case (nil, let bytes?): self = .bytes(bytes)
        case (nil, nil):
            let text = section.string("text")
            self = .text(MockText(text, at: section.mark(of: "text"), into: section.diagnostics))
        }
    }

    private static func file(_ section: Section) -> [UInt8] {
        let path = section.string("file")
        switch SmallFile.read(path, limit: limit) {
        case .success(let bytes): return bytes
        case .failure(let error):
            let advice = "write the path of a readable file of at most \(ByteCount.text(limit))"
            section.report("cannot read \(path): \(error.text); \(advice)", at: "file")
            return []
        }
    }

    /// Whether it cannot be made without the types.
    var needsTypes: Bool { if case .fake = self { true } else { false } }

    /// The number of messages of the request that it needs.
    var neededMessages: Int {
        switch self {
        case .echo: 1
        default: texts.map(\.neededMessages).max() ?? 0
        }
    }

    /// The texts in it.
    var texts: [MockText] {
        switch self {
        case .json(let json): json.texts
        case .text(let text): [text]
        case .bytes, .echo, .fake, .empty, .played, .recorded: []
        }
    }

    /// The message in JSON, without what depends on the call; none if it is not written so.
    var constant: [UInt8]? {
        if case .json(let json) = self { json.constant } else { nil }
    }

    /// The headers of plain HTTP that the message is the body of, if nothing else says what it is.
    var plainHeaders: [(name: [UInt8], value: [UInt8])] {
        if case .json = self { [(Array("content-type".utf8), Array("application/json".utf8))] } else { [] }
    }

    /// Whether the message cannot be made for callers with a codec that Martlet does not know.
    var needsCodec: Bool {
        switch self {
        case .json, .empty, .fake, .played, .recorded: true
        case .text, .bytes, .echo: false
        }
    }

    /// The message, in the codec of the call.
    func payload(_ context: MockContext) throws(RPCError) -> [UInt8] {
        switch self {
        case .recorded(_, let bytes) where context.call.codec == .proto: return bytes
        case .empty: return try context.call.emptyMessage(.response)
        case .json(let json):
            let queue = ByteQueue()
            json.append(context, to: queue)
            return try context.call.typedMessage(json: queue.readable, .response)
        case .played(let json), .recorded(let json, _):
            let queue = ByteQueue()
            json.append(context, to: queue)
            return try context.call.message(json: queue.readable, .response)
        case .text(let text): return text.value(context)
        case .bytes(let bytes): return bytes
        case .echo: return context.payload
        case .fake: return try context.call.fakeMessage(.response) { context.worker.randomFraction() }
        }
    }
}

/// JSON whose strings are texts of a mock.
typealias MockJSON = JSONTree<MockText>

extension JSONTree where Text == MockText {
    init(_ node: Node, into diagnostics: Diagnostics) {
        self.init(node) { MockText($0, at: $1, into: diagnostics) }
    }

    /// The value as JSON, without the members and items that depend on the call.
    var constant: [UInt8] {
        let queue = ByteQueue()
        constantTree?.append(to: queue) { text in
            let constant = text.constant ?? []
            queue.append(json: constant.span)
        }
        return queue.isEmpty ? Array("null".utf8) : queue.readable.array
    }

    private var constantTree: JSONTree? {
        switch self {
        case .plain: self
        case .text(let text): text.constant == nil ? nil : self
        case .array(let items): .array(items.compactMap(\.constantTree))
        case .object(let members):
            .object(members.compactMap { member in member.value.constantTree.map { (member.name, $0) } })
        }
    }

    /// Appends the value as compact JSON; a string that is one value of the message and nothing else has its type.
    func append(_ context: MockContext, to queue: ByteQueue) {
        append(to: queue) { text in
            if let place = text.place {
                let value = context.value(at: place.pointer, ofMessage: place.message)
                queue.append(value?.bytes ?? Array("null".utf8))
            } else {
                queue.append(json: text.value(context).span)
            }
        }
    }
}
