package rental

import "errors"

// IsDefinitive reports whether the API itself refused a request, or none was sent. After any other error, such as a
// network error or the page of a proxy, the outcome of the request is unknown.
func IsDefinitive(err error) bool {
	apiErr, ok := errors.AsType[*Error](err)
	if !ok || apiErr.Attempts == 0 {
		return true
	}
	return IsNotFound(err) || IsConflict(err) || IsUnauthorized(err) || IsForbidden(err) || IsInsufficientFunds(err) ||
		IsValidation(err)
}

// Invalidate makes cached results under the first element of a path, such as "instances", as old as after a write.
func (c *Client) Invalidate(path string) { c.writeCount(path).Add(1) }
