extension StringProtocol {
    /// Whether both texts are the same bytes of UTF-8.
    ///
    /// A trap: to `==` texts are equal that only look the same, such as `K` and the sign for kelvin. What others compare
    /// byte by byte, such as names in JSON and the users of tokens, is not for `==`.
    public func isSame(as other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8)
    }
}
