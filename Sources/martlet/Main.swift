/// The program: reads the command line and does what it says.
@main
enum Main {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        Exit.now(Invocation.parse(arguments).run())
    }
}
