import Configuration
import Documents

/// What became of a file: its settings, and its errors as lines without the name of the file.
struct Reading {
    let settings: Settings
    let errors: [String]
    let warnings: [String]

    init(_ yaml: String) {
        let diagnostics = Diagnostics()
        settings = Settings(
            YAML.parse(Array(yaml.utf8), into: diagnostics),
            into: diagnostics,
            respondingKinds: ["reject", "respond"]
        )
        errors = diagnostics.sorted.map { "\($0.mark.line):\($0.mark.column): \($0.message)" }
        warnings = diagnostics.warnings.map { "\($0.mark.line):\($0.mark.column): \($0.message)" }
    }
}

/// A document with the errors that reading it as YAML gave.
func document(_ yaml: [UInt8]) -> (node: Node?, errors: [String]) {
    let diagnostics = Diagnostics()
    let node = YAML.parse(yaml, into: diagnostics)
    return (node, diagnostics.sorted.map { "\($0.mark.line):\($0.mark.column): \($0.message)" })
}

func document(_ yaml: String) -> (node: Node?, errors: [String]) {
    document(Array(yaml.utf8))
}
