package fleet

// NotDestroyed means that the instance could not be destroyed. Accepted reports whether the API accepted the request.
type NotDestroyed struct {
	Accepted bool
	Err      error
}

func (e NotDestroyed) Error() string { return "not destroyed: " + e.Err.Error() }

// Unwrap returns the error of the request or of the wait.
func (e NotDestroyed) Unwrap() error { return e.Err }

// NotPlanned means that the instance would have to be destroyed, and the plan has not shown that.
type NotPlanned struct{}

func (NotPlanned) Error() string { return "the plan has not shown the destruction" }

// KeptOutbid means that the instance was outbid, and stays so.
type KeptOutbid struct{}

func (KeptOutbid) Error() string { return "outbid" }
