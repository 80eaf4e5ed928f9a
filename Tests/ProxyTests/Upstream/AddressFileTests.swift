import Configuration
import Testing

@testable import Proxy

/// Files with the addresses of an upstream.
@Suite struct AddressFileTests {
    private func hosts(_ text: String) -> Result<[HostPort], AddressFile.Problem> {
        AddressFile.hosts(Array(text.utf8))
    }

    @Test func `each line is a host and a port`() throws {
        let text = "# replicas\r\n10.0.0.1:50051\r\n\n  [::1]:80  # the second\nA.test:1\n10.0.0.1:50051\nb.test:65535"
        let names = try hosts(text).get().map { "\($0)" }
        #expect(names == ["10.0.0.1:50051", "[::1]:80", "a.test:1", "b.test:65535"])
    }

    @Test(arguments: [
        ("", 1), ("# nothing\n", 1), ("10.0.0.1\n", 1), ("a:1\nb:0\n", 2), ("a:1\n\na:b\n", 3), ("a:1\n::1:80\n", 2),
        ("a:1 b:2\n", 1), ("http://a:1\n", 1),
    ])
    func `what is no such file names its line`(_ text: String, _ line: Int) {
        #expect(throws: AddressFile.Problem.self) { try hosts(text).get() }
        if case .failure(let problem) = hosts(text) { #expect(problem.line == line) }
    }

    @Test func `no bytes end the process`() {
        for byte in UInt8.min...UInt8.max { _ = AddressFile.hosts([0x61, byte, 0x3a, 0x31, byte, 0x0a, byte]) }
    }
}
