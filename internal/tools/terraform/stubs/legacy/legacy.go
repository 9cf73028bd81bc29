// Package legacy replaces a nested module that the module proxy does not serve. Only "go mod tidy" needs it.
package legacy
