package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const groupPath = "/apis/bench.postern.io/v1"

// server speaks as much of the Kubernetes API as a controller needs, from memory.
type server struct {
	store    *store
	leases   *leases
	requests atomic.Int64
	patches  atomic.Int64
	events   atomic.Int64
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	path := r.URL.Path
	w.Header().Set("Content-Type", "application/json")
	if text, found := discovery[path]; found {
		io.WriteString(w, text)
		return
	}
	if name, found := probePath(path); found {
		s.probes(w, r, name)
		return
	}
	if strings.HasSuffix(path, "/events") && r.Method == http.MethodPost {
		s.events.Add(1)
		w.WriteHeader(http.StatusCreated)
		io.Copy(w, r.Body)
		return
	}
	if strings.Contains(path, "/leases") {
		s.leases.serve(w, r)
		return
	}
	refuse(w, http.StatusNotFound, "NotFound")
}

// probePath gives what stands after `probes` in the path of the bench's objects, in one namespace or in all.
func probePath(path string) (name string, found bool) {
	rest, found := strings.CutPrefix(path, groupPath+"/")
	if !found {
		return "", false
	}
	if within, namespaced := strings.CutPrefix(rest, "namespaces/"); namespaced {
		_, rest, _ = strings.Cut(within, "/")
	}
	rest, found = strings.CutPrefix(rest, "probes")
	return strings.TrimPrefix(rest, "/"), found
}

func (s *server) probes(w http.ResponseWriter, r *http.Request, name string) {
	object, status := strings.CutSuffix(name, "/status")
	switch {
	case name == "" && r.URL.Query().Get("watch") != "":
		s.watch(w, r)
	case name == "" && r.Method == http.MethodGet:
		s.list(w, r)
	case r.Method == http.MethodGet:
		answer(w, s.store.get(object), false)
	case status && r.Method == http.MethodPatch:
		s.patches.Add(1)
		s.write(w, r, object, patched)
	case status && r.Method == http.MethodPut:
		s.write(w, r, object, replaced)
	default:
		refuse(w, http.StatusMethodNotAllowed, "MethodNotAllowed")
	}
}

func (s *server) list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	from, _ := strconv.Atoi(query.Get("continue"))
	limit, _ := strconv.Atoi(query.Get("limit"))
	items, next, version := s.store.page(from, limit)
	more := ""
	if next > 0 {
		more = fmt.Sprintf(`"continue":"%d",`, next)
	}
	fmt.Fprintf(w, `{"apiVersion":"bench.postern.io/v1","items":[%s],"kind":"ProbeList","metadata":{%s"resourceVersion":"%d"}}`,
		items, more, version)
}

const bookmark = `{"type":"BOOKMARK","object":{"apiVersion":"bench.postern.io/v1","kind":"Probe","metadata":{%s"creationTimestamp":null,"resourceVersion":"%d"}}}` + "\n"
const initialEnd = `"annotations":{"k8s.io/initial-events-end":"true"},`

func (s *server) watch(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	initial := query.Get("sendInitialEvents") == "true"
	since, _ := strconv.ParseUint(query.Get("resourceVersion"), 10, 64)
	if initial {
		since = 0
	}
	first, version, later := s.store.watch(since, initial)
	defer s.store.unwatch(later)
	w.Write(first)
	if initial {
		fmt.Fprintf(w, bookmark, initialEnd, version)
	}
	w.(http.Flusher).Flush()
	marks := time.NewTicker(time.Minute)
	defer marks.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-marks.C:
			s.store.mu.Lock()
			version := s.store.version
			s.store.mu.Unlock()
			// Only with nothing before it on the way: a bookmark must not overtake an event.
			if len(later) == 0 {
				fmt.Fprintf(w, bookmark, "", version)
				w.(http.Flusher).Flush()
			}
		case event, open := <-later:
			if !open {
				return
			}
			w.Write(event)
			if len(later) == 0 {
				w.(http.Flusher).Flush()
			}
		}
	}
}

type written struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Status map[string]json.RawMessage `json:"status"`
}

func (s *server) write(w http.ResponseWriter, r *http.Request, name string, how func(*object, written)) {
	body, err := io.ReadAll(r.Body)
	var sent written
	if err != nil || json.Unmarshal(body, &sent) != nil {
		refuse(w, http.StatusBadRequest, "BadRequest")
		return
	}
	text, conflict := s.store.change(name, sent.Metadata.ResourceVersion, func(o *object) { how(o, sent) })
	answer(w, text, conflict)
}

// patched does what a merge patch and what an apply by the only manager come to: the named fields are set.
func patched(o *object, sent written) {
	if o.status == nil {
		o.status = map[string]json.RawMessage{}
	}
	for field, value := range sent.Status {
		if string(value) == "null" {
			delete(o.status, field)
		} else {
			o.status[field] = value
		}
	}
}

func replaced(o *object, sent written) { o.status = sent.Status }

func answer(w http.ResponseWriter, text []byte, conflict bool) {
	switch {
	case conflict:
		refuse(w, http.StatusConflict, "Conflict")
	case text == nil:
		refuse(w, http.StatusNotFound, "NotFound")
	default:
		w.Write(text)
	}
}

func refuse(w http.ResponseWriter, code int, reason string) {
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":%q,"message":%q,"code":%d}`, reason, reason, code)
}

// discovery is what controller-runtime's REST mapper asks for.
var discovery = map[string]string{
	"/version": `{"major":"1","minor":"36","gitVersion":"v1.36.3"}`,
	"/api":     `{"kind":"APIVersions","versions":["v1"]}`,
	"/apis": `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"bench.postern.io",` +
		`"versions":[{"groupVersion":"bench.postern.io/v1","version":"v1"}],` +
		`"preferredVersion":{"groupVersion":"bench.postern.io/v1","version":"v1"}}]}`,
	groupPath: `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"bench.postern.io/v1","resources":[` +
		`{"name":"probes","singularName":"probe","namespaced":true,"kind":"Probe","verbs":["get","list","watch","patch","update"]},` +
		`{"name":"probes/status","singularName":"","namespaced":true,"kind":"Probe","verbs":["get","patch","update"]}]}`,
}
