internal import Bytes
internal import Documents
internal import Events
package import TLS
package import Time

/// Where a credential comes from, and all that it takes to get it there.
///
/// Two sources that are equal give the same credential: it is fetched once for both.
package enum CredentialSource: Hashable, Sendable {
    /// The configuration or the environment; it never changes.
    case fixed([UInt8])
    /// A file that others write.
    case file(String)
    /// A program.
    case exec(ExecSource)
    /// A server that is asked.
    case http(HTTPSource)
    /// A token that is signed here.
    case jwt(JWTSource)

    /// The file that it is read from, if it is one.
    var path: String? {
        if case .file(let path) = self { path } else { nil }
    }

    /// Whether another credential can be had by asking for one.
    package var isFetched: Bool {
        switch self {
        case .fixed, .file: false
        case .exec, .http, .jwt: true
        }
    }
}

/// A program whose output is a credential; equal if its arguments are, byte by byte.
package struct ExecSource: Hashable, Sendable {
    /// Its path and its arguments.
    let command: [String]
    /// Variables beside those of this process.
    let environment: [String: String]
    /// What it writes.
    @NotHashed var response: CredentialResponse
    let timeout: Duration?

    /// Takes a program and its arguments, and variables beside those of this process.
    package init(command: [String], environment: [String: String], response: CredentialResponse, timeout: Duration?) {
        (self.command, self.environment) = (command, environment)
        (self.response, self.timeout) = (response, timeout)
    }

    package static func == (left: ExecSource, right: ExecSource) -> Bool {
        left.command.elementsEqual(right.command) { $0.isSame(as: $1) } && left.environment == right.environment
            && left.response == right.response && left.timeout == right.timeout
    }
}

/// A server whose response to a request has a credential.
package struct HTTPSource: Hashable, Sendable {
    /// How the caller of the server says who it is.
    package enum Authentication: Hashable, Sendable {
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
    package var form: [Parameter]
    var authentication: Authentication
    @NotHashed var response: CredentialResponse
    let timeout: Duration?

    /// Takes a server, and what it is asked.
    package init(
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
    package struct Parameter: Hashable, Sendable {
        let name: String
        let value: Secret

        /// Takes a name and its value.
        package init(name: String, value: Secret) {
            (self.name, self.value) = (name, value)
        }
    }
}

/// A private key and what is signed by it.
package struct SigningSource: Hashable, Sendable {
    let key: Secret
    let algorithm: SigningAlgorithm
    let keyID: String?

    /// Takes a key, how it signs, and by which name the reader knows it.
    package init(key: Secret, algorithm: SigningAlgorithm, keyID: String?) {
        (self.key, self.algorithm, self.keyID) = (key, algorithm, keyID)
    }
}

/// A token that is signed here.
package struct JWTSource: Hashable, Sendable {
    let signing: SigningSource
    let claims: JWTClaims

    /// Takes what is claimed, and the key that signs it.
    package init(signing: SigningSource, claims: JWTClaims) {
        (self.signing, self.claims) = (signing, claims)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(signing)
        // What differs from call to call.
        hasher.combine(claims.subject)
        hasher.combine(JSONValue.object(claims.others).bytes)
    }
}

/// A part of a key that is compared, but does not count for its hash.
@propertyWrapper
package struct NotHashed<Value: Equatable & Sendable>: Hashable, Sendable {
    package var wrappedValue: Value

    package init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    package func hash(into hasher: inout Hasher) {}
}
