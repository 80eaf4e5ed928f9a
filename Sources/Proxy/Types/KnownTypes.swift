internal import Configuration
internal import Events
package import Types

/// The types of messages that a configuration knows, and how they are written in JSON.
package struct KnownTypes: Sendable {
    /// The largest file with a descriptor set, in bytes.
    private static let limit = 16 << 20

    /// The services and messages.
    package let set: TypeSet
    /// How messages are written in JSON.
    package let form: JSONForm
    /// Whether members that no field has are left out of a request, and not an error.
    package let dropsUnknown: Bool
    /// The paths by which callers may use methods; none if they may not.
    package let restTable: RESTTable?
    /// The names of query parameters that such requests may have for others.
    let ignored: [String]
    /// What has been said of fields that they do not have.
    let unknownFields = UnknownFields()

    /// Reads the files that the settings name, and reports what is wrong with them; none if there are no files.
    init?(_ settings: TypesSettings, into diagnostics: Diagnostics) {
        guard !settings.files.isEmpty else { return nil }
        var sets: [DescriptorSet] = []
        for file in settings.files {
            switch SmallFile.read(file.text, limit: Self.limit) {
            case .success(let bytes): sets.append(DescriptorSet(source: file.text, bytes: bytes))
            case .failure(let error):
                let advice = "write the path of a readable file of at most \(ByteCount.text(Self.limit))"
                diagnostics.report("cannot read the types in \(file.text): \(error.text); \(advice)", at: file.mark)
            }
        }
        guard sets.count == settings.files.count else { return nil }
        do throws(TypeSetError) {
            set = try TypeSet(sets)
        } catch {
            for problem in error.problems {
                let file = settings.files.first { $0.text == problem.source } ?? settings.files[0]
                diagnostics.report("\(file.text): \(problem.text)", at: file.mark)
            }
            return nil
        }
        var form = JSONForm()
        form.keepsNames = settings.json.keepsNames
        form.writesDefaults = settings.json.writesDefaults
        form.writesEnumNumbers = settings.json.writesEnumNumbers
        self.form = form
        dropsUnknown = settings.dropsUnknown
        ignored = settings.ignored
        restTable = Self.restTable(settings, set, into: diagnostics)
    }

    /// The paths of the services that the settings name, if they name any.
    private static func restTable(
        _ settings: TypesSettings,
        _ set: TypeSet,
        into diagnostics: Diagnostics
    ) -> RESTTable? {
        guard let first = settings.rest.first else { return nil }
        let known = set.services.map(\.name)
        for service in settings.rest where !known.contains(service.text) {
            let name = Diagnostic.quote(service.text)
            diagnostics.report(
                "no service is named \(name); \(Suggestion.text(for: service.text, among: known))",
                at: service.mark
            )
        }
        do throws(TypeSetError) {
            return try RESTTable(set, services: settings.rest.map(\.text))
        } catch {
            for problem in error.problems { diagnostics.report(problem.text, at: first.mark) }
            return nil
        }
    }
}
