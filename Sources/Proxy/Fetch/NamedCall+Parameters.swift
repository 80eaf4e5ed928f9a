internal import Configuration

/// What a named call says of its parameters.
extension NamedCall {
    /// Reports parameters that have the name of something else, that nothing uses, or that may be absent where something has
    /// to stand.
    func checkParameters(into diagnostics: Diagnostics) {
        let used = Set((templates + (body?.templates ?? [])).flatMap(\.parameters))
        for (index, parameter) in settings.parameters.enumerated() {
            let name = parameter.name
            if TemplateParser.plain[name] != nil {
                let problem = "{\(name)} is a part of the caller's call"
                diagnostics.report("\(problem); give the parameter another name", at: parameter.mark)
            } else if !used.contains(index) {
                let advice = "write {\(name)} in \"url\", \"query\", \"headers\" or \"body\", or remove it"
                diagnostics.report(
                    "nothing uses the parameter \(Diagnostic.quote(name)); \(advice)",
                    at: parameter.mark
                )
            }
        }
        for index in Set(needed).sorted() where parameters.canBeAbsent(index) {
            let (name, mark) = (settings.parameters[index].name, settings.parameters[index].mark)
            let advice =
                path.parameters.contains(index) || urlQuery?.parameters.contains(index) != true
                ? "add \"required\" or \"default\"" : "write query: { \(name): \"{\(name)}\" }, or add \"default\""
            diagnostics.report("the parameter \(Diagnostic.quote(name)) may be absent from a text; \(advice)", at: mark)
        }
    }

    /// The parameters in texts of which nothing can be left out.
    private var needed: [Int] {
        var texts = [path] + [urlQuery].compactMap { $0 }
        if case .text(let text)? = body { texts.append(text) }
        return texts.flatMap(\.parameters)
    }

    /// The names of the parameters in a template, for people.
    func names(of template: Template) -> String {
        template.parameters.map { parameters.names[$0] }.joined(separator: ", ")
    }
}

extension Template {
    /// Whether the value of a parameter in it has characters that no header may have.
    func hasControl(_ arguments: CallArguments) -> Bool {
        parameters.contains { index in
            (arguments[index]?.text ?? []).contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }
        }
    }
}
