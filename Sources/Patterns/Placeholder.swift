// Patterns
