package simulator

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// oldStatus is what an instance shows until a time.
type oldStatus struct {
	status, desired string
	until           time.Time
}

// statusOf is the status of an instance now, zero where there is none.
func (s *Simulator) statusOf(id string) oldStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.world.findInstance(id); i != nil {
		return oldStatus{status: i.Status, desired: i.Desired}
	}
	return oldStatus{}
}

// hideNewItems is the quirk lagging-list.
func (res *quirkedResponse) hideNewItems() {
	res.mu.Lock()
	defer res.mu.Unlock()
	if res.status == http.StatusCreated {
		name := nameOf(res.body)
		lag := time.Duration(3+res.roll(10, quirkLaggingList, name)) * time.Second
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
		from, isNew := res.listedFrom[nameOf(object)]
		if isNew && !res.now.Before(from) {
			delete(res.listedFrom, nameOf(object))
			isNew = false
		}
		return isNew
	}))
}

// keepOldStatus is the quirk lagging-status. The response to a DELETE shows destroying at once: the document says so.
func (res *quirkedResponse) keepOldStatus() {
	if res.schema != "Instance" {
		return
	}
	res.mu.Lock()
	defer res.mu.Unlock()
	ends := res.route.id == "deleteInstance"
	if old := res.before; old.status != "" && (ends || res.route.id == "startInstance" || res.route.id == "stopInstance") {
		lag := time.Duration(2+res.roll(7, quirkLaggingStatus, res.key, res.asked)) * time.Second
		old.until = res.now.Add(lag)
		res.oldStatus[res.id] = old
	}
	for _, item := range res.items() {
		old, lags := res.oldStatus[nameOf(item)]
		switch {
		case !lags || ends:
		case res.now.Before(old.until):
			item["status"], item["desired_state"] = old.status, old.desired
		default:
			delete(res.oldStatus, nameOf(item))
		}
	}
}

// reorder is the quirk sorted-differently.
func (res *quirkedResponse) reorder() {
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

func (res *quirkedResponse) shuffle(array []any, what string) {
	for n := len(array) - 1; n > 0; n-- {
		other := res.roll(n+1, quirkSortedDifferently, res.key, res.asked, what, n)
		array[n], array[other] = array[other], array[n]
	}
}

// smallPage is the most that a page has while the quirk small-pages is on.
const smallPage = 3

// limitPage lowers the limit of a request, if it is a valid one.
func limitPage(u *url.URL) {
	if limit := pageLimit(u.Query()); limit > smallPage {
		query := u.Query()
		query.Set("limit", strconv.Itoa(smallPage))
		u.RawQuery = query.Encode()
	}
}

// pageLimit is how many items a query asks for, 0 when it is not a valid one.
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

// neighbourCursor begins the cursor of a page that has only neighbours.
const neighbourCursor = "nb_"

// takeNeighbourCursor keeps the cursor of a page of neighbours from the service, which answers its first page then.
func (res *quirkedResponse) takeNeighbourCursor(u *url.URL) {
	query := u.Query()
	res.query, res.neighboursFrom = query, -1
	rest, ours := strings.CutPrefix(query.Get("cursor"), neighbourCursor)
	from, err := strconv.Atoi(rest)
	if !ours || err != nil || from < 0 || from > len(res.neighbours()) {
		return
	}
	res.neighboursFrom = from
	query.Del("cursor")
	u.RawQuery = query.Encode()
}

// addNeighbours is the quirk strange-neighbours for lists: they are at the end.
func (res *quirkedResponse) addNeighbours() {
	if !res.lists() {
		return
	}
	data, from := res.data(), res.neighboursFrom
	switch {
	case from >= 0:
		data = nil
	case res.body["next_cursor"] != nil:
		return
	default:
		from = 0
	}
	rest := res.neighbours()[from:]
	fit := min(max(pageLimit(res.query)-len(data), 0), len(rest))
	for _, item := range rest[:fit] {
		data = append(data, item)
	}
	res.setData(data)
	res.body["next_cursor"] = nil
	if fit < len(rest) {
		res.body["next_cursor"] = neighbourCursor + strconv.Itoa(from+fit)
	}
}

// neighbours are the items of other people that belong to the list of a request.
func (res *quirkedResponse) neighbours() []map[string]any {
	items := strangers(res.schema)
	if res.schema != "Offer" {
		return items
	}
	for filter, values := range res.query {
		value := strings.Join(values, ",")
		switch {
		case slices.Contains([]string{"type", "order", "limit", "cursor"}, filter):
		case filter == "gpu" && slices.Contains(strings.Split(value, ","), popularModel):
			items = items[:1]
		case filter == "num_gpus" && slices.Contains(strings.Split(value, ","), "1"), filter == "min_gpus" && value == "1":
		default:
			return nil
		}
	}
	return items
}

// replaced is another response in place of the service's: what forbidden-balance and strange-neighbours answer. Nil
// keeps the response.
func (res *quirkedResponse) replaced(rep *reply, l language) (*reply, error) {
	switch {
	case res.route.id == "getBalance" && rep.status == http.StatusOK && res.has(quirkForbiddenBalance):
		return errorReply(fail(codeForbidden), l)
	case rep.status != http.StatusNotFound || !res.has(quirkStrangeNeighbours):
		return nil, nil
	}
	for _, item := range strangers(res.schema) {
		if res.id == "" || nameOf(item) != res.id {
			continue
		}
		switch res.route.id {
		case "getInstance", "getOffer":
			if res.schema == "Offer" {
				item["available"] = false
			}
			return jsonReply(http.StatusOK, item)
		case "startInstance", "stopInstance", "deleteInstance":
			return errorReply(fail(codeConflict), l)
		}
	}
	return nil, nil
}
