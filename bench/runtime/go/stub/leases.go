package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"sync"
)

// leases are what leader election reads and writes: any object, by its path, guarded by its version.
type leases struct {
	mu      sync.Mutex
	version int
	byName  map[string]map[string]any
}

func (l *leases) serve(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Method == http.MethodGet {
		if held := l.byName[path.Base(r.URL.Path)]; held != nil {
			json.NewEncoder(w).Encode(held)
			return
		}
		refuse(w, http.StatusNotFound, "NotFound")
		return
	}
	var sent map[string]any
	if json.NewDecoder(r.Body).Decode(&sent) != nil {
		refuse(w, http.StatusBadRequest, "BadRequest")
		return
	}
	metadata, _ := sent["metadata"].(map[string]any)
	name := fmt.Sprint(metadata["name"])
	held := l.byName[name]
	if r.Method == http.MethodPost && held != nil {
		refuse(w, http.StatusConflict, "AlreadyExists")
		return
	}
	if r.Method == http.MethodPut && (held == nil || held["metadata"].(map[string]any)["resourceVersion"] != metadata["resourceVersion"]) {
		refuse(w, http.StatusConflict, "Conflict")
		return
	}
	l.version++
	metadata["resourceVersion"] = fmt.Sprint(l.version)
	l.byName[name] = sent
	if r.Method == http.MethodPost {
		w.WriteHeader(http.StatusCreated)
	}
	json.NewEncoder(w).Encode(sent)
}
