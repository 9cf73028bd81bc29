package provider_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/cli"
	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

// apiObject returns the schema of the API that a data source returns with every field, and the attribute that lists it.
func apiObject(dataSource string) (schema, attribute string) {
	noun := strings.TrimPrefix(dataSource, "gpurent_")
	path := map[string]string{"account": "/me", "instance_logs": "/instances/{id}/logs"}[noun]
	if path == "" {
		path = "/" + strings.ReplaceAll(noun, "_", "-")
	}
	for _, op := range apidoc.Operations {
		if item, isPage := strings.CutSuffix(op.Response, "Page"); op.Method == "GET" && op.Path == path && isPage {
			return item, noun
		} else if op.Method == "GET" && (op.Path == path || op.Path == path+"s") {
			return item, ""
		}
	}
	return "", ""
}

// names are the paths of attributes, such as "ssh.host". Those of a document can also be mentions of values and of
// nested attributes without their parent.
type names map[string]bool

func (n names) add(parent string, children ...string) {
	for _, child := range children {
		n[strings.TrimPrefix(parent+"."+child, ".")] = true
	}
}

// under returns the names of the attributes in an attribute.
func (n names) under(parent string) (children []string) {
	for name := range n {
		if child, ok := strings.CutPrefix(name, parent+"."); ok {
			children = append(children, child)
		}
	}
	return children
}

var (
	identifier = regexp.MustCompile(`\b[a-z][a-z0-9_]*\b`)
	code       = regexp.MustCompile("`[^`]*`")
	remark     = regexp.MustCompile("\\([^()`]*\\)")
	// object matches an attribute with its nested ones: gpu{slug,name}, `urls[{label}]`, `ready_when` {`log_pattern`},
	// `timeouts = {create}`, `instances` (map by slot, flat objects: `id`, `status`).
	object = regexp.MustCompile("(\\w+)`?(?: =)? ?(?:\\[?\\{([^{}]*)\\}\\]?|\\(map by slot, flat objects: ([^()]*)\\))`?")
)

// namesIn returns the names in a part of the document.
func namesIn(text string) names {
	found := names{}
	text = object.ReplaceAllStringFunc(remark.ReplaceAllString(text, ""), func(matched string) string {
		match := object.FindStringSubmatch(matched)
		found.add(match[1], identifier.FindAllString(match[2]+match[3], -1)...)
		return match[1] + "`"
	})
	for _, each := range code.FindAllString(text, -1) {
		if !strings.Contains(each, "gpurent_") {
			found.add("", identifier.FindAllString(each, -1)...)
		}
	}
	return found
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

// resources returns the names of the resources.
func (d interfaceDocument) resources() map[string]names {
	found := map[string]names{}
	for _, paragraph := range d.all("^`(gpurent_\\w+)` — (.*?)\n\n") {
		found[paragraph[1]] = namesIn(paragraph[2])
	}
	instance, fleet := found["gpurent_instance"], found["gpurent_fleet"]
	maps.Copy(instance, namesIn(d.part("^### Capacity.*?\n(.*?) · in `offer_query`")))
	maps.Copy(instance, namesIn(d.part("· in `offer_query` and [^·]* ·\n(.*?)\nData sources ")))
	for _, shared := range []string{"ready_when", "timeouts"} {
		fleet.add(shared, instance.under(shared)...)
	}
	filters := namesIn(d.part("^`gpurent_offers`: (.*?) →"))
	maps.Copy(filters, d.moreFilters())
	for _, own := range []string{"type", "max_price_kop_h", "max_results"} {
		delete(filters, own)
	}
	instance.add("offer_query", slices.Collect(maps.Keys(filters))...)
	instance.add("fallback_queries", slices.Collect(maps.Keys(filters))...)
	fleet.add("offer_queries", slices.Collect(maps.Keys(filters))...)
	return found
}

// moreFilters are filters of offers that have another chapter.
func (d interfaceDocument) moreFilters() names {
	return namesIn(d.part("in `offer_query` and `gpurent_offers`: ([^·]*) ·"))
}

// dataSources returns the names of the data sources.
func (d interfaceDocument) dataSources() map[string]names {
	found := map[string]names{}
	text := d.part("^## Data sources\n\n(.*?)\n\n") + ", " + d.part("\nData sources (.*?)\n\n")
	starts := regexp.MustCompile("`(gpurent_\\w+)`").FindAllStringSubmatchIndex(text, -1)
	for i, at := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		found[text[at[2]:at[3]]] = namesIn(text[at[1]:end])
	}
	maps.Copy(found["gpurent_offers"], d.moreFilters())
	for kind := range found {
		schema, attribute := apiObject(kind)
		if schema == "" {
			d.Fatalf("no request of the API returns %s", kind)
		}
		found[kind].add(attribute, apiFields(apidoc.Fields(schema))...)
	}
	return found
}

