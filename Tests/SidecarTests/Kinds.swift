import Configuration
import Proxy

/// Kinds that do not come with Martlet, as a program of one's own has them.
enum Kinds {
    /// One whose options need nothing.
    static let greeting = kind(
        "greeting",
        summary: "Greets.",
        options: [
            Option("words", .choice(["hello", "1.5"]), default: "hello", "What is said: hello|1.5."),
            Option("to", .node, shape: .either([.value(.bool), .value(.section(place))]), "Whom it is said to."),
            Option("from", .section(place), "Who says it."),
        ]
    )

    /// One with a group, of which one option must be given.
    static let source = kind(
        "source",
        summary: "Takes from somewhere.",
        options: [
            Option("file", .string, oneOf: "source", example: "\"007\"", "A file."),
            Option("most", .size(in: 1024...1 << 20), oneOf: "source", "A size."),
        ]
    )

    static let place = [Option("city", .string, required: true, "The city.")]

    private static func kind(_ name: String, summary: String, options: [Option]) -> InterceptorKind {
        InterceptorKind(name: name, summary: summary, isPerAttempt: name == "source", options: options) { _, _ in
            Nothing()
        }
    }

    private struct Nothing: InterceptorPlan {
        let events: EventSet = []

        func instance(on worker: WorkerServices) -> any Interceptor { Idle() }
    }

    private final class Idle: Interceptor {}
}
