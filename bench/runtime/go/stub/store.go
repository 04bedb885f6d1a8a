package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"sync"
)

type object struct {
	number     string
	version    uint64
	status     map[string]json.RawMessage
	statusText []byte
}

// store holds the objects and tells the watchers of every change.
type store struct {
	template *template

	mu       sync.Mutex
	version  uint64
	objects  []*object
	byName   map[string]*object
	watchers map[chan []byte]bool
}

// A watcher that is this far behind is ended, as kube-apiserver does; it is far more than any client here needs.
const longestBacklog = 1 << 16

func newStore(t *template, n int) *store {
	s := &store{template: t, byName: make(map[string]*object, n), watchers: map[chan []byte]bool{}}
	for i := range n {
		s.version++
		o := &object{number: fmt.Sprintf("%06d", i), version: s.version}
		s.objects = append(s.objects, o)
		s.byName["probe-"+o.number] = o
	}
	return s
}

func (s *store) get(name string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.byName[name]; o != nil {
		return s.template.write(nil, o)
	}
	return nil
}

// page gives the objects from a place on, and the place where the next page begins; 0 where there is none.
func (s *store) page(from, limit int) (items []byte, next int, version uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	to := len(s.objects)
	if limit > 0 && from+limit < to {
		to = from + limit
		next = to
	}
	for i, o := range s.objects[min(from, to):to] {
		if i > 0 {
			items = append(items, ',')
		}
		items = s.template.write(items, o)
	}
	return items, next, s.version
}

// watch gives all objects newer than a version, as events, and a channel with what comes after.
func (s *store) watch(since uint64, initial bool) (first []byte, version uint64, later chan []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	newer := make([]*object, 0, len(s.objects))
	for _, o := range s.objects {
		if o.version > since {
			newer = append(newer, o)
		}
	}
	kind := "ADDED"
	if !initial {
		kind = "MODIFIED"
		sort.Slice(newer, func(i, j int) bool { return newer[i].version < newer[j].version })
	}
	for _, o := range newer {
		first = s.event(first, kind, o)
	}
	later = make(chan []byte, longestBacklog)
	s.watchers[later] = true
	return first, s.version, later
}

func (s *store) unwatch(later chan []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watchers, later)
}

// change sets the status by `with`; it answers the object, or nil where there is none, or that another was faster.
func (s *store) change(name, version string, with func(*object)) (text []byte, conflict bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.byName[name]
	if o == nil {
		return nil, false
	}
	if version != "" && version != fmt.Sprint(o.version) {
		return nil, true
	}
	with(o)
	status, err := json.Marshal(o.status)
	if err != nil {
		return nil, true
	}
	if bytes.Equal(status, o.statusText) {
		return s.template.write(nil, o), false
	}
	o.statusText = status
	s.version++
	o.version = s.version
	event := s.event(make([]byte, 0, 2048), "MODIFIED", o)
	for later := range s.watchers {
		select {
		case later <- event:
		default:
			close(later)
			delete(s.watchers, later)
		}
	}
	// The answer is the same text without the event around it.
	return event[len(`{"type":"MODIFIED","object":`) : len(event)-len("}\n")], false
}

func (s *store) event(into []byte, kind string, o *object) []byte {
	into = append(into, `{"type":"`...)
	into = append(into, kind...)
	into = append(into, `","object":`...)
	into = s.template.write(into, o)
	return append(into, "}\n"...)
}