// apiFields returns the paths of fields of the API.
func apiFields(fields []apidoc.Field) (paths []string) {
	for _, field := range fields {
		paths = append(paths, field.Name)
		children := field.Fields
		if table := strings.TrimPrefix(field.Type, "array of "); slices.Contains(apidoc.Tables(), table) {
			children = apidoc.Fields(table)
		}
		for _, child := range apiFields(children) {
			paths = append(paths, field.Name+"."+child)
		}
	}
	return paths
}

// schemaNames returns the paths of the attributes of a type, and the values that their descriptions name.
func schemaNames(t *testing.T, block *tfprotov6.SchemaBlock) (paths, values names) {
	t.Helper()
	if len(block.BlockTypes) > 0 {
		t.Errorf("the test does not read nested blocks")
	}
	paths, values = names{}, names{}
	constraint := regexp.MustCompile("(?:Valid values:|Defaults to) ([^.]*)")
	var add func(parent string, attributes []*tfprotov6.SchemaAttribute)
	add = func(parent string, attributes []*tfprotov6.SchemaAttribute) {
		for _, a := range attributes {
			paths.add(parent, a.Name)
			path := strings.TrimPrefix(parent+"."+a.Name, ".")
			for _, list := range constraint.FindAllString(a.Description, -1) {
				maps.Copy(values, namesIn(list))
			}
			if a.NestedType != nil {
				add(path, a.NestedType.Attributes)
			} else if of, ok := a.Type.(tftypes.Map); ok && of.ElementType.Is(tftypes.Object{}) {
				paths.add(path, slices.Collect(maps.Keys(of.ElementType.(tftypes.Object).AttributeTypes))...)
			}
		}
	}
	add("", block.Attributes)
	return paths, values
}

// compare compares the document with the schema, in both directions. The schema may have the optional names.
func (d interfaceDocument) compare(kind string, documented names, block *tfprotov6.SchemaBlock, optional ...string) {
	d.Helper()
	paths, values := schemaNames(d.T, block)
	anywhere := names{}
	for path := range paths {
		anywhere.add("", path[strings.LastIndex(path, ".")+1:])
		if !documented[path] && !slices.Contains(optional, path) {
			d.Errorf("%s has %s, which INTERFACE.md does not have", kind, path)
		}
	}
	for name := range documented {
		mentioned := !strings.Contains(name, ".") && (anywhere[name] || values[name])
		if !paths[name] && !mentioned {
			d.Errorf("%s lacks %s, which INTERFACE.md has", kind, name)
		}
	}
}

// types compares the names of types of one kind, and then each type.
func (d interfaceDocument) types(kind string, documented map[string]names, schemas map[string]*tfprotov6.Schema) {
	d.Helper()
	if diff := cmp.Diff(slices.Sorted(maps.Keys(documented)), slices.Sorted(maps.Keys(schemas))); diff != "" {
		d.Errorf("%ss (-INTERFACE.md +schema):\n%s", kind, diff)
	}
	for name, schema := range schemas {
		if documented[name] != nil {
			d.compare(kind+" "+name, documented[name], schema.Block)
		}
	}
}

