import Configuration
import Testing

@testable import Events

/// Where the files are that a configuration names.
@Suite struct NamedFilePathTests {
    private let path = NamedFile(path: "/run/token", at: .start)

    @Test func `a path is what it says`() {
        #expect(path.path == "/run/token" && !path.isCredential)
    }

    @Test func `a file that cannot be read is an error`() {
        let diagnostics = Diagnostics()
        #expect(NamedFile(path: "/nowhere/token", at: .start).read(limit: 10, into: diagnostics) == nil)
        #expect(diagnostics.sorted.map(\.message) == ["cannot read /nowhere/token: No such file or directory"])
        #expect(diagnostics.lacks.isEmpty)
    }
}
