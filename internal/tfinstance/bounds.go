package tfinstance

// Bounds of the API.
const (
	MinDiskGB  = 10
	MaxDiskGB  = 2000
	MaxSSHKeys = 10 // of an instance
)
