package apikey

import (
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

func TestMayBeCreated(t *testing.T) {
	days, at := int64(1), time.Now()
	create := rental.APIKeyCreate{Name: "job", Scopes: []string{"user:read", "billing:read"}, ExpiresInDays: &days}
	lost := rental.APIKey{ID: "key", Name: "job", Scopes: []string{"billing:read", "user:read"}, ExpiresAt: &at}
	for name, test := range map[string]struct {
		change func(*rental.APIKey)
		want   bool
	}{
		"equal":          {func(*rental.APIKey) {}, true},
		"used":           {func(k *rental.APIKey) { k.LastUsedAt = &at }, false},
		"other name":     {func(k *rental.APIKey) { k.Name = "jobs" }, false},
		"fewer scopes":   {func(k *rental.APIKey) { k.Scopes = k.Scopes[:1] }, false},
		"created before": {func(k *rental.APIKey) { k.CreatedAt = at.Add(-time.Hour) }, false},
		"created after":  {func(k *rental.APIKey) { k.CreatedAt = at.Add(time.Second) }, true},
		"never expires":  {func(k *rental.APIKey) { k.ExpiresAt = nil }, false},
		"only an id":     {func(k *rental.APIKey) { *k = rental.APIKey{ID: "key"} }, false},
	} {
		key := lost
		if test.change(&key); mayBeCreated(create, key, at) != test.want {
			t.Errorf("%s: matches: %t, want %t", name, !test.want, test.want)
		}
	}
}
