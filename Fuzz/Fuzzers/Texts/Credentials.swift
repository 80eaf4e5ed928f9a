internal import Bytes
internal import Documents
internal import Events
internal import Policy
internal import Time

@testable internal import Credentials
@testable internal import Proxy

/// What programs and servers send when they are asked for a credential, in each form.
///
/// The first byte of the input says the form and the status, what follows is the response.
enum Credentials {
    private static let now = WallTime(secondsSince1970: 1_700_000_000)
    /// What the inputs to begin with have for a value.
    private static let secret = "hush-hush"

    private static let forms: [CredentialResponse] = [
        .text,
        .json(
            CredentialFields(
                value: JSONPointer("/a/0")!,
                expiresIn: JSONPointer("/in"),
                expiresAt: JSONPointer("/at")
            )
        ),
        .oauth2,
        .exchange(requested: nil),
        .exchange(requested: "urn:ietf:params:oauth:token-type:access_token"),
        .execCredential,
        .tokenRequest,
        .aws(value: CredentialResponse.sessionToken),
    ]

    static func run(_ input: Span<UInt8>) {
        guard input.count > 0 else { return }
        let form = forms[Int(input[0] & 7)]
        let response = input.extracting(1...).array
        check(form, response, status: input[0] & 8 == 0 ? 200 : 400)
        checkTime(String(decoding: response, as: UTF8.self))
        _ = JWT.expiry(of: response)
    }

    private static func check(_ form: CredentialResponse, _ response: [UInt8], status: Int) {
        do throws(CredentialResponseError) {
            let credential = try form.credential(status: status, body: response, at: now)
            demand(status == 200, "an error brings no credential")
            demandSame(try? form.credential(in: response, at: now), credential, "a response reads the same each time")
            check(credential)
        } catch {
            let text = error.text
            demand(!text.unicodeScalars.contains { $0.value < 0x20 }, "a fault is one line: \(text)")
            demand(!text.contains(secret), "a fault does not tell secrets: \(text)")
        }
    }

    private static func check(_ credential: Credential) {
        let value = credential.value
        demand(!value.isEmpty && value.count <= TokenText.limit, "a credential has a length")
        demand(!value.contains { $0 < 0x20 || $0 == 0x7f }, "a credential can stand in a header")
        demand(value.first != 0x20 && value.last != 0x20, "no space is around it")
        guard let expiry = credential.expiry else { return }
        demand(expiry > now, "a credential has not ended")
        for ahead in [Duration.zero, 60 * .second, .max] {
            let schedule = RefreshSchedule(ahead: ahead)
            guard let pause = schedule.pause(fetched: now, expiry: expiry, random: 0.99) else { fail("it ends") }
            let isInTime = pause <= max(RefreshSchedule.minPause, expiry.duration(saturatingSince: now))
            demand(pause >= RefreshSchedule.minPause && isInTime, "the next is fetched before the end")
        }
    }

    /// A time with another offset is the same time.
    private static func checkTime(_ text: String) {
        guard let time = RFC3339.wallTime(text), text.hasSuffix("Z") else { return }
        demandSame(RFC3339.wallTime(text.dropLast() + "+00:00"), time, "UTC has two names: \(text)")
        // Before the first time that nanoseconds reach, hours make no difference.
        if time > .min, let later = RFC3339.wallTime(text.dropLast() + "-01:00") {
            demandSame(later, time.adding(saturating: 3600 * .second), "an offset is taken off: \(text)")
        }
    }
}
