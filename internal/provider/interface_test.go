package provider_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

var (
	identifier = regexp.MustCompile(`\b[a-z][a-z0-9_]*\b`)
	code       = regexp.MustCompile("`[^`]*`")
	typeName   = regexp.MustCompile("`gpurent_\\w+`")
	// validValues matches the part of a description with values of an argument.
	validValues = regexp.MustCompile("(?:Valid values:|Defaults to) [^.]*")
)

// namesIn returns the names in the code of a text.
func namesIn(text string) (names []string) {
	for _, each := range code.FindAllString(text, -1) {
		names = append(names, identifier.FindAllString(each, -1)...)
	}
	return names
}

// interfaceDocument is INTERFACE.md.
type interfaceDocument struct {
	*testing.T
	text string
}

func readInterface(t *testing.T) interfaceDocument {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "INTERFACE.md"))
	if err != nil {
		t.Fatal(err)
	}
	return interfaceDocument{t, strings.ReplaceAll(string(content), "\r\n", "\n")}
}

// all returns the groups of each match of a pattern.
func (d interfaceDocument) all(pattern string) [][]string {
	d.Helper()
	found := regexp.MustCompile("(?ms)"+pattern).FindAllStringSubmatch(d.text, -1)
	if len(found) == 0 {
		d.Fatalf("INTERFACE.md has no match of %s", pattern)
	}
	return found
}

// part returns the first group of a pattern.
func (d interfaceDocument) part(pattern string) string { d.Helper(); return d.all(pattern)[0][1] }

// types checks that the types of a kind are in the schema, each with the names in the text about it.
func (d interfaceDocument) types(kind string, documented map[string]string, schemas map[string]*tfprotov6.Schema) {
	d.Helper()
	for name, about := range documented {
		if schemas[name] == nil {
			d.Errorf("%s %s of INTERFACE.md is missing", kind, name)
			continue
		}
		d.compare(kind+" "+name, namesIn(about), schemas[name].Block.Attributes)
	}
}

// compare checks that a type has the documented names, as attributes or values.
func (d interfaceDocument) compare(kind string, documented []string, attributes []*tfprotov6.SchemaAttribute) {
	d.Helper()
	names, values := schemaNames(attributes)
	for _, name := range documented {
		if !slices.Contains(names, name) && !slices.Contains(values, name) {
			d.Errorf("%s lacks %s, which INTERFACE.md has", kind, name)
		}
	}
}

// schemaNames returns the names of attributes and of those in them, and the values in their descriptions.
func schemaNames(attributes []*tfprotov6.SchemaAttribute) (names, values []string) {
	for _, a := range attributes {
		names = append(names, a.Name)
		for _, list := range validValues.FindAllString(a.Description, -1) {
			values = append(values, namesIn(list)...)
		}
		if a.NestedType != nil {
			nested, more := schemaNames(a.NestedType.Attributes)
			names, values = append(names, nested...), append(values, more...)
		} else if of, ok := a.Type.(tftypes.Map); ok && of.ElementType.Is(tftypes.Object{}) {
			names = slices.AppendSeq(names, maps.Keys(of.ElementType.(tftypes.Object).AttributeTypes))
		}
	}
	return names, values
}

// The types have the names of INTERFACE.md, which never change.
func TestInterface_Schema(t *testing.T) {
	d, all := readInterface(t), schemas(t)
	var arguments []string
	for _, line := range d.all(`^ +(\w+) *= `) {
		arguments = append(arguments, line[1])
	}
	d.compare("provider", arguments, all.Provider.Block.Attributes)

	resources := map[string]string{}
	for _, paragraph := range d.all("^`(gpurent_\\w+)` — (.*?)\n\n") {
		resources[paragraph[1]] = typeName.ReplaceAllString(paragraph[2], "")
	}
	resources["gpurent_instance"] += d.part("^### Capacity.*?\n(.*?)\nData sources ")
	resources["gpurent_instance"] = strings.ReplaceAll(resources["gpurent_instance"], "`gpurent_offers`", "")
	d.types("resource", resources, all.ResourceSchemas)

	dataSources := map[string]string{}
	text := d.part("^## Data sources\n\n(.*?)\n\n") + d.part("\nData sources (.*?)\n\n")
	names := typeName.FindAllString(text, -1)
	for i, about := range typeName.Split(text, -1)[1:] {
		dataSources[strings.Trim(names[i], "`")] = about
	}
	d.types("data source", dataSources, all.DataSourceSchemas)

	ephemeral := d.all("^Ephemeral `(gpurent_\\w+)` (\\(.*?\\)):")[0]
	d.types("ephemeral resource", map[string]string{ephemeral[1]: ephemeral[2]}, all.EphemeralResourceSchemas)
	lists := map[string]string{}
	for _, plural := range regexp.MustCompile(", | and ").Split(d.part(`list resources for (.*?) \(`), -1) {
		lists["gpurent_"+strings.ReplaceAll(strings.TrimSuffix(strings.ToLower(plural), "s"), " ", "_")] = ""
	}
	d.types("list resource", lists, all.ListResourceSchemas)
	documented, actions := map[string]string{}, map[string]*tfprotov6.Schema{}
	for name, action := range all.ActionSchemas {
		actions[name] = action.Schema
	}
	list, about, _ := strings.Cut(d.part("; actions (.*?)\n"), " (")
	for _, suffix := range regexp.MustCompile("`(?:gpurent_instance)?(_\\w+)`").FindAllStringSubmatch(list, -1) {
		documented["gpurent_instance"+suffix[1]] = about
	}
	d.types("action", documented, actions)
	for _, function := range d.all("`(\\w+)\\([^`]*`") {
		if all.Functions[function[1]] == nil {
			t.Errorf("function %s of INTERFACE.md is missing", function[1])
		}
	}
}
