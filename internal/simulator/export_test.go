package simulator

// Operation is an operation that the simulator serves.
type Operation struct {
	// ID is the operation id in the contract.
	ID string
	// Path is relative to the base URL, with {placeholders}.
	Method, Path string
	// Scope is the scope that a key needs, "" if no key is needed.
	Scope string
}

// Operations returns all operations in the order of the API document.
func Operations() []Operation {
	var operations []Operation
	for _, rt := range routes {
		if rt.id == "" {
			continue
		}
		op := Operation{ID: rt.id, Method: rt.method, Path: rt.pattern}
		if rt.access != accessPublic && rt.access != accessOptional {
			op.Scope = string(rt.access)
		}
		operations = append(operations, op)
	}
	return operations
}
