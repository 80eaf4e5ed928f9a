internal import Time

extension Option {
    /// The value that an entry of the file gives to the option; none if it is wrong, which is reported.
    func decode(_ entry: Node.Entry, into diagnostics: Diagnostics) -> OptionValue? {
        let node = entry.value
        if needsItems, case .sequence([]) = node.content {
            diagnostics.report("\(Diagnostic.quote(key)) is an empty list; write \(expected)", at: node.mark)
            return nil
        }
        switch kind {
        case .node: return .node(node)
        case .strings: return strings(node, into: diagnostics).map(OptionValue.strings)
        case .choices(let words): return choices(node, among: words, into: diagnostics)
        case .integers(let range): return integers(node, in: range, into: diagnostics)
        case .map: return map(node, into: diagnostics)
        case .section(let options, let shorthand):
            return .section(Section(node, options, shorthand: shorthand, into: diagnostics))
        case .sections(let options, let shorthand):
            guard case .sequence(let items) = node.content else { return wrong(node, into: diagnostics) }
            return .sections(items.map { Section($0, options, shorthand: shorthand, into: diagnostics) })
        case .named(let options, let shorthand):
            guard case .mapping(let entries) = node.content else { return wrong(node, into: diagnostics) }
            return .named(entries.map { named($0, options, shorthand, into: diagnostics) })
        case .string, .bool, .duration, .timeout, .size, .sizeLimit, .integer, .integerOrAuto, .choice:
            guard let text = node.text else { return wrong(node, into: diagnostics) }
            return scalar(text) ?? wrong(node, into: diagnostics)
        }
    }

    /// The value where the file gives none.
    func defaultValue(at mark: Mark) -> OptionValue? {
        guard let fallback else { return nil }
        let value = decode(Node.Entry(key: key, keyMark: mark, value: .plain(fallback, at: mark)), into: Diagnostics())
        precondition(value != nil, "the default of \(key) is not \(expected)")
        return value
    }

    private func scalar(_ text: String) -> OptionValue? {
        switch kind {
        case .bool: return text == "true" ? .bool(true) : text == "false" ? .bool(false) : nil
        case .duration: return text == "none" ? .duration(nil) : Duration(text: text).map(OptionValue.duration)
        case .timeout:
            if text == "none" { return .duration(nil) }
            return Duration(text: text).flatMap { $0 > .zero ? .duration($0) : nil }
        case .sizeLimit where text == "none": return .integer(nil)
        case .size(let range), .sizeLimit(let range):
            return ByteCount(text: text).flatMap { range.contains($0.bytes) ? .integer($0.bytes) : nil }
        case .integerOrAuto where text == "auto": return .integer(nil)
        case .integer(let range), .integerOrAuto(let range): return integer(text, in: range).map(OptionValue.integer)
        case .choice(let words): return words.contains(text) ? .string(text) : nil
        default: return .string(text)
        }
    }

    private func integer(_ text: String, in range: ClosedRange<Int>) -> Int? {
        Int(text).flatMap { range.contains($0) ? $0 : nil }
    }

    private func strings(_ node: Node, into diagnostics: Diagnostics) -> [MarkedString]? {
        switch node.content {
        case .scalar(let text, _): return [MarkedString(text, at: node.mark)]
        case .sequence(let items):
            return items.compactMap { item in
                if let text = item.text { return MarkedString(text, at: item.mark) }
                return wrong(item, into: diagnostics)
            }
        case .null, .mapping: return wrong(node, into: diagnostics)
        }
    }

    private func integers(_ node: Node, in range: ClosedRange<Int>, into diagnostics: Diagnostics) -> OptionValue? {
        guard let texts = strings(node, into: diagnostics) else { return nil }
        return .integers(
            texts.compactMap { text in
                integer(text.text, in: range) ?? wrong(.plain(text.text, at: text.mark), into: diagnostics)
            }
        )
    }

    private func choices(_ node: Node, among words: [String], into diagnostics: Diagnostics) -> OptionValue? {
        guard let texts = strings(node, into: diagnostics) else { return nil }
        return .strings(
            texts.compactMap { text in
                words.contains(text.text) ? text : wrong(.plain(text.text, at: text.mark), into: diagnostics)
            }
        )
    }

    private func map(_ node: Node, into diagnostics: Diagnostics) -> OptionValue? {
        guard let entries = node.entries else { return wrong(node, into: diagnostics) }
        let values: [NamedString] = entries.compactMap { entry in
            if let text = entry.value.text {
                return NamedString(name: entry.key, nameMark: entry.keyMark, text: text, mark: entry.value.mark)
            }
            var advice = "write a string"
            if case .mapping = entry.value.content { advice += ", in quotes if it starts with {" }
            if case .null = entry.value.content { advice += ", \"\" for an empty one" }
            let problem = "\(Diagnostic.quote(entry.key)) cannot be \(entry.value.summary)"
            diagnostics.report("\(problem); \(advice)", at: entry.value.mark)
            return nil
        }
        return .map(values)
    }

    private func named(
        _ entry: Node.Entry,
        _ options: [Option],
        _ shorthand: String?,
        into diagnostics: Diagnostics
    ) -> NamedSection {
        let section = Section(entry.value, options, shorthand: shorthand, into: diagnostics)
        return NamedSection(name: entry.key, mark: entry.keyMark, section: section)
    }

    /// Reports that `node` is no value of this option, and is none; text is quoted only where no secret can be meant.
    private func wrong<Value>(_ node: Node, into diagnostics: Diagnostics) -> Value? {
        var advice = "write \(expected)"
        var found = node.summary
        switch kind {
        case .string, .strings, .map, .section, .sections, .named, .node: found = node.shape
        case .bool, .duration, .timeout, .size, .sizeLimit, .integer, .integerOrAuto, .integers: break
        case .choice(let words), .choices(let words):
            if let text = node.text { advice = Suggestion.text(for: text, among: words) }
        }
        if case .mapping = node.content, case .string = kind { advice += ", in quotes if it starts with {" }
        diagnostics.report("\(Diagnostic.quote(key)) cannot be \(found); \(advice)", at: node.mark)
        return nil
    }
}
