/// How many messages go each way in the calls that an interceptor takes part in.
public struct CallShapes: OptionSet, Hashable, Sendable {
    /// A bit for each shape.
    public let rawValue: UInt8

    /// Takes bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// One message each way.
    public static let unary = CallShapes(rawValue: 1)
    /// Any number of messages, in one direction or in both.
    public static let stream = CallShapes(rawValue: 2)
    /// Both.
    public static let all: CallShapes = [.unary, .stream]

    /// The words of the file for the shapes.
    static let words = ["unary", "stream"]

    /// The shapes that the words name.
    init(words: [String]) {
        self = words.reduce(into: []) { shapes, word in shapes.insert(word == "unary" ? .unary : .stream) }
    }
}
