public import Configuration
public import Proxy

/// A mock that stands for an upstream in a rehearsal.
public enum GivenMock {
    /// What serves the calls of a worker by a mock.
    ///
    /// - Parameters:
    ///   - settings: the mock.
    ///   - check: compares it with the known types; none if there are none.
    ///   - diagnostics: what is told of what is wrong.
    /// - Returns: what serves the calls.
    public static func opening(
        of settings: MockSettings,
        checkedBy check: TypeCheck?,
        into diagnostics: Diagnostics
    ) -> (WorkerServices) -> LocalUpstream.Opening {
        let mock = Mock(settings, into: diagnostics)
        if let check { mock.check(check) }
        if let missing = mock.tape?.missing { diagnostics.report(missing.text, at: missing.mark) }
        if mock.hasRawRules {
            let problem = "a mock that stands for an upstream cannot have \"raw\""
            diagnostics.report("\(problem); use it as an interceptor of the configuration", at: settings.mark)
        }
        return { worker in
            let server = MockServer(mock, mock.unmatched, on: worker)
            return { MockCall($0, server, nil) }
        }
    }
}
