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
	var fields struct { // nil if they are absent
		Name       json.RawMessage `json:"name"`
		StopReason json.RawMessage `json:"stop_reason"`
		SSH        json.RawMessage `json:"ssh"`
		URLs       json.RawMessage `json:"urls"`
		CostSoFar  json.RawMessage `json:"cost_so_far_kop"`
	}
	_ = json.Unmarshal(data, &fields) //nolint:errcheck // then err is not nil, too
	i.Omitted = InstanceOmitted{
		Name: fields.Name == nil, StopReason: fields.StopReason == nil, SSH: fields.SSH == nil, URLs: fields.URLs == nil,
		CostSoFar: fields.CostSoFar == nil,
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
