// Package bench counts the requests of plans and applies, and measures their time. It has only tests.
package bench