// INTERFACE.md and the schema agree, in both directions.
func TestInterface_Schema(t *testing.T) {
	d, all := readInterface(t), schemas(t)
	d.types("resource", d.resources(), all.ResourceSchemas)
	d.types("data source", d.dataSources(), all.DataSourceSchemas)
	configuration := names{}
	for _, line := range d.all(`^(  |    )(\w+) *= `) {
		if line[1] == "    " {
			configuration.add("spending", line[2])
		} else {
			configuration.add("", line[2])
		}
	}
	d.compare("provider", configuration, all.Provider.Block)
	for _, ephemeral := range d.all("^Ephemeral `(gpurent_\\w+)` (\\(.*?\\)):") {
		d.compare("ephemeral resource "+ephemeral[1], namesIn(ephemeral[2]), all.EphemeralResourceSchemas[ephemeral[1]].Block,
			apiFields(apidoc.Fields("ApiKey"))...) // which the document abbreviates
	}
	lists := map[string]names{}
	for _, plural := range regexp.MustCompile(", | and ").Split(d.part(`list resources for (.*?) \(`), -1) {
		noun := strings.ReplaceAll(strings.TrimSuffix(strings.ToLower(plural), "s"), " ", "_")
		lists["gpurent_"+noun] = names{}
	}
	lists["gpurent_instance"].add("", "exclude_fleets") // the document names no arguments of list resources
	d.types("list resource", lists, all.ListResourceSchemas)
	actions := map[string]*tfprotov6.Schema{}
	for name, action := range all.ActionSchemas {
		actions[name] = action.Schema
	}
	documented := map[string]names{}
	list, arguments, _ := strings.Cut(d.part("; actions (.*?)\n"), " (")
	for _, suffix := range regexp.MustCompile("`(?:gpurent_instance)?(_\\w+)`").FindAllStringSubmatch(list, -1) {
		documented["gpurent_instance"+suffix[1]] = namesIn(arguments)
	}
	d.types("action", documented, actions)
}

func TestInterface_Functions(t *testing.T) {
	want, got := map[string]string{}, map[string]string{}
	for _, call := range regexp.MustCompile("`(\\w+)\\(([^)]*)\\)`").FindAllStringSubmatch(
		readInterface(t).part("^Functions: (.*?)\nResource identity"), -1) {
		want[call[1]] = call[2]
	}
	for name, function := range schemas(t).Functions {
		var parameters []string
		for _, parameter := range function.Parameters {
			parameters = append(parameters, parameter.Name)
		}
		got[name] = strings.Join(parameters, ", ")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("functions and their parameters (-INTERFACE.md +schema):\n%s", diff)
	}
}

// helpOf returns the help of a command, or of the program.
func helpOf(t *testing.T, command ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := cli.Main(append(command, "--help"), &stdout, &stderr); code != 0 {
		t.Fatalf("%s: exit %d: %s", command, code, &stderr)
	}
	return stdout.String()
}

// The commands and their flags are those of INTERFACE.md, which gives no signature of logout.
func TestInterface_Commands(t *testing.T) {
	d := readInterface(t)
	flag := regexp.MustCompile(`--([a-z-]+)`)
	commands := []string{"logout"}
	for _, each := range d.all("^- `(\\w+)([^`]*)`") {
		commands = append(commands, each[1])
		var want, got []string
		for _, match := range flag.FindAllStringSubmatch(each[2], -1) {
			want = append(want, match[1])
		}
		for _, match := range regexp.MustCompile(`(?m)^  --([a-z-]+)`).FindAllStringSubmatch(helpOf(t, each[1]), -1) {
			if match[1] != "help" {
				got = append(got, match[1])
			}
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("flags of %s (-INTERFACE.md +binary):\n%s", each[1], diff)
		}
	}
	_, list, _ := strings.Cut(helpOf(t), "Commands:\n")
	var got []string
	for _, match := range regexp.MustCompile(`(?m)^  (\w+) `).FindAllStringSubmatch(list, -1) {
		got = append(got, match[1])
	}
	slices.Sort(commands)
	if diff := cmp.Diff(commands, got); diff != "" {
		t.Errorf("commands (-INTERFACE.md +binary):\n%s", diff)
	}
}
