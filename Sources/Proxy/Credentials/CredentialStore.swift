internal import Events

/// The credentials as one worker knows them; what it lacks it orders from their keeper.
///
/// Belongs to the worker's thread.
final class CredentialStore {
    private let loop: EventLoop?
    private let order: (CredentialOrder) -> Void
    private var slots: [CredentialSource: CredentialSlot] = [:]
    /// Those that interceptors have named, in the order of the file.
    private(set) var named: [NamedCredential] = []
    /// The most slots that are kept of credentials that nobody waits for.
    private static let maxCredentials = 1000

    /// Makes a store; without a loop it is one for looking at a configuration, where nothing is ordered.
    init(on loop: EventLoop? = nil, order: @escaping (CredentialOrder) -> Void = { _ in }) {
        self.loop = loop
        self.order = order
    }

    /// Another configuration begins to name credentials; what is known of them stays, unless already the one before did
    /// not name them any more.
    func begin() {
        named = []
        slots = slots.filter { !$0.value.isRetired || $0.value.isAwaited }
        for slot in slots.values {
            slot.isRetired = slot.isRetired || slot.isNamed
            slot.isNamed = false
        }
    }

    /// Somebody waits for a credential that was perhaps let go of, in a call from before.
    func adopt(_ slot: CredentialSlot) {
        if slots[slot.source] == nil { slots[slot.source] = slot }
    }

    /// The slot of a credential that the configuration names.
    func slot(_ source: CredentialSource, name: String, refreshAhead: Nanoseconds) -> CredentialSlot {
        named.append(NamedCredential(name: name, source: source, refreshAhead: refreshAhead))
        let slot = slot(source)
        slot.isNamed = true
        slot.isRetired = false
        return slot
    }

    /// The slot of a credential.
    func slot(_ source: CredentialSource) -> CredentialSlot {
        if let known = slots[source] { return known }
        if slots.count >= Self.maxCredentials + named.count {
            slots = slots.filter { $0.value.isNamed || $0.value.isAwaited }
        }
        let slot = CredentialSlot(source, on: loop, order: order)
        slots[source] = slot
        return slot
    }

    /// The files that credentials come from.
    var paths: [String] {
        slots.keys.compactMap { if case .file(let path) = $0 { path } else { nil } }.sorted()
    }

    /// Takes what is known of a credential now.
    func update(_ source: CredentialSource, _ state: CredentialState) {
        slots[source]?.take(state)
    }
}
