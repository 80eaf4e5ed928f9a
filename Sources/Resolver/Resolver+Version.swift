internal import CAres

extension Resolver {
    /// The version of c-ares.
    public static var libraryVersion: String { unsafe String(cString: ares_version(nil)) }
}
