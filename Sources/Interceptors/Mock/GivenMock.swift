public import Configuration
public import Proxy

/// A mock that stands for an upstream in a rehearsal.
public enum GivenMock {
    /// What serves the calls of a worker by a mock; what is wrong with the mock is reported.
    public static func opening(
        of settings: MockSettings,
        into diagnostics: Diagnostics
    ) -> (WorkerServices) -> LocalUpstream.Opening {
        let mock = Mock(settings, into: diagnostics)
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
