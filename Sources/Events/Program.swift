private import CLinux

/// The program that runs, as it was started.
public enum Program {
    /// The arguments, after the name of the program.
    ///
    /// `CommandLine.arguments` is empty if a preloaded library changes the environment; this is not.
    public static var arguments: [String] {
        (1..<max(1, martlet_argument_count())).map { unsafe String(cString: martlet_argument($0)) }
    }
}
