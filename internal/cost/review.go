package cost

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// The last line of a comment contains the report, so that a pipeline has to keep only the comment.
const hiddenPrefix, hiddenSuffix = "<!-- gpurent cost: ", " -->"

var hiddenLine = regexp.MustCompile(`^<!-- gpurent cost: ([A-Za-z0-9+/=]+) -->[ \t\r]*$`)

// maxReviewSize limits the JSON of a review, in bytes.
const maxReviewSize = 16 << 20

// hidden returns the last line of a comment. It contains what Compare needs.
func (r Report) hidden() (string, error) {
	r.Servers = slices.Clone(r.changedServers())
	r.Others = slices.Clone(r.Others)
	for i := range r.Servers {
		r.Servers[i].Notes = nil
	}
	for i := range r.Others {
		r.Others[i].Notes = nil
	}
	r.Drift, r.Notes, r.Account, r.Limits, r.Differences = nil, nil, nil, nil, nil
	data, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	var packed bytes.Buffer
	writer, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = writer.Write(data)
	}
	if err == nil {
		err = writer.Close()
	}
	if err != nil {
		return "", err
	}
	return hiddenPrefix + base64.StdEncoding.EncodeToString(packed.Bytes()) + hiddenSuffix, nil
}

var errReview = errors.New("the list of changes in the review is corrupt: make the review again")

// ReadReview reads the report of a review: its JSON, or the comment. Without a list nothing was reviewed. A list that
// cannot be read is an error.
func ReadReview(data []byte) (Report, error) {
	text := strings.TrimSpace(strings.TrimPrefix(string(data), "\ufeff"))
	if strings.HasPrefix(text, "{") {
		return decodeReview([]byte(text))
	}
	var lists []string
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.Contains(line, strings.TrimSpace(hiddenPrefix)) {
			continue
		}
		list := hiddenLine.FindStringSubmatch(line)
		if list == nil {
			return Report{}, errReview
		}
		lists = append(lists, list[1])
	}
	switch len(lists) {
	case 0:
		return Report{}, nil
	case 1:
		return unpack(lists[0])
	}
	return Report{}, fmt.Errorf("the review contains %d lists of changes, but must contain one", len(lists))
}

func unpack(list string) (Report, error) {
	reader, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(list)))
	if err != nil {
		return Report{}, errReview
	}
	data, err := io.ReadAll(io.LimitReader(reader, maxReviewSize)) // a longer list is cut, and then no JSON
	if err != nil {
		return Report{}, errReview
	}
	return decodeReview(data)
}

func decodeReview(data []byte) (Report, error) {
	var parts map[string]json.RawMessage
	var report Report
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	switch {
	case json.Unmarshal(data, &parts) != nil || decoder.Decode(&report) != nil:
		return Report{}, errReview
	case parts["totals"] == nil:
		return Report{}, errors.New("this is not the output of cost --format json or markdown")
	case !strings.HasPrefix(report.FormatVersion, "1."):
		return Report{}, errors.New("the review was made by another version of the command, or is no review")
	}
	return report, nil
}
