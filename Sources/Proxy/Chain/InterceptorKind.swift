internal import Configuration

/// A kind of interceptor: its name, its options and how one is made of them.
///
/// Everything about a kind is in its own file in `Interceptors/`; `Registry` lists them.
struct InterceptorKind: Sendable {
    /// The key that names the kind in a chain.
    let name: String
    /// What it does: a sentence for the reference page.
    let summary: String
    /// Whether it answers calls itself, so that a route with it can do without an upstream.
    var answers = false
    /// Its options, read by this table.
    let options: [Option]
    /// Makes an interceptor of read options; what is wrong with them is reported to the section's diagnostics.
    let make: @Sendable (Section, CompileContext) -> any Interceptor
}

/// What interceptors are made with, beside their options.
final class CompileContext {
    /// The name of the interceptor that is being made.
    var name = ""
    /// The tokens that are kept up to date from outside.
    let tokens: TokenStore
    /// Where lines go; nil while a configuration is only checked, when no file is to be made.
    let lineWriters: LineWriters?
    /// The kinds that there are.
    let kinds: [InterceptorKind]

    init(tokens: TokenStore, lineWriters: LineWriters?, kinds: [InterceptorKind] = Registry.kinds) {
        self.tokens = tokens
        self.lineWriters = lineWriters
        self.kinds = kinds
    }
}
