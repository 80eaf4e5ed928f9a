/// One part of a form with files.
public struct CallPartSettings: Equatable, Sendable {
    /// What a part holds.
    public enum Content: Equatable, Sendable {
        /// A value, which is a template.
        case value(MarkedString)
        /// The bytes of a file, under the name that the server is told.
        case file(MarkedString, name: String)
    }

    /// The name of the part.
    public let name: String
    /// What it holds.
    public let content: Content
    /// Its content type; none is that of the kind: nothing for a value, `application/octet-stream` for a file.
    public let type: MarkedString?

    static let options = [
        Option("name", .string, required: true, example: "photo", "The name of the part."),
        Option("value", .string, oneOf: "content", "The content of the part, a template."),
        Option(
            "file",
            .string,
            oneOf: "content",
            file: .read,
            example: "/var/lib/app/photo.png",
            "The file with the content of the part, at most 16MiB. Martlet reads it for every request."
        ),
        Option(
            "filename",
            .string,
            "The file name to send. The default is the last segment of the path."
        ),
        Option(
            "type",
            .string,
            example: "image/png",
            "The content type of the part. The default is application/octet-stream for a file, and none for a value."
        ),
    ]

    /// Reads a part; none if its name or content is missing, which is reported.
    init?(_ section: Section) {
        type = section.marked("type")
        let file = section.marked("file")
        if file == nil, section.has("filename") {
            section.reportUnused("filename", without: "file")
        }
        guard let name = section.string(ifGiven: "name") else { return nil }
        self.name = name
        if let value = section.marked("value") {
            content = .value(value)
        } else if let file {
            let last = file.text.split(separator: "/").last.map(String.init)
            content = .file(file, name: section.string(ifGiven: "filename") ?? last ?? "")
        } else {
            return nil
        }
    }
}
