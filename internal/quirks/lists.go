package quirks

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// oldStatus is an outdated status that an instance shows for a while.
type oldStatus struct {
	status, desired string
	until           time.Time
}

// hideNewItems implements lagging-list.
func (res *response) hideNewItems() {
	res.mu.Lock()
	defer res.mu.Unlock()
	if res.status == http.StatusCreated {
		name := identifier(res.content)
		lag := time.Duration(3+res.randomInt(10, laggingList, name)) * time.Second
		res.listedFrom[name] = res.now.Add(lag)
	}
	if !res.lists() {
		return
	}
	res.setData(slices.DeleteFunc(res.data(), func(item any) bool {
		object, ok := item.(map[string]any)
		if !ok {
			return false
		}
		from, isNew := res.listedFrom[identifier(object)]
		if isNew && !res.now.Before(from) {
			delete(res.listedFrom, identifier(object))
			isNew = false
		}
		return isNew
	}))
}

// keepOldStatus implements lagging-status. The response to DELETE shows destroying at once, as the document requires.
func (res *response) keepOldStatus() {
	if res.schema != "Instance" {
		return
	}
	res.mu.Lock()
	defer res.mu.Unlock()
	ends := res.ID == "deleteInstance"
	if old := res.before; old.status != "" && (ends || res.ID == "startInstance" ||
		res.ID == "stopInstance") {
		lag := time.Duration(2+res.randomInt(7, laggingStatus, res.key, res.attempt)) * time.Second
		old.until = res.now.Add(lag)
		res.oldStatus[res.resourceID] = old
	}
	for _, item := range res.items() {
		old, lags := res.oldStatus[identifier(item)]
		switch {
		case !lags || ends:
		case res.now.Before(old.until):
			item["status"], item["desired_state"] = old.status, old.desired
		default:
			delete(res.oldStatus, identifier(item))
		}
	}
}

// reorder implements sorted-differently.
func (res *response) reorder() {
	if res.lists() && res.schema != "Offer" && res.schema != "Transaction" {
		res.shuffle(res.data(), "data")
	}
	for _, item := range res.items() {
		for _, field := range []string{"scopes", "ports", "urls"} {
			if array, ok := item[field].([]any); ok {
				res.shuffle(array, field)
			}
		}
	}
}

func (res *response) shuffle(array []any, what string) {
	for n := len(array) - 1; n > 0; n-- {
		other := res.randomInt(n+1, sortedDifferently, res.key, res.attempt, what, n)
		array[n], array[other] = array[other], array[n]
	}
}

// smallPage is the page size of small-pages.
const smallPage = 3

// limitPage lowers the limit of a valid request.
func limitPage(u *url.URL) {
	if limit := pageLimit(u.Query()); limit > smallPage {
		query := u.Query()
		query.Set("limit", strconv.Itoa(smallPage))
		u.RawQuery = query.Encode()
	}
}

// Page sizes of the API.
const defaultPage, maxPage = 50, 200

// pageLimit returns the limit of a query, 0 if it is invalid.
func pageLimit(query url.Values) int {
	if !query.Has("limit") {
		return defaultPage
	}
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil || limit < 1 || limit > maxPage || len(query["limit"]) > 1 {
		return 0
	}
	return limit
}

// addNeighbours implements strange-neighbours for lists: foreign items are at the end, as many as fit on the last page.
func (res *response) addNeighbours() {
	if !res.lists() || res.content["next_cursor"] != nil {
		return
	}
	data := res.data()
	for _, item := range res.neighbours() {
		if len(data) < pageLimit(res.query) {
			data = append(data, item)
		}
	}
	res.setData(data)
}

// neighbours returns the foreign items of the requested list.
func (res *response) neighbours() []map[string]any {
	items := foreignItems(res.schema)
	if res.schema != "Offer" {
		return items
	}
	for filter, values := range res.query {
		value := strings.Join(values, ",")
		switch {
		case slices.Contains([]string{"type", "order", "limit", "cursor"}, filter):
		case filter == "gpu" && slices.Contains(strings.Split(value, ","), "rtx_4090"):
			items = items[:1]
		case filter == "num_gpus" && slices.Contains(strings.Split(value, ","), "1"), filter == "min_gpus" &&
			value == "1":
		default:
			return nil
		}
	}
	return items
}

// replacement returns the response of forbidden-balance, strange-neighbours or phantom-offers that replaces a response,
// nil for none.
func (res *response) replacement(status int) *failure {
	switch {
	case res.ID == "getBalance" && status == http.StatusOK && res.has(forbiddenBalance):
		return apiFailure(http.StatusForbidden, "forbidden", "Access denied")
	case status != http.StatusNotFound || res.resourceID == "":
		return nil
	case res.ID == "getOffer" && res.has(phantomOffers) && res.phantom(res.resourceID) != nil:
		return &failure{status: http.StatusOK, body: res.phantom(res.resourceID)}
	case !res.has(strangeNeighbours):
		return nil
	}
	for _, item := range foreignItems(res.schema) {
		if identifier(item) != res.resourceID {
			continue
		}
		switch res.ID {
		case "getInstance", "getOffer":
			if res.schema == "Offer" {
				item["available"] = false
			}
			return &failure{status: http.StatusOK, body: item}
		case "startInstance", "stopInstance", "deleteInstance":
			return apiFailure(http.StatusConflict, "conflict", "The current state does not allow it")
		}
	}
	return nil
}
