import { startKubernetes } from "@postern/kubernetes-embedded/server.ts";

// The embedded API in a process of its own, as the real one is, with everything on disk.
const kubernetes = await startKubernetes({ data: { file: process.argv[2] ?? "" } });
process.send?.(kubernetes.kubeconfig);
process.on("disconnect", () => void kubernetes.stop().then(() => process.exit()));
