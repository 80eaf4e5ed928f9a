extension Section {
    /// The permission bits that a `string` option gives in three or four octal digits; none if the file does not give
    /// them, or gives wrong ones, which is reported.
    public func fileMode(_ key: String) -> UInt32? {
        guard let text = string(ifGiven: key) else { return nil }
        let isOctal = 3...4 ~= text.utf8.count && text.allSatisfy(\.isASCIIDigit)
        if isOctal, let bits = UInt32(text, radix: 8), bits <= 0o777 { return bits }
        let problem = "\"\(key)\" cannot be \(Diagnostic.quote(text))"
        report("\(problem); write octal digits such as \"0660\"", at: key)
        return nil
    }
}
