package simulator

import (
	"net/http"
	"slices"
)

func (c *call) listSSHKeys() (any, error) {
	return listPage(c, "ssh-keys", parseQuery(c.r.URL), c.SSHKeys, false, keepAll, viewSSHKey)
}

func (c *call) createSSHKey() (any, error) {
	k, err := readSSHKey(c.fields)
	if err != nil {
		return nil, err
	}
	c.status = http.StatusCreated
	k.Seq, k.ID, k.CreatedAt = c.nextSeq(), c.newID("ssh"), c.Now
	c.SSHKeys = append(c.SSHKeys, k)
	return viewSSHKey(k), nil
}

// deleteSSHKey does not change instances that have the key.
func (c *call) deleteSSHKey() (any, error) {
	k := c.findSSHKey(c.params["id"])
	if k == nil {
		return nil, notFound(text{"SSH-ключ не найден", "SSH key not found"})
	}
	// A new slice: instances refer to the old one.
	c.SSHKeys = slices.DeleteFunc(slices.Clone(c.SSHKeys), func(other *sshKey) bool { return other == k })
	return nil, nil
}
