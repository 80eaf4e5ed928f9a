extension SocketAddress {
    /// Reads a literal IPv4 (`127.0.0.1`) or IPv6 address (`::1`, without brackets and scope); none for anything else.
    public init?(literal text: String, port: UInt16) {
        if let address = IPAddressText.parseIPv4(text[...]) {
            self = .ipv4(address, port: port)
        } else if let address = IPAddressText.parseIPv6(text) {
            self = .ipv6(address, port: port)
        } else {
            return nil
        }
    }
}

/// IP addresses as text: dotted decimal, and RFC 4291 §2.2 written as RFC 5952 recommends.
enum IPAddressText {
    static func ipv4(_ address: ArraySlice<UInt8>) -> String {
        address.map { String($0) }.joined(separator: ".")
    }

    static func ipv6(_ address: ArraySlice<UInt8>) -> String {
        if isMappedIPv4(address) { return "::ffff:" + ipv4(address.suffix(4)) }
        let bytes = Array(address)
        let groups = (0..<8).map { UInt16(bytes[2 * $0]) << 8 | UInt16(bytes[2 * $0 + 1]) }
        let gap = longestRunOfZeros(groups)
        let head = text(groups[..<gap.lowerBound])
        return gap.isEmpty ? head : head + "::" + text(groups[gap.upperBound...])
    }

    static func isMappedIPv4(_ address: ArraySlice<UInt8>) -> Bool {
        address.prefix(10).allSatisfy { $0 == 0 } && address.dropFirst(10).prefix(2) == [0xff, 0xff]
    }

    /// Strict dotted decimal: four numbers, no leading zeros, which some readers take for octal.
    static func parseIPv4(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var address: [UInt8] = []
        for part in parts {
            guard part == "0" || part.first != "0", part.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }),
                let byte = UInt8(part)
            else { return nil }
            address.append(byte)
        }
        return address
    }

    static func parseIPv6(_ text: String) -> [UInt8]? {
        guard let gap = text.indices.first(where: { text[$0...].hasPrefix("::") }) else {
            guard let address = parseGroups(text[...]), address.count == 16 else { return nil }
            return address
        }
        guard !text[..<gap].contains("."), let head = parseGroups(text[..<gap]),
            let tail = parseGroups(text[gap...].dropFirst(2)), head.count + tail.count <= 14
        else { return nil }
        return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
    }

    /// Groups of one to four hexadecimal digits between colons; the last may be an IPv4 address.
    private static func parseGroups(_ text: Substring) -> [UInt8]? {
        if text.isEmpty { return [] }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        var address: [UInt8] = []
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, let last = parseIPv4(part) { return address + last }
            guard (1...4).contains(part.utf8.count), part.first?.isHexDigit == true, let group = UInt16(part, radix: 16)
            else { return nil }
            address += [UInt8(group >> 8), UInt8(truncatingIfNeeded: group)]
        }
        return address
    }

    private static func text(_ groups: ArraySlice<UInt16>) -> String {
        groups.map { String($0, radix: 16) }.joined(separator: ":")
    }

    /// The first of the longest runs of at least two zeros; an empty range at the end if there is none.
    private static func longestRunOfZeros(_ groups: [UInt16]) -> Range<Int> {
        var longest = groups.count..<groups.count
        var start = 0
        for index in 0...groups.count where index == groups.count || groups[index] != 0 {
            if index - start > max(1, longest.count) { longest = start..<index }
            start = index + 1
        }
        return longest
    }
}
