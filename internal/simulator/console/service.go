// Package console serves the web pages of the simulator: the page that approves a device login, and a dashboard of
// instances, money and faults. It holds no state; it calls a [Service].
package console

// Service is the backend of the pages. Its methods are safe for concurrent use.
type Service interface {
	// Overview returns the current data of the dashboard. Its script reads them as JSON.
	Overview() any
	// Login returns the pending device login with a user code, or a [*Refusal] if there is none.
	Login(userCode string) (Login, error)
	// Decide approves or denies a pending device login. It returns a [*Refusal] if there is none.
	Decide(userCode string, approve bool) error
}

// Login is a pending device login.
type Login struct {
	// UserCode is the code that the client shows.
	UserCode string
	// ClientName is the name that the client sent. It is not verified.
	ClientName string
}

// Refusal is an error with a message in both languages.
type Refusal struct {
	// Status is the HTTP status of the page.
	Status int
	RU, EN string
}

func (r *Refusal) Error() string { return r.EN }
