internal import Bytes
internal import Configuration
internal import HTTP
internal import Patterns
internal import Proxy

/// How a path becomes another.
struct PathRule: Sendable {
    static let options = [
        Option("template", .string, oneOf: "rule", example: "/v2{path}", "A template for the whole path."),
        Option(
            "prefix",
            .string,
            oneOf: "rule",
            example: "/v1/",
            "The prefix to replace. It must end at a segment boundary of the path."
        ),
        Option(
            "pattern",
            .string,
            oneOf: "rule",
            example: "^/v1/(.*)$",
            "The regular expression (PCRE2) for the part of the path to replace."
        ),
        Option(
            "with",
            .string,
            example: "/v2/",
            "The replacement of the prefix or of the match. `$1` is the first group of the pattern."
        ),
    ]

    private enum Change: Sendable {
        case template(Template)
        case prefix([UInt8], with: [UInt8])
        case pattern(Pattern, with: Replacement)
        case none
    }

    private var change = Change.none

    /// Compiles the rule; what is wrong with it is reported.
    init(_ section: Section) {
        if let text = section.marked("template") {
            change = .template(Self.template(text, section))
        } else if section.has("with") {
            Self.check([Array(section.string("with").utf8)], "with", section)
            change = section.has("pattern") ? Self.pattern(section) : Self.prefix(section)
        } else if section.has("prefix") || section.has("pattern") {
            section.diagnostics.report("\"with\" is missing; add the replacement, such as with: /", at: section.mark)
        }
    }

    private static func template(_ text: MarkedString, _ section: Section) -> Template {
        let template = Template(text.text, at: text.mark, into: section.diagnostics)
        check(template.texts, "template", section)
        if let beginning = template.beginning, beginning.first != UInt8(ascii: "/") {
            section.report("a path must start with \"/\"; write for example /v2", at: "template")
        }
        if section.has("with") { section.report("\"with\" has no effect with \"template\"; remove it", at: "with") }
        return template
    }

    private static func prefix(_ section: Section) -> Change {
        let (prefix, new) = (Array(section.string("prefix").utf8), Array(section.string("with").utf8))
        if prefix.first != UInt8(ascii: "/") {
            section.report("a path must start with \"/\"; write for example /v1", at: "prefix")
        }
        // Without it, what follows has to begin with "/", which behind another "/" is hardly meant.
        let mayBeEmpty = prefix.last != UInt8(ascii: "/")
        if new.first != UInt8(ascii: "/"), !new.isEmpty || !mayBeEmpty {
            section.report("a path must start with \"/\"; write for example /v2", at: "with")
        }
        return .prefix(URLPath.normal(part: prefix.span), with: new)
    }

    private static func pattern(_ section: Section) -> Change {
        var key = "pattern"
        do throws(PatternError) {
            let pattern = try Pattern(section.string("pattern"))
            key = "with"
            return .pattern(pattern, with: try Replacement(section.string("with"), for: pattern))
        } catch {
            section.report("\(error)", at: key)
            return .none
        }
    }

    /// Reports what no path can have in it.
    private static func check(_ texts: [[UInt8]], _ key: String, _ section: Section) {
        guard !texts.allSatisfy({ HTTPHead.isPath(([UInt8(ascii: "/")] + $0).span) }) else { return }
        section.report(
            "a path cannot contain spaces, quotes, control characters, ? or #; write %20 for a space",
            at: key
        )
    }

    /// Appends what the path of the call becomes.
    func append(_ call: Call, to queue: ByteQueue) {
        let request = call.request
        let path = request.path
        switch change {
        case .template(let template): template.render(for: call, to: queue)
        case .prefix(let prefix, let new):
            let (beginning, end) = URLPath.normalBeginning(of: path, count: prefix.count)
            guard beginning == prefix, path.endsSegment(at: end) else { return queue.append(path) }
            queue.append(new)
            queue.append(path.extracting(end..<path.count))
            if queue.isEmpty { queue.append(byte: UInt8(ascii: "/")) }
        case .pattern(let pattern, let replacement):
            let isChanged = request.withNormalPath { pattern.replaceAll(in: $0, with: replacement, into: queue) }
            if !isChanged { queue.append(path) }
        case .none: queue.append(path)
        }
    }
}

extension Span<UInt8> {
    /// Whether a segment of the path ends where its first `count` bytes do.
    fileprivate func endsSegment(at count: Int) -> Bool {
        count == self.count || self[count] == UInt8(ascii: "/") || count > 0 && self[count - 1] == UInt8(ascii: "/")
    }
}
