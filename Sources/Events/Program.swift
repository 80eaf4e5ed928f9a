private import CLinux

/// The program that runs, as it was started and built.
public enum Program {
    /// The arguments, after the name of the program.
    ///
    /// `CommandLine.arguments` is empty if a preloaded library changes the environment; this is not.
    public static var arguments: [String] {
        (1..<max(1, martlet_argument_count())).map { unsafe String(cString: martlet_argument($0)) }
    }

    /// The build ID in hexadecimal, which a symbol file of the same build has too; nil if the linker gave none.
    public static var buildID: String? {
        let text = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 129) { room in
            unsafe martlet_build_id(room.baseAddress!, room.count)
            return unsafe String(cString: room.baseAddress!)
        }
        return text.isEmpty ? nil : text
    }
}
