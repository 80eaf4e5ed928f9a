internal import Events
internal import Interceptors
public import Proxy
internal import Time

/// The program `martlet`, for executables to be made of.
///
/// An executable of one's own, which knows kinds of interceptors that do not come with Martlet, is one line:
///
/// ```swift
/// Martlet.main(adding: [GreetingInterceptor.kind])
/// ```
public enum Martlet {
    /// Reads the command line, does what it says, and ends the process with the exit code that belongs to it.
    ///
    /// Call it once, first thing, on the main thread.
    ///
    /// - Parameter kinds: kinds of interceptors over and above those that come with Martlet; each name is to be new.
    public static func main(adding kinds: [InterceptorKind] = []) -> Never {
        for (index, kind) in kinds.enumerated() {
            let others = Registry.builtIn.kinds + kinds[..<index]
            guard others.contains(where: { $0.name == kind.name }) else { continue }
            Terminal.complain("martlet: two interceptor kinds have the name \(kind.name)")
            Exit.now(.failure)
        }
        do throws(UsageError) {
            let invocation = try Invocation(Program.arguments)
            let exit = try invocation.command.run(invocation, Registry.builtIn.adding(kinds))
            guard let error = Terminal.outputError else { Exit.now(exit) }
            Terminal.complain("martlet: cannot write to standard output: \(error.text)")
            Exit.now(exit == .success ? .failure : exit)
        } catch {
            Terminal.complain(error.text)
            Exit.now(.usage)
        }
    }
}
