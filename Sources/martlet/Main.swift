internal import Sidecar

/// The program: the sidecar with the kinds of interceptors that come with it.
@main
enum Main {
    static func main() {
        Martlet.main()
    }
}
