/// What the tags of YAML's own types say; others are not supported.
enum YAMLTag {
    private static let prefix = "tag:yaml.org,2002:"

    static func isString(_ tag: String?) -> Bool {
        tag == "!" || tag == prefix + "str"
    }

    static func isScalar(_ tag: String?) -> Bool {
        tag == nil || isString(tag) || ["null", "bool", "int", "float"].contains { tag == prefix + $0 }
    }

    static func isSequence(_ tag: String?) -> Bool {
        tag == nil || tag == "!" || tag == prefix + "seq"
    }

    static func isMapping(_ tag: String?) -> Bool {
        tag == nil || tag == "!" || tag == prefix + "map"
    }
}
