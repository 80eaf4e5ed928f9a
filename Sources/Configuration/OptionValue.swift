internal import Time

/// The value of an option after it was read: as given in the file, or else its default.
enum OptionValue {
    case string(String)
    case bool(Bool)
    /// None is `none`: no end.
    case duration(Duration?)
    /// None is `auto`, or `none`: no limit.
    case integer(Int?)
    case strings([MarkedString])
    case integers([Int])
    case map([NamedString])
    case section(Section)
    case sections([Section])
    case named([NamedSection])
    case node(Node)
}
