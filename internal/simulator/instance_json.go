package simulator

import (
	"bytes"
	"strconv"
)

// encodedInstance is the JSON of an instance without its cost, and the cost. Load tests list thousands of instances
// many times a second.
type encodedInstance struct {
	head    []byte
	costKop int64
}

// costField is the start of the last field in the JSON of an instance.
const costField = `,"cost_so_far_kop":`

func (e encodedInstance) appendJSON(b []byte) []byte {
	b = append(append(b, e.head...), costField...)
	return append(strconv.AppendInt(b, e.costKop, 10), '}')
}

// encodeInstance returns the same JSON as viewInstance, from a cache.
func (e *engine) encodeInstance(i *instance) encodedInstance {
	if i.encoded == nil {
		whole, err := encodeJSON(e.viewInstance(i))
		if err != nil {
			panic(err)
		}
		i.encoded = whole[:bytes.LastIndex(whole, []byte(costField))]
	}
	return encodedInstance{i.encoded, e.costKop(i)}
}

type instanceGPU struct {
	Slug   string `json:"slug"`
	Name   string `json:"name"`
	Count  int64  `json:"count"`
	VRAMGB *int64 `json:"vram_gb"`
}

type templateRef struct {
	Slug string `json:"slug"`
	Name string `json:"name"`
}

type instancePrice struct {
	RunningKopH  int64 `json:"running_kop_h"`
	StoppedKopH  int64 `json:"stopped_kop_h"`
	TrafficKopGB int64 `json:"traffic_kop_gb"`
}

type instanceSSH struct {
	Host    string `json:"host"`
	Port    int64  `json:"port"`
	User    string `json:"user"`
	Command string `json:"command"`
}

type instanceURL struct {
	Label string  `json:"label"`
	URL   *string `json:"url"`
}

// instancePage is a page of instances.
type instancePage pageView[encodedInstance]

func (p instancePage) appendJSON(b []byte) []byte {
	b = append(b, `{"data":[`...)
	for n, i := range p.Data {
		if n > 0 {
			b = append(b, ',')
		}
		b = i.appendJSON(b)
	}
	b = append(b, `],"next_cursor":`...)
	if p.NextCursor == nil {
		return append(b, "null}"...)
	}
	// A cursor is base64 and needs no escaping.
	return append(strconv.AppendQuote(b, *p.NextCursor), '}')
}
