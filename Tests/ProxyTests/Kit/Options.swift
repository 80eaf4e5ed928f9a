import Configuration
import Documents
import Interceptors

@testable import Proxy

/// Options as they stand in a file, read by their table.
func options(_ yaml: String, _ table: [Option], into diagnostics: Diagnostics = Diagnostics()) -> Section {
    Section(YAML.parse(Array(yaml.utf8), into: diagnostics) ?? Node(.null, at: .start), table, into: diagnostics)
}

/// What is wrong with an interceptor of a chain, in words, without the places.
func problems(_ item: String) -> [String] {
    let diagnostics = Diagnostics()
    let yaml = "listen: 127.0.0.1:8080\nupstream: http://127.0.0.1:9000\ninterceptors: [{ \(item) }]\n"
    _ = Plan(YAML.parse(Array(yaml.utf8), into: diagnostics), kinds: .builtIn, into: diagnostics)
    return diagnostics.sorted.map(\.message)
}
