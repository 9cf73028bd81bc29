package simulator

import "slices"

func (c *call) listSSHKeys() (any, error) {
	return listNumbered(c, "ssh-keys", parseQuery(c.r.URL), c.sshKeys, false, all, viewSSHKey)
}

func (c *call) createSSHKey() (any, error) {
	f, err := parseFields(c.body)
	if err != nil {
		return nil, err
	}
	k, err := readSSHKey(f)
	if err != nil {
		return nil, err
	}
	k.Seq, k.ID, k.CreatedAt = c.nextSeq(), c.newID("ssh"), c.at
	c.sshKeys = append(c.sshKeys, k)
	return viewSSHKey(k), nil
}

// deleteSSHKey leaves the servers that have the key as they are.
func (c *call) deleteSSHKey() (any, error) {
	k := c.findSSHKey(c.params["id"])
	if k == nil {
		return nil, notFound("SSH-ключ не найден", "There is no such SSH key")
	}
	// A new slice: rentals keep the old one.
	c.sshKeys = slices.DeleteFunc(slices.Clone(c.sshKeys), func(other *sshKey) bool { return other == k })
	return nil, nil
}
