package simulator

// Save and KeepSaved export methods of a server for tests.
var (
	Save      = (*Simulator).save
	KeepSaved = (*Simulator).keepSaved
)
