package main

import (
	"fmt"
	"strconv"
	"strings"
)

// template is the text of an object as kube-apiserver writes it, cut at the places that differ:
// {number}, {resourceVersion}, {statusFields} and {status}.
type template struct {
	parts        []part
	statusFields string
}

type part struct{ text, mark string }

// parseTemplate reads two lines: the object, and what a status write adds to its managedFields.
func parseTemplate(text string) (*template, error) {
	object, statusFields, found := strings.Cut(strings.TrimSpace(text), "\n")
	if !found {
		return nil, fmt.Errorf("the template has one line, and needs two")
	}
	made := &template{statusFields: statusFields}
	for object != "" {
		from := len(object)
		var mark string
		for _, each := range []string{"{number}", "{resourceVersion}", "{statusFields}", "{status}"} {
			if at := strings.Index(object, each); at >= 0 && at < from {
				from, mark = at, each
			}
		}
		made.parts = append(made.parts, part{object[:from], mark})
		object = object[from+len(mark):]
	}
	return made, nil
}

func (t *template) write(into []byte, o *object) []byte {
	for _, each := range t.parts {
		into = append(into, each.text...)
		switch each.mark {
		case "{number}":
			into = append(into, o.number...)
		case "{resourceVersion}":
			into = strconv.AppendUint(into, o.version, 10)
		case "{statusFields}":
			if o.statusText != nil {
				into = append(into, t.statusFields...)
			}
		case "{status}":
			if o.statusText != nil {
				into = append(into, `,"status":`...)
				into = append(into, o.statusText...)
			}
		}
	}
	return into
}
