package cli_test

import "testing"

// Several states, runs at the same time, a limit that is spent and a lock that is held: as the guide says. Its simulator
// is one of its own, because in that of the other guides a minute is too short to be waited for.
func TestAccAtScaleGuide(t *testing.T) {
	tr := newTrial(t)
	installed := tr.installed(t)
	reader := guideRun{
		cli: tr.cli, folder: t.TempDir(),
		env: tr.environ(map[string]string{"PATH": installed["PATH"], "TF_CLI_CONFIG_FILE": installed["TF_CLI_CONFIG_FILE"]}),
	}
	reader.follow(t, readGuide(t, "at-scale.md"))
	script{
		name: "the standard format", text: "$TF fmt -check -diff -recursive", folder: reader.folder, shell: []string{"sh", "-e"},
		env: tr.environ(installed),
	}.must(t)
}
