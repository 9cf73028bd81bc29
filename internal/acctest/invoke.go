package acctest

import "strings"

// Invoke runs the action at the given address of a configuration with apply -invoke. It returns the output on one line
// and whether the command succeeded.
func (w *Workspace) Invoke(config, address string) (output string, ok bool) {
	w.t.Helper()
	w.Configure(config)
	output, err := w.Try("apply", "-invoke="+address, "-auto-approve", "-no-color")
	return WithoutFrame(output), err == nil
}

// WithoutFrame removes the line that the CLI draws beside errors and warnings, and returns the text on one line.
func WithoutFrame(output string) string {
	return Words(strings.NewReplacer("│", " ", "╷", " ", "╵", " ").Replace(output))
}
