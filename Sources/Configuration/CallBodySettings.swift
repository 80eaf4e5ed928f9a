/// What a named call sends.
public enum CallBodySettings: Equatable, Sendable {
    /// Text, which is a template.
    case text(MarkedString)
    /// Bytes, which the file has in base64.
    case base64(MarkedString)
    /// Any value; the strings in it are templates.
    case json(Node)
    /// The parameters of a form in their order; the values are templates.
    case form([NamedString])
    /// The parts of a form with files.
    case multipart([CallPartSettings])
    /// The bytes of a file.
    case file(MarkedString)

    static let options = [
        Option("text", .string, oneOf: "kind", "Text: a template. It goes as text/plain; charset=utf-8."),
        Option("data", .section(dataOptions), oneOf: "kind", "Bytes. They go as application/octet-stream."),
        Option(
            "json",
            .node,
            oneOf: "kind",
            "Any YAML value, sent as JSON in the same order; strings in it are templates. It goes as application/json."
        ),
        Option(
            "form",
            .map,
            oneOf: "kind",
            "The parameters of a form; the values are templates. They go as application/x-www-form-urlencoded."
        ),
        Option(
            "urlencoded",
            .section(CallParameters.options),
            oneOf: "kind",
            "Likewise, with lists and true or false."
        ),
        Option(
            "multipart",
            .sections(CallPartSettings.options),
            oneOf: "kind",
            "The parts of a form with files. They go as multipart/form-data."
        ),
        Option(
            "file",
            .string,
            oneOf: "kind",
            example: "/etc/martlet/login.bin",
            "A file: short for data with a file."
        ),
    ]

    private static let dataOptions = [
        Option("base64", .string, oneOf: "source", example: "AQID", "The bytes in base64."),
        Option(
            "file",
            .string,
            oneOf: "source",
            "The file that holds the bytes, 16MiB at most, read each time it is sent."
        ),
    ]

    /// Reads the body; none if there is no good one, which is reported.
    init?(_ section: Section) {
        if let text = section.marked("text") {
            self = .text(text)
        } else if section.has("data") {
            let data = section.section("data")
            if let text = data.marked("base64") {
                self = .base64(text)
            } else if let file = data.marked("file") {
                self = .file(file)
            } else {
                return nil
            }
        } else if let node = section.node("json") {
            self = .json(node)
        } else if section.has("form") {
            self = .form(section.map("form"))
        } else if section.has("urlencoded") {
            self = .form(CallParameters.read(section.section("urlencoded")))
        } else if section.has("multipart") {
            if case .sequence([])? = section.node("multipart")?.content {
                section.report("\"multipart\" is empty; add a part such as { name: a, value: b }", at: "multipart")
            }
            self = .multipart(section.sections("multipart").compactMap(CallPartSettings.init))
        } else if let file = section.marked("file") {
            self = .file(file)
        } else {
            return nil
        }
    }
}
