// Command controller does the bench's work the way Go does it: a controller-runtime manager that gives each of
// N custom resources one status write. It prints one line of JSON when all of them are written and seen again.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

var (
	wanted      = flag.Int64("n", 0, "how many objects there are")
	namespace   = flag.String("namespace", "default", "where they are")
	concurrency = flag.Int("concurrency", 16, "how many are worked on at once")
	lease       = flag.String("lease", "bench", "the name of the leader election lease")
)

// tally counts until the work is done: every object written, and every write brought back by the watch.
type tally struct {
	written, seen, failed, passes atomic.Int64
	first                         atomic.Int64 // when the first pass began, in nanoseconds
	done                          chan struct{}
}

func (t *tally) count(which *atomic.Int64) {
	which.Add(1)
	if t.written.Load() >= *wanted && t.seen.Load() >= *wanted {
		select {
		case t.done <- struct{}{}:
		default:
		}
	}
}

type reconciler struct {
	client.Client
	tally *tally
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	if r.tally.passes.Add(1) == 1 {
		r.tally.first.Store(time.Now().UnixNano())
	}
	var probe Probe
	if err := r.Get(ctx, request.NamespacedName, &probe); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	before := probe.DeepCopy()
	changed := meta.SetStatusCondition(&probe.Status.Conditions, metav1.Condition{
		Type:               "Ready",
		Status:             metav1.ConditionTrue,
		Reason:             "Connected",
		Message:            "reachable at " + probe.Spec.Address,
		ObservedGeneration: probe.Generation,
	})
	if !changed && probe.Status.Address == probe.Spec.Address {
		return ctrl.Result{}, nil
	}
	probe.Status.Address = probe.Spec.Address
	if err := r.Status().Patch(ctx, &probe, client.MergeFrom(before)); err != nil {
		r.tally.failed.Add(1)
		return ctrl.Result{}, err
	}
	r.tally.count(&r.tally.written)
	return ctrl.Result{}, nil
}

// ready lets through what the guide says: changes of the spec, not of the status. On the way it counts.
func (t *tally) ready() predicate.Predicate {
	spec := predicate.GenerationChangedPredicate{}
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		after, isProbe := e.ObjectNew.(*Probe)
		before, wasProbe := e.ObjectOld.(*Probe)
		if isProbe && wasProbe && before.Status.Address == "" && after.Status.Address != "" {
			t.count(&t.seen)
		}
		return spec.Update(e)
	}}
}

func run() error {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	scheme.AddKnownTypes(groupVersion, &Probe{}, &ProbeList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	ctrl.SetLogger(zap.New())

	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	// The stub reads no protobuf. This is one request in two seconds; custom resources are JSON in any case.
	leaseConfig := rest.CopyConfig(config)
	leaseConfig.ContentType = "application/json"
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Metrics:                       metricsserver.Options{BindAddress: "127.0.0.1:0"},
		HealthProbeBindAddress:        "127.0.0.1:0",
		LeaderElection:                true,
		LeaderElectionConfig:          leaseConfig,
		LeaderElectionID:              *lease,
		LeaderElectionNamespace:       *namespace,
		LeaderElectionReleaseOnCancel: true,
		Cache: cache.Options{
			DefaultTransform:  cache.TransformStripManagedFields(),
			DefaultNamespaces: map[string]cache.Config{*namespace: {}},
		},
	})
	if err != nil {
		return err
	}
	counts := &tally{done: make(chan struct{}, 1)}
	manager.GetEventRecorder("bench")
	err = ctrl.NewControllerManagedBy(manager).
		For(&Probe{}, builder.WithPredicates(counts.ready())).
		WithOptions(controller.Options{MaxConcurrentReconciles: *concurrency}).
		Complete(&reconciler{Client: manager.GetClient(), tally: counts})
	if err != nil {
		return err
	}

	ctx, stop := context.WithCancel(ctrl.SetupSignalHandler())
	ended := make(chan error, 1)
	started := time.Now()
	go func() { ended <- manager.Start(ctx) }()
	select {
	case err := <-ended:
		stop()
		return fmt.Errorf("the manager ended early: %w", err)
	case <-counts.done:
	}
	report(counts, started)
	stop()
	return <-ended
}

func report(counts *tally, started time.Time) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	cpu := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	line, _ := json.Marshal(map[string]any{
		"seconds":    time.Since(started).Seconds(),
		"listed":     time.Unix(0, counts.first.Load()).Sub(started).Seconds(),
		"cpuSeconds": cpu.Seconds(),
		"peakBytes":  peakBytes(),
		"written":    counts.written.Load(),
		"failed":     counts.failed.Load(),
		"passes":     counts.passes.Load(),
	})
	fmt.Println(string(line))
}

// peakBytes is the kernel's own high mark. Not ru_maxrss: that one begins with the size of the parent process.
func peakBytes() int64 {
	status, _ := os.ReadFile("/proc/self/status")
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		return 0
	}
	kilobytes, _ := strconv.ParseInt(string(found[1]), 10, 64)
	return kilobytes * 1024
}

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
