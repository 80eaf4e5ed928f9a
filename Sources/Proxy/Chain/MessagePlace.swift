public import Configuration
public import Documents
public import Protocols

/// A place in messages that an interceptor looks for.
public struct MessagePlace: Sendable {
    /// What an interceptor does with a place.
    public enum Use: Sendable {
        /// It reads the value in messages.
        case message
        /// It reads the value in messages and in the JSON of errors.
        case messageOrError
        /// It reads the value in messages, in the JSON of errors and in the bodies of plain HTTP.
        case body
        /// It sets or removes the value.
        case change
    }

    /// The place.
    public let pointer: JSONPointer
    /// The pointer as the file has it.
    public let text: String
    /// Where the file has it.
    public let mark: Mark
    /// Whose messages have the place; nil for those of both sides.
    public let direction: Direction?
    /// What the interceptor does with it.
    public let use: Use

    /// Describes a place.
    public init(_ pointer: JSONPointer, text: String, at mark: Mark, _ direction: Direction?, _ use: Use) {
        (self.pointer, self.text, self.mark) = (pointer, text, mark)
        (self.direction, self.use) = (direction, use)
    }
}

/// The plan of an interceptor that looks for places in messages: `check` warns of those that no known type has.
public protocol Pointing: InterceptorPlan {
    /// The places.
    var places: [MessagePlace] { get }
}
