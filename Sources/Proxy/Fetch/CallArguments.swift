/// The values of a named call's parameters, as one request gives them.
public struct CallArguments: Equatable, Sendable {
    /// One value.
    struct Value: Equatable, Sendable {
        /// The value as it stands in a text.
        let text: [UInt8]
        /// The value as JSON: a number stays one.
        let json: [UInt8]
    }

    /// The values by the numbers of the parameters; none where the request gives none.
    private let values: [Value?]

    /// Those of a call without parameters.
    static let none = CallArguments([])

    init(_ values: [Value?]) { self.values = values }

    /// The value of a parameter; none if it is absent.
    subscript(_ parameter: Int) -> Value? { values[parameter] }

    /// Whether all of these parameters have values.
    func has(_ parameters: [Int]) -> Bool { parameters.allSatisfy { values[$0] != nil } }
}
