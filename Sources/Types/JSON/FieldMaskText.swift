internal import Bytes

/// The paths of a FieldMask, which are in snake_case and in JSON in lowerCamelCase.
enum FieldMaskText {
    /// A path as JSON has it; none if that would not lead back to it.
    static func lowerCamelCase(_ path: Span<UInt8>) -> [UInt8]? {
        var result: [UInt8] = []
        var isRaised = false
        for index in 0..<path.count {
            switch path[index] {
            case UInt8(ascii: "_") where !isRaised: isRaised = true
            case UInt8(ascii: "a")...UInt8(ascii: "z"):
                result.append(isRaised ? path[index] - 0x20 : path[index])
                isRaised = false
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."):
                guard !isRaised else { return nil }
                result.append(path[index])
            default: return nil
            }
        }
        return isRaised || result.isEmpty ? nil : result
    }

    /// A path from JSON; none if it is not one.
    static func snakeCase(_ path: Span<UInt8>) -> [UInt8]? {
        var result: [UInt8] = []
        for index in 0..<path.count {
            switch path[index] {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): result += [UInt8(ascii: "_"), path[index] + 0x20]
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."):
                result.append(path[index])
            default: return nil
            }
        }
        return result.isEmpty ? nil : result
    }
}
