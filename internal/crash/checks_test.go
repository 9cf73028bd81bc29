//go:build linux

package crash

import (
	"regexp"
	"strings"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// checkReapply expects the next apply to repair everything, after the import of a template that the state has lost: the
// servers were created from it, and another one is a difference.
func checkReapply(c *cell) {
	if template := c.templateImport(readAccount(c.env)); template != "" {
		c.workspace.Configure(c.table.config() + template)
	}
	output := c.apply()
	c.table.count("recovered", strings.Count(output, "Recovered instance"))
	c.checkServers()
}

// checkImport is for servers without idempotency keys. If the failure killed the process that rented a server, the next
// plan must show the server and how to import it. After the import, the apply repairs everything.
func checkImport(c *cell) {
	lost := without(readAccount(c.env).live, saved(c.workspace, "gpurent_instance"))
	if len(lost) > 0 {
		if !c.breaker.failure.kills {
			c.Errorf("servers %v are not in the state", lost)
		}
		c.addImports(lost)
	}
	c.apply()
	c.checkServers()
}

// addImports adds the import blocks that the plan suggests. If the template is not in the state either, it imports the
// template too, because another template would replace the server.
func (c *cell) addImports(lost []object) {
	plan := acctest.Words(c.command(0, "plan"))
	config := c.table.config() + c.templateImport(readAccount(c.env))
	for _, server := range lost {
		config += importBlock(addresses[server.Name], server.ID)
		if !regexp.MustCompile(`import \{ to = \S+ id = "` + server.ID + `" \}`).MatchString(plan) {
			c.Errorf("the plan has no import block for server %s", server.ID)
		}
	}
	c.workspace.Configure(config)
}

// templateImport returns an import block for the template of an existing server if the state does not have it.
// OpenTofu writes the state at the end and every 20 seconds. Terraform writes it immediately, but a kill during the
// write leaves an empty or truncated state.
func (c *cell) templateImport(now account) string {
	if len(saved(c.workspace, "gpurent_template")) > 0 {
		return ""
	}
	for _, server := range now.live {
		for _, template := range without(now.templates, c.before.templates) {
			if server.Template.Slug == template.Slug {
				if c.exitCode != -1 {
					c.Error("the CLI was not killed, but did not save the template")
				}
				return importBlock("gpurent_template.crash", template.Slug)
			}
		}
	}
	return ""
}

// checkServers expects the existing servers to be those in the state, and each to be rented once.
func (c *cell) checkServers() {
	c.Helper()
	addresses := c.table.servers
	now, state := readAccount(c.env), saved(c.workspace, "gpurent_instance")
	rented := map[string]int{}
	for _, server := range now.all {
		rented[server.Name]++
	}
	for name := range addresses {
		if rented[name] != 1 {
			c.Errorf("server %s was rented %d times", name, rented[name])
		}
	}
	if len(now.all) != len(addresses) || len(now.live) != len(addresses) || len(state) != len(addresses) {
		c.Errorf("%d servers were rented, %d exist, %d are in the state, want %d of each",
			len(now.all), len(now.live), len(state), len(addresses))
	}
	orphans, missing := without(now.live, state), without(state, now.live)
	if len(orphans)+len(missing) > 0 {
		c.Errorf("in the API but not in the state: %v; in the state but not in the API: %v", orphans, missing)
	}
	for _, server := range state {
		if server.Tainted || server.Status != "running" {
			c.Errorf("server %+v is tainted or not running", server)
		}
	}
	c.checkCreated("gpurent_ssh_key", c.before.sshKeys, now.sshKeys)
	c.checkCreated("gpurent_template", c.before.templates, now.templates)
}

// checkCreated expects one new object in the state. These types have no idempotency key: if the response was lost, a
// second object may exist, which costs nothing. checkCreated returns the second object.
func (c *cell) checkCreated(resourceType string, before, now []object) (leftOver []object) {
	c.Helper()
	state := saved(c.workspace, resourceType)
	created := without(now, before)
	if len(state) != 1 || len(without(state, created)) != 0 {
		c.Errorf("%s: the state has %v, and new in the account are %v", resourceType, state, created)
	}
	leftOver = without(created, state)
	if len(leftOver) > 1 || len(leftOver) > 0 && !c.breaker.failure.orphans {
		c.Errorf("%s: %v are not in the state", resourceType, leftOver)
	}
	return leftOver
}

// checkManagedKey is the check for an API key that is a resource.
func checkManagedKey(c *cell) {
	c.apply()
	c.revoke(c.checkCreated("gpurent_api_key", c.before.apiKeys, readAccount(c.env).apiKeys))
}

// checkEphemeralKey is the check for an ephemeral API key: it is revoked at the end of the command, except if the
// provider was killed. Then it expires.
func checkEphemeralKey(c *cell) {
	c.checkOpenKeys(c.before.apiKeys, c.breaker.failure.maxOpenKeys)
	open := readAccount(c.env).apiKeys
	checkReapply(c)
	c.checkOpenKeys(open, 0)
}

// checkOpenKeys expects a limited number of keys that are not among the known ones, and revokes them.
func (c *cell) checkOpenKeys(known []object, most int) {
	c.Helper()
	left := without(readAccount(c.env).apiKeys, known)
	if len(left) > most {
		c.Errorf("%d keys are left, want %d at most: %v", len(left), most, left)
	}
	for _, key := range left {
		if lifetime := key.ExpiresAt.Sub(key.CreatedAt); lifetime != 24*time.Hour {
			c.Errorf("key %s has the lifetime %s, want 24h", key.ID, lifetime)
		}
	}
	c.revoke(left)
}

// revoke revokes keys that a killed provider did not revoke, as a user would.
func (c *cell) revoke(keys []object) {
	for _, key := range keys {
		c.env.Delete("api-keys/" + key.ID)
	}
}
