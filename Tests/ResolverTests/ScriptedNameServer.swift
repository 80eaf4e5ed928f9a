import Glibc

/// A DNS server on loopback that responds as the test says, when the test lets it.
final class ScriptedNameServer {
    /// A question that has come in.
    struct Query {
        let bytes: [UInt8]
        /// The name in presentation form.
        let name: String
        let type: UInt16

        static let a: UInt16 = 1
        static let aaaa: UInt16 = 28
    }

    let descriptor: Int32
    let address: String
    private(set) var queries: [Query] = []
    private let response: (Query) -> [UInt8]?

    init(response: @escaping (Query) -> [UInt8]?) {
        self.response = response
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        var local = sockaddr_in()
        local.sin_family = UInt16(AF_INET)
        local.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        unsafe withUnsafeMutableBytes(of: &local) { bytes in
            let system = unsafe bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
            unsafe bind(descriptor, system, length)
            unsafe getsockname(descriptor, system, &length)
        }
        self.descriptor = descriptor
        address = "127.0.0.1:\(UInt16(bigEndian: local.sin_port))"
    }

    deinit {
        close(descriptor)
    }

    /// Reads one question and sends the response, if the script has one.
    func serve() {
        var room = [UInt8](repeating: 0, count: 512)
        var peer = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        unsafe withUnsafeMutableBytes(of: &peer) { bytes in
            let system = unsafe bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
            let count = unsafe recvfrom(descriptor, &room, room.count, 0, system, &length)
            guard count > 12 else { return }
            let query = Self.parse(Array(room[..<count]))
            queries.append(query)
            guard let reply = response(query) else { return }
            unsafe sendto(descriptor, reply, reply.count, 0, system, length)
        }
    }

    private static func parse(_ bytes: [UInt8]) -> Query {
        var labels: [String] = []
        var position = 12
        while bytes[position] != 0 {
            let end = position + 1 + Int(bytes[position])
            labels.append(String(decoding: bytes[position + 1..<end], as: UTF8.self))
            position = end
        }
        let type = UInt16(bytes[position + 1]) << 8 | UInt16(bytes[position + 2])
        return Query(bytes: Array(bytes[..<(position + 5)]), name: labels.joined(separator: "."), type: type)
    }
}

extension ScriptedNameServer.Query {
    /// A response with these records, each the data of one of the type that was asked for.
    func records(_ data: [[UInt8]], timeToLive: UInt32 = 60) -> [UInt8] {
        head(code: 0, responses: data.count) + data.flatMap { record(type, $0, timeToLive) }
    }

    /// A response that the name is another's, with that one's addresses.
    func alias(timeToLive aliasTime: UInt32, _ data: [[UInt8]], timeToLive: UInt32) -> [UInt8] {
        let target: [UInt8] = [4] + Array("host".utf8) + [0]
        let records = data.flatMap { record(type, $0, timeToLive, name: target) }
        return head(code: 0, responses: 1 + data.count) + record(5, target, aliasTime) + records
    }

    /// A response without records: 3 is "no such name", 2 "the server failed".
    func failure(_ code: UInt8) -> [UInt8] {
        head(code: code, responses: 0)
    }

    private func head(code: UInt8, responses: Int) -> [UInt8] {
        [bytes[0], bytes[1], 0x81, 0x80 | code, 0, 1, 0, UInt8(responses), 0, 0, 0, 0] + bytes[12...]
    }

    /// A record of the name that was asked for, unless another is given.
    private func record(_ type: UInt16, _ data: [UInt8], _ time: UInt32, name: [UInt8] = [0xc0, 12]) -> [UInt8] {
        let seconds = (0..<4).map { UInt8(truncatingIfNeeded: time >> (24 - 8 * $0)) }
        return name + [0, UInt8(type), 0, 1] + seconds + [0, UInt8(data.count)] + data
    }
}
