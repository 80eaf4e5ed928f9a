"""What the end-to-end behaviours share: the daemon, its neighbours, and patience."""
