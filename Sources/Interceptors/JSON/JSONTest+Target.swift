internal import Bytes
public import Documents

extension JSONTest {
    /// The test for a path with its query, both in the normal form: the texts of the test may be written otherwise.
    ///
    /// A regular expression stays as it is.
    public var ofTarget: JSONTest {
        switch self {
        case .value(.string(let text)): .value(.target(Array(text.utf8).span))
        case .contains(.string(let text)):
            // The text may be of the query, which has no other form.
            .any([self, .contains(.path(part: Array(text.utf8).span))])
        case .not(let test): .not(test.ofTarget)
        case .any(let tests): .any(tests.map(\.ofTarget))
        case .all(let tests): .all(tests.map(\.ofTarget))
        default: self
        }
    }
}

extension JSONValue {
    /// A part of a path, as text in the normal form.
    fileprivate static func path(part: Span<UInt8>) -> JSONValue {
        .string(String(decoding: URLPath.normal(part: part), as: UTF8.self))
    }

    /// A path with its query, as text in the normal form.
    public static func target(_ target: Span<UInt8>) -> JSONValue {
        .string(String(decoding: URLPath.normal(target: target), as: UTF8.self))
    }
}
