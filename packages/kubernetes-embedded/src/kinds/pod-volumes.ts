import type { Schema } from "../resource.ts";
import { anything, fields, flag, int32, int64, list, quantity, text, textMap } from "./fields.ts";
import { fieldRef, resourceFieldRef } from "./pod-containers.ts";
import { localReference } from "./references.ts";

const item = fields(
  "A value and its file.",
  { key: text("Its key."), mode: int32("The rights of the file."), path: text("The file.") },
  ["key", "path"],
);
const items = list(item, "Which values become which files.");
const defaultMode = int32("The rights of its files.");
const optional = flag("Whether it may be absent.");

const downwardFile = fields(
  "A fact about the pod and its file.",
  { fieldRef, mode: int32("The rights of the file."), path: text("The file."), resourceFieldRef },
  ["path"],
);
const downwardItems = list(downwardFile, "Which facts become which files.");

const projection = fields("One source.", {
  clusterTrustBundle: anything("Certificates that are trusted."),
  configMap: fields("A ConfigMap.", { items, name: text("Its name."), optional }),
  downwardAPI: fields("Facts about the pod.", { items: downwardItems }),
  podCertificate: anything("A certificate of the pod."),
  secret: fields("A Secret.", { items, name: text("Its name."), optional }),
  serviceAccountToken: fields(
    "A token of the pod's account.",
    {
      audience: text("For whom."),
      expirationSeconds: int64("For how long."),
      path: text("The file."),
    },
    ["path"],
  ),
});

/** Sources that this API keeps as they are: nothing here runs pods. */
const others = [
  "awsElasticBlockStore",
  "azureDisk",
  "azureFile",
  "cephfs",
  "cinder",
  "ephemeral",
  "fc",
  "flexVolume",
  "flocker",
  "gcePersistentDisk",
  "gitRepo",
  "glusterfs",
  "iscsi",
  "photonPersistentDisk",
  "portworxVolume",
  "quobyte",
  "rbd",
  "scaleIO",
  "storageos",
  "vsphereVolume",
];

/** A volume of a pod. */
export const volume: Schema = fields(
  "Files that containers of the pod share.",
  {
    configMap: fields("A ConfigMap.", { defaultMode, items, name: text("Its name."), optional }),
    csi: fields(
      "A volume of a driver.",
      {
        driver: text("The driver."),
        fsType: text("Its file system."),
        nodePublishSecretRef: localReference("What the driver is shown."),
        readOnly: flag("Whether it can only be read."),
        volumeAttributes: textMap("What the driver is told."),
      },
      ["driver"],
    ),
    downwardAPI: fields("Facts about the pod.", { defaultMode, items: downwardItems }),
    emptyDir: fields("A folder that goes with the pod.", {
      medium: text("Where it lies; Memory for one that is never written to a disk."),
      sizeLimit: quantity("How large it may grow."),
    }),
    hostPath: fields(
      "A folder of the node.",
      { path: text("Which."), type: text("What has to be there.") },
      ["path"],
    ),
    image: fields("An image.", {
      pullPolicy: text("When it is fetched."),
      reference: text("Which."),
    }),
    name: text("Its name."),
    nfs: fields(
      "A folder of another machine.",
      {
        path: text("Which."),
        readOnly: flag("Whether it can only be read."),
        server: text("Of whom."),
      },
      ["server", "path"],
    ),
    persistentVolumeClaim: fields(
      "A volume that outlives the pod.",
      { claimName: text("The claim."), readOnly: flag("Whether it can only be read.") },
      ["claimName"],
    ),
    projected: fields("Several sources in one folder.", {
      defaultMode,
      sources: list(projection, "The sources."),
    }),
    secret: fields("A Secret.", { defaultMode, items, optional, secretName: text("Its name.") }),
    ...Object.fromEntries(others.map((name) => [name, anything("A volume of another kind.")])),
  },
  ["name"],
);
