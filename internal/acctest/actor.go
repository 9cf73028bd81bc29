package acctest

import "strings"

// Actor runs the action at an address of a configuration. It tells what was said,
// on one line, and whether it went well.
type Actor func(config, address string) (said string, ok bool)

// Actor runs actions in this process.
func (p *Protocol) Actor() Actor {
	return func(config, address string) (string, bool) {
		p.env.t.Helper()
		progress, diags := p.Invoke(config, address)
		return Words(strings.Join(progress, " ")) + " " + Said(diags), !Failed(diags)
	}
}

// Actor runs actions with the CLI, which must know them, in a folder of their own.
func (w *Workspace) Actor() Actor {
	return func(config, address string) (string, bool) {
		w.t.Helper()
		w.Configure(config)
		output, err := w.Try("apply", "-invoke="+address, "-auto-approve", "-no-color")
		// What is said of an error has a frame.
		return Words(strings.NewReplacer("│", " ", "╷", " ", "╵", " ").Replace(output)), err == nil
	}
}
