// Command go-clients is a client as controllers in Go are: informers and leader election of client-go, and a manager of
// controller-runtime with a reconciler. The tests look at what comes of it.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const finalizer = "example.com/go-clients"

func main() {
	ctrl.SetLogger(klog.Background())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[2])
	if err == nil {
		err = run(ctx, config, os.Args[1], os.Args[3], os.Args[4])
	}
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, config *rest.Config, what, namespace, argument string) error {
	switch what {
	case "inform":
		return inform(ctx, config, namespace)
	case "lead":
		return lead(ctx, config, namespace, argument)
	case "manage":
		return manage(ctx, config, namespace, argument)
	}
	return fmt.Errorf("unknown: %s", what)
}

// inform tells of each ConfigMap that comes, changes or goes, a line each.
func inform(ctx context.Context, config *rest.Config, namespace string) error {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps().Informer()
	nameOf := func(object any) string {
		key, _ := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
		_, name, _ := cache.SplitMetaNamespaceKey(key)
		return name
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { fmt.Println("added", nameOf(object)) },
		UpdateFunc: func(_, object any) { fmt.Println("updated", nameOf(object)) },
		DeleteFunc: func(object any) { fmt.Println("deleted", nameOf(object)) },
	}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	fmt.Println("synced")
	<-ctx.Done()
	return nil
}

// lead tells when it holds the Lease `leader`, and gives it back when it is told to end.
func lead(ctx context.Context, config *rest.Config, namespace, identity string) error {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, namespace, "leader", clients.CoreV1(), clients.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: identity})
	if err != nil {
		return err
	}
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock:            lock,
		ReleaseOnCancel: true,
		LeaseDuration:   6 * time.Second,
		RenewDeadline:   4 * time.Second,
		RetryPeriod:     500 * time.Millisecond,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { fmt.Println("leading") },
			OnStoppedLeading: func() { fmt.Println("stopped") },
			OnNewLeader:      func(who string) { fmt.Println("leader", who) },
		},
	})
	return nil
}

// reconciler makes a ConfigMap of each Widget and says in its status that it did.
type reconciler struct {
	client.Client
	events events.EventRecorder
	kind   schema.GroupVersionKind
}

func manage(ctx context.Context, config *rest.Config, namespace, group string) error {
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Cache:                   ctrlcache.Options{DefaultNamespaces: map[string]ctrlcache.Config{namespace: {}}},
		Metrics:                 metrics.Options{BindAddress: "0"},
		LeaderElection:          true,
		LeaderElectionID:        "manager",
		LeaderElectionNamespace: namespace,
	})
	if err != nil {
		return err
	}
	kind := schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Widget"}
	each := &reconciler{manager.GetClient(), manager.GetEventRecorder("go-clients"), kind}
	widget := &unstructured.Unstructured{}
	widget.SetGroupVersionKind(kind)
	if err := ctrl.NewControllerManagedBy(manager).For(widget).Owns(&corev1.ConfigMap{}).Complete(each); err != nil {
		return err
	}
	return manager.Start(ctx)
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	widget := &unstructured.Unstructured{}
	widget.SetGroupVersionKind(r.kind)
	if err := r.Get(ctx, request.NamespacedName, widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !widget.GetDeletionTimestamp().IsZero() {
		return ctrl.Result{}, r.letGo(ctx, widget)
	}
	if !controllerutil.ContainsFinalizer(widget, finalizer) {
		before := widget.DeepCopy()
		controllerutil.AddFinalizer(widget, finalizer)
		if err := r.Patch(ctx, widget, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return ctrl.Result{}, err
		}
	}
	size, _, err := unstructured.NestedInt64(widget.Object, "spec", "size")
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := r.ownMap(ctx, widget, size); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.sayReady(ctx, widget, size)
}

func (r *reconciler) ownMap(ctx context.Context, widget *unstructured.Unstructured, size int64) error {
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: widget.GetNamespace(), Name: widget.GetName() + "-made"}}
	done, err := controllerutil.CreateOrUpdate(ctx, r.Client, owned, func() error {
		owned.Data = map[string]string{"size": fmt.Sprint(size)}
		return controllerutil.SetControllerReference(widget, owned, r.Scheme())
	})
	if err == nil && done == controllerutil.OperationResultCreated {
		r.events.Eventf(widget, owned, corev1.EventTypeNormal, "Made", "Create", "made %s", owned.Name)
	}
	return err
}

// sayReady applies the status on the server, as its own field manager.
func (r *reconciler) sayReady(ctx context.Context, widget *unstructured.Unstructured, size int64) error {
	said := &unstructured.Unstructured{Object: map[string]any{
		"status": map[string]any{
			"size":       size,
			"conditions": []any{map[string]any{"type": "Ready", "status": "True"}},
		},
	}}
	said.SetGroupVersionKind(r.kind)
	said.SetNamespace(widget.GetNamespace())
	said.SetName(widget.GetName())
	return r.Status().Patch(ctx, said, client.Apply, client.FieldOwner("go-clients"), client.ForceOwnership)
}

func (r *reconciler) letGo(ctx context.Context, widget *unstructured.Unstructured) error {
	if !controllerutil.RemoveFinalizer(widget, finalizer) {
		return nil
	}
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: widget.GetNamespace(), Name: widget.GetName() + "-made"}}
	if err := client.IgnoreNotFound(r.Delete(ctx, owned)); err != nil {
		return err
	}
	return r.Update(ctx, widget)
}
