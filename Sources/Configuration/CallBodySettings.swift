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
        Option("text", .string, oneOf: "kind", "A template. Martlet sends it as text/plain; charset=utf-8."),
        Option("data", .section(dataOptions), oneOf: "kind", "Bytes. Martlet sends them as application/octet-stream."),
        Option(
            "json",
            .node,
            oneOf: "kind",
            """
            Any YAML value. Martlet sends it as JSON, in the same order, as application/json. Its strings are \
            templates.
            """
        ),
        Option(
            "form",
            .map,
            oneOf: "kind",
            """
            The parameters of a form. The values are templates. Martlet sends them as \
            application/x-www-form-urlencoded.
            """
        ),
        Option(
            "urlencoded",
            .section(URLEncodedSettings.options),
            oneOf: "kind",
            """
            A form whose values may also be lists, `true` or `false`. Martlet sends it as \
            application/x-www-form-urlencoded.
            """
        ),
        Option(
            "multipart",
            .sections(CallPartSettings.options),
            oneOf: "kind",
            "The parts of a form with files. Martlet sends them as multipart/form-data."
        ),
        Option(
            "file",
            .string,
            oneOf: "kind",
            file: .read,
            example: "/etc/martlet/login.bin",
            "A file. Short for `data` with `file`."
        ),
    ]

    private static let dataOptions = [
        Option("base64", .string, oneOf: "source", example: "AQID", "The bytes in base64."),
        Option(
            "file",
            .string,
            oneOf: "source",
            file: .read,
            "The file with the bytes, at most 16MiB. Martlet reads it for every request."
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
            self = .form(URLEncodedSettings.read(section.section("urlencoded")))
        } else if section.has("multipart") {
            section.reportIfEmpty("multipart", write: "a part such as { name: a, value: b }")
            self = .multipart(section.sections("multipart").compactMap(CallPartSettings.init))
        } else if let file = section.marked("file") {
            self = .file(file)
        } else {
            return nil
        }
    }
}
