internal import CPCRE2

extension Pattern {
    /// The version of PCRE2.
    public static var libraryVersion: String {
        var text = [CChar](repeating: 0, count: 64)
        unsafe pcre2_config_8(UInt32(PCRE2_CONFIG_VERSION), &text)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
