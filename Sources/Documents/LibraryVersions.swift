internal import CJansson
internal import CYAML

extension YAML {
    /// The version of libyaml.
    public static var libraryVersion: String { unsafe String(cString: yaml_get_version_string()) }
}

extension JSON {
    /// The version of Jansson.
    public static var libraryVersion: String { unsafe String(cString: jansson_version_str()) }
}
