package main

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var groupVersion = schema.GroupVersion{Group: "bench.postern.io", Version: "v1"}

// ProbeSpec has the size and shape of what a private link needs to be told.
type ProbeSpec struct {
	Address              string            `json:"address"`
	LoadBalancerID       string            `json:"loadBalancerID"`
	Location             string            `json:"location"`
	AllowedSubscriptions []string          `json:"allowedSubscriptions,omitempty"`
	SubnetIDs            []string          `json:"subnetIDs,omitempty"`
	Tags                 map[string]string `json:"tags,omitempty"`
}

// ProbeStatus is what one pass has to write.
type ProbeStatus struct {
	Address    string             `json:"address,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Probe is the custom resource of the bench.
type Probe struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ProbeSpec   `json:"spec,omitempty"`
	Status ProbeStatus `json:"status,omitempty"`
}

// ProbeList is a list of them.
type ProbeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Probe `json:"items"`
}

// DeepCopyInto copies as controller-gen's code does.
func (in *Probe) DeepCopyInto(out *Probe) {
	*out = *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.AllowedSubscriptions = slices.Clone(in.Spec.AllowedSubscriptions)
	out.Spec.SubnetIDs = slices.Clone(in.Spec.SubnetIDs)
	out.Spec.Tags = maps.Clone(in.Spec.Tags)
	if in.Status.Conditions != nil {
		out.Status.Conditions = make([]metav1.Condition, len(in.Status.Conditions))
		for i := range in.Status.Conditions {
			in.Status.Conditions[i].DeepCopyInto(&out.Status.Conditions[i])
		}
	}
}

// DeepCopy gives a copy that shares nothing.
func (in *Probe) DeepCopy() *Probe {
	out := new(Probe)
	in.DeepCopyInto(out)
	return out
}

// DeepCopyObject makes it a runtime.Object.
func (in *Probe) DeepCopyObject() runtime.Object { return in.DeepCopy() }

// DeepCopyObject makes it a runtime.Object.
func (in *ProbeList) DeepCopyObject() runtime.Object {
	out := &ProbeList{TypeMeta: in.TypeMeta, Items: make([]Probe, len(in.Items))}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range in.Items {
		in.Items[i].DeepCopyInto(&out.Items[i])
	}
	return out
}
