import Events
import Testing

@testable import Sidecar

/// The manual page names what the table of commands names.
struct ManualTests {
    private let lines: [Substring]

    init() throws {
        let path = "\(#filePath)"
        let root = path[..<(path.firstRange(of: "/Tests/")?.lowerBound ?? path.endIndex)]
        let page = try SmallFile.read("\(root)/docs/man/martlet.1", limit: 1 << 20).get()
        lines = String(decoding: page, as: UTF8.self).split(separator: "\n")
    }

    /// The words of the items of a section's lists, without macros and punctuation.
    private func items(of section: String) -> [Substring] {
        let start = lines.firstIndex(of: ".Sh \(section)") ?? lines.endIndex
        let body = lines[start...].dropFirst().prefix { !$0.hasPrefix(".Sh ") }
        return body.filter { $0.hasPrefix(".It ") }
            .flatMap { $0.dropFirst(4).split { $0 == " " || $0 == "," } }
    }

    @Test func `every command has an item`() {
        let items = items(of: "DESCRIPTION")
        for command in Command.all { #expect(items.contains(command.name[...]), "\(command.name)") }
    }

    @Test func `every option has an item`() {
        let items = items(of: "DESCRIPTION")
        for spelling in Command.allOptions.flatMap(\.spellings) {
            #expect(items.contains(spelling.dropFirst()), "\(spelling)")
        }
    }

    @Test func `every alias is explained`() {
        for spelling in Command.all.flatMap(\.aliases).flatMap(\.spellings) {
            #expect(lines.contains(".Fl \(spelling.dropFirst())"), "\(spelling)")
        }
    }

    @Test func `every signal and exit code has an item`() {
        let names = items(of: "SIGNALS").filter { $0 != "Dv" }
        #expect(names == HandledSignal.all.flatMap(\.names).map { $0[...] })
        #expect(items(of: "EXIT STATUS") == Exit.meanings.map { "\($0.exit.code)"[...] })
    }
}
