public import Credentials
public import Time

/// A server whose response to a request has a credential.
public struct HTTPSource: Hashable, Sendable {
    /// How the caller of the server says who it is.
    public enum Authentication: Hashable, Sendable {
        /// It does not.
        case none
        /// The header `authorization: Bearer` with this secret.
        case bearer(Secret)
        /// The client's id and secret as user and password (RFC 6749 §2.3.1).
        case basic(id: String, Secret)
        /// The same in the form that is sent.
        case post(id: String, Secret)
        /// An assertion that is signed here (RFC 7523 §2.2).
        case privateKeyJWT(id: String, SigningSource)
        /// The id alone, of a client without a secret.
        case id(String)
    }

    /// The key of the source in the file.
    let kind: String
    let server: FetchServer
    /// What is sent; where there is a form, the body is made of that.
    var request: FetchRequest
    /// The parameters of a form in their order.
    public var form: [Parameter]
    var authentication: Authentication
    @NotHashed var response: CredentialResponse
    let timeout: Duration?

    /// Takes a server, and what it is asked.
    public init(
        kind: String,
        server: FetchServer,
        request: FetchRequest,
        form: [Parameter] = [],
        authentication: Authentication = .none,
        response: CredentialResponse,
        timeout: Duration?
    ) {
        (self.kind, self.server, self.request, self.form) = (kind, server, request, form)
        (self.authentication, self.response, self.timeout) = (authentication, response, timeout)
    }

    /// One parameter of a form.
    public struct Parameter: Hashable, Sendable {
        let name: String
        let value: Secret

        /// Takes a name and its value.
        public init(name: String, value: Secret) {
            (self.name, self.value) = (name, value)
        }
    }
}
