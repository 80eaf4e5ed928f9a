// Resolver
