internal import CYAML

extension YAML {
    /// The version of libyaml.
    public static var libraryVersion: String { unsafe String(cString: yaml_get_version_string()) }
}
