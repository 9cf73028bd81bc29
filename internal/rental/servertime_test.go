package rental

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

func TestNow_FollowsDateHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		apiTime := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
		client, _ := scriptedClient(t,
			reply{status: 200, body: onePage(""), header: "Date: Sat, 01 Jan 1994 00:00:00 GMT"},
			reply{status: 404, body: errorJSON("not_found"), header: "Date: " + apiTime.Format(http.TimeFormat)},
			reply{status: 200, body: `{"id":"u"}`, header: "Date: yesterday"},
		)
		if _, err := collect(client.ListGPUs(t.Context(), ListOptions{})); err != nil || !client.Now().Equal(time.Now()) {
			t.Errorf("after a public response: %s, %v", client.Now(), err)
		}
		if _, err := client.GetMe(t.Context()); !IsNotFound(err) || !client.Now().Equal(apiTime) {
			t.Errorf("API time %s, now %s, %v", apiTime, client.Now(), err)
		}
		time.Sleep(time.Hour)
		if _, err := client.GetMe(t.Context()); err != nil || !client.Now().Equal(apiTime.Add(time.Hour)) {
			t.Errorf("an hour after %s it is %s, %v", apiTime, client.Now(), err)
		}
	})
}

func TestCachedResponse_HeadersAreIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		date := "Date: Sat, 01 Jan 1994 00:00:00 GMT"
		client, _ := scriptedClient(t, reply{status: 200, body: `{"id":"u"}`, header: date, age: "30"})
		if _, err := client.GetMe(t.Context()); err != nil || !client.Now().Equal(time.Now()) {
			t.Errorf("after a cached response it is %s, %v", client.Now(), err)
		}
		now := time.Now()
		l := newLimiter(limitPerKey)
		spent := rateResponse("120", "0", "60", "", false)
		spent.Header.Set("Age", "59")
		l.done(now, now, spent)
		if wait := l.take(now); wait > 0 {
			t.Errorf("the rate-limit headers of a cached response block requests for %s", wait)
		}
	})
}
