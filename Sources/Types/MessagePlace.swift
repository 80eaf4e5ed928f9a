/// Which places messages of a type can have, by the names on the way to them.
///
/// The JSON of a message has no name for what is within a value of a scalar type, and any name within a value of an Any or a Struct.
extension MessageType {
    /// How fields are named.
    public enum Naming: Sendable {
        /// As Martlet reads messages: by the names in ProtoJSON alone.
        case read
        /// As Martlet changes messages: by these or by those of the definition.
        case changed
    }

    /// Whether a message can have a place.
    ///
    /// - Parameters:
    ///   - tokens: the names of fields, the keys of maps and the indices of lists on the way; `*` is any of these two.
    ///   - naming: how fields are named.
    /// - Returns: false only if no message of the type has it.
    public func hasPlace(_ tokens: [String], _ naming: Naming) -> Bool {
        PlaceSearch(naming: naming, nearest: nil).found(tokens[...], in: self) != nil
    }

    /// The place that may have been meant by one that a message cannot have.
    ///
    /// - Parameters:
    ///   - tokens: the names on the way.
    ///   - nearest: the name that may have been meant, of those that there are.
    /// - Returns: the names on the way to it; none if there is no guess.
    public func nearestPlace(
        _ tokens: [String],
        by nearest: @escaping (_ name: String, _ known: [String]) -> String?
    ) -> [String]? {
        PlaceSearch(naming: .changed, nearest: nearest).found(tokens[...], in: self)
    }
}

/// Goes a way through types.
private struct PlaceSearch {
    let naming: MessageType.Naming
    /// Guesses a name; none if names have to be right.
    let nearest: ((String, [String]) -> String?)?

    /// The way, with the names that are right; none if there is no such way.
    func found(_ tokens: ArraySlice<String>, in type: MessageType) -> [String]? {
        guard let token = tokens.first else { return [] }
        let rest = tokens.dropFirst()
        switch type.form {
        case .any, .value, .structure: return Array(tokens)
        case .list: return Self.isIndex(token) ? Array(tokens) : nil
        case .fieldMask, .duration, .timestamp, .wrapper: return nil
        case .fields: break
        }
        if token.hasPrefix("["), type.hasExtensions { return Array(tokens) }
        guard let field = field(token, type) else { return nil }
        return found(rest, below: field).map { [field.jsonName] + $0 }
    }

    private func field(_ token: String, _ type: MessageType) -> FieldType? {
        let named = type.fields.first { $0.jsonName == token || naming == .changed && $0.name == token }
        guard named == nil, let nearest else { return named }
        let name = nearest(token, type.fields.map(\.jsonName))
        return type.fields.first { $0.jsonName == name }
    }

    private func found(_ tokens: ArraySlice<String>, below field: FieldType) -> [String]? {
        guard let token = tokens.first else { return [] }
        switch field.shape {
        case .single: return found(tokens, inValueOf: field)
        case .list:
            guard Self.isIndex(token) else { return nil }
            return found(tokens.dropFirst(), inValueOf: field).map { [token] + $0 }
        case .map:
            return found(tokens.dropFirst(), inValueOf: field.messageType.fields[1]).map { [token] + $0 }
        }
    }

    private func found(_ tokens: ArraySlice<String>, inValueOf field: FieldType) -> [String]? {
        guard !tokens.isEmpty else { return [] }
        return field.isMessage ? found(tokens, in: field.messageType) : nil
    }

    private static func isIndex(_ token: String) -> Bool {
        token == "*" || !token.isEmpty && token.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
