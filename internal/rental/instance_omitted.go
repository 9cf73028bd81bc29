package rental

import (
	"cmp"
	"context"
	"encoding/json"
)

// InstanceOmitted reports which optional fields were missing in a response. A nil field that is not omitted was null.
type InstanceOmitted struct{ Name, StopReason, SSH, URLs, CostSoFar bool }

// UnmarshalJSON implements json.Unmarshaler. It sets Omitted.
func (i *Instance) UnmarshalJSON(data []byte) error {
	type plainInstance Instance
	err := json.Unmarshal(data, (*plainInstance)(i))
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(data, &fields) //nolint:errcheck // then err is not nil, too
	omitted := func(name string) bool { _, found := fields[name]; return !found }
	i.Omitted = InstanceOmitted{
		Name: omitted("name"), StopReason: omitted("stop_reason"), SSH: omitted("ssh"), URLs: omitted("urls"),
		CostSoFar: omitted("cost_so_far_kop"),
	}
	return err
}

// omittedReads is how often an instance is read again for fields that a response omitted.
const omittedReads = 3

// ReadOmitted reads an instance again while its responses omit fields that an import or a recovery needs. It returns
// the given instance with those fields, as far as a response had them.
func (c *Client) ReadOmitted(ctx context.Context, inst Instance) Instance {
	for range omittedReads {
		if !inst.omitsNeeded() {
			break
		}
		again, err := c.GetInstance(ctx, inst.ID)
		if err != nil {
			break
		}
		inst.FillOmitted(again)
	}
	return inst
}

// FillOmitted sets the fields that the response omitted, and that an import or a recovery needs, to those of another
// response.
func (i *Instance) FillOmitted(other Instance) {
	i.DiskGB = cmp.Or(i.DiskGB, other.DiskGB)
	i.Image = cmp.Or(i.Image, other.Image)
	i.Template = cmp.Or(i.Template, other.Template)
	i.DesiredState = cmp.Or(i.DesiredState, other.DesiredState)
	i.CreatedAt = cmp.Or(i.CreatedAt, other.CreatedAt)
	if i.Omitted.Name {
		i.Name, i.Omitted.Name = other.Name, other.Omitted.Name
	}
	if i.Omitted.SSH {
		i.SSH, i.Omitted.SSH = other.SSH, other.Omitted.SSH
	}
	if i.Omitted.CostSoFar {
		i.CostSoFarKop, i.Omitted.CostSoFar = other.CostSoFarKop, other.Omitted.CostSoFar
	}
}

func (i Instance) omitsNeeded() bool {
	return i.DiskGB == 0 || i.Template.Slug == "" || i.Image == "" || i.CreatedAt.IsZero() ||
		i.Omitted.Name || i.Omitted.SSH && i.Status == StatusRunning
}
