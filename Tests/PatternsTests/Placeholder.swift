// PatternsTests
