internal import Bytes
package import Configuration

/// A file of addresses: a host and a port on each line, and comments behind `#`.
package enum AddressFile {
    /// What is wrong with a file.
    package struct Problem: Error, Equatable {
        /// The number of the line, from 1.
        package let line: Int
        /// What is wrong with it, for people.
        package let text: String
    }

    /// The hosts of a file, each once.
    ///
    /// - Returns: the hosts in their order; what is wrong with the first line that is, or that there are none.
    package static func hosts(_ bytes: [UInt8]) -> Result<[HostPort], Problem> {
        var hosts: [HostPort] = []
        var seen: Set<HostPort> = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let content = line.prefix { $0 != UInt8(ascii: "#") }
            let bytes = content.span.trimmed.array.filter { $0 != UInt8(ascii: "\r") }
            guard !bytes.isEmpty else { continue }
            guard let text = String(validating: bytes, as: UTF8.self), let host = HostPort(text), host.port > 0 else {
                let text = String(decoding: bytes.prefix(64), as: UTF8.self).debugDescription
                return .failure(
                    Problem(line: index + 1, text: "\(text) is not a host and a port, such as 10.0.0.1:50051")
                )
            }
            if seen.insert(host).inserted { hosts.append(host) }
        }
        return hosts.isEmpty ? .failure(Problem(line: 1, text: "the file has no addresses")) : .success(hosts)
    }
}
