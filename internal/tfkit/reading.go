package tfkit

// How resources are read. Only builds for measurements, with the build tag
// "bench", know another way than shared.
const (
	readShared  = "shared"  // all of a kind at once
	readEach    = "each"    // one request for each, as providers commonly do
	readNothing = "nothing" // not at all: what the CLI and the framework cost
)
