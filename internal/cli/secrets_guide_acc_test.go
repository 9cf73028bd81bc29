package cli_test

import "testing"

// Keys are where the guide says, and nowhere else.
func TestAccSecretsGuide(t *testing.T) {
	followTrial(t, "secrets.md")
}
