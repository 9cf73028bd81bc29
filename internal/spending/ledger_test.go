package spending

import (
	"testing"
	"time"
)

// A reading that another one has overtaken does not return.
func TestLedger_OlderReading(t *testing.T) {
	l, began := &ledger{limit: 100}, time.Now()
	l.observe(reading{listed: map[string]int64{"a": 30}, began: began.Add(time.Second)})
	l.observe(reading{listed: map[string]int64{"a": 90}, began: began})
	if total := l.total(""); total != 30 {
		t.Errorf("the instances cost %d, want 30", total)
	}
}
