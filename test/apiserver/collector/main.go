// Command collector runs the two controllers of Kubernetes that end things: the one that deletes objects whose owners are
// gone, and the one that empties namespaces. An API server alone does neither.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
)

// Tests make CRDs and want their objects collected soon.
const syncPeriod = 500 * time.Millisecond

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	config.QPS, config.Burst = 1000, 1000
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, config); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	objects, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	typed := informers.NewSharedInformerFactory(client, 0)
	shared := informerfactory.NewInformerFactory(typed, metadatainformer.NewSharedInformerFactory(objects, 0))
	started := make(chan struct{})

	collector, err := garbagecollector.NewGarbageCollector(ctx, client, objects, mapper, garbagecollector.DefaultIgnoredResources(), shared, started)
	if err != nil {
		return err
	}
	namespaces := namespace.NewNamespaceController(ctx, client, objects, client.Discovery().ServerPreferredNamespacedResources, typed.Core().V1().Namespaces(), time.Minute, v1.FinalizerKubernetes)

	shared.Start(ctx.Done())
	close(started)
	go collector.Sync(ctx, client.Discovery(), syncPeriod)
	go collector.Run(ctx, 5, syncPeriod)
	namespaces.Run(ctx, 5)
	return nil
}
