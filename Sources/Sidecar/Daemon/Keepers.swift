/// Those that look after the process beside its work.
struct Keepers {
    /// Gives memory back.
    let memory: MemoryKeeper
    /// Ends stalled calls where memory is short.
    let relief: MemoryRelief
    /// Watches for workers that are stuck.
    let health: WorkerHealth
}
