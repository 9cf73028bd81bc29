package rental

import "encoding/json"

// InstanceOmitted reports which optional fields were missing in a response. A nil field that is not omitted was null.
type InstanceOmitted struct{ Name, StopReason, SSH, URLs bool }

// UnmarshalJSON implements json.Unmarshaler. It sets Omitted.
func (i *Instance) UnmarshalJSON(data []byte) error {
	type plainInstance Instance
	fields := struct {
		*plainInstance
		Name       optional[*string]       `json:"name"`
		StopReason optional[*string]       `json:"stop_reason"`
		SSH        optional[*SSH]          `json:"ssh"`
		URLs       optional[[]InstanceURL] `json:"urls"`
	}{plainInstance: (*plainInstance)(i)}
	err := json.Unmarshal(data, &fields)
	i.Name, i.StopReason, i.SSH, i.URLs = fields.Name.value, fields.StopReason.value, fields.SSH.value, fields.URLs.value
	i.Omitted = InstanceOmitted{
		Name: !fields.Name.present, StopReason: !fields.StopReason.present,
		SSH: !fields.SSH.present, URLs: !fields.URLs.present,
	}
	return err
}

// optional distinguishes a missing field from null.
type optional[T any] struct {
	value   T
	present bool
}

// UnmarshalJSON implements json.Unmarshaler. encoding/json calls it for null, too.
func (o *optional[T]) UnmarshalJSON(data []byte) error {
	o.present = true
	return json.Unmarshal(data, &o.value)
}
