import { nodePool as kind } from "@postern/core/kinds/node-pool.ts";
import {
  cannotChange,
  mustBeSubnet,
  network,
  type Over,
  otherSubnet,
  type Row,
  subnet,
  tooLong,
  tooShort,
} from "./row.ts";

const pool = (azure: Over = {}, spec: Over = {}) => ({
  clusterName: "blue",
  platform: { type: "Azure", azure: { subnetID: subnet, ...azure } },
  ...spec,
});

/** All rows about a NodePool. */
export const nodePoolRows: Row[] = [
  { says: "a pool on Azure is accepted", kind, spec: pool() },
  {
    says: "case sensitivity: a pool whose subnet is in lower case is accepted",
    kind,
    spec: pool({ subnetID: subnet.toLowerCase() }),
  },
  {
    says: "a pool on another platform is accepted",
    kind,
    spec: pool({}, { platform: { type: "AWS" } }),
  },
  {
    says: "a pool without a subnet is refused",
    kind,
    spec: pool({ subnetID: undefined }),
    refused: [["spec.platform.azure.subnetID", "Required value"]],
  },
  {
    says: "a pool in a network and no subnet of it is refused",
    kind,
    spec: pool({ subnetID: network }),
    refused: [["spec.platform.azure.subnetID", mustBeSubnet]],
  },
  {
    says: "a pool in an empty subnet is refused",
    kind,
    spec: pool({ subnetID: "" }),
    refused: [
      ["spec.platform.azure.subnetID", tooShort(1)],
      ["spec.platform.azure.subnetID", mustBeSubnet],
    ],
  },
  {
    says: "a pool in a longer subnet is refused",
    kind,
    spec: pool({ subnetID: subnet.padEnd(356, "x") }),
    refused: [["spec.platform.azure.subnetID", tooLong(355)]],
  },
  {
    says: "a pool on nothing is refused",
    kind,
    spec: pool({}, { platform: undefined }),
    refused: [["spec.platform", "Required value"]],
  },
  {
    says: "a pool on a platform without a type is refused",
    kind,
    spec: pool({}, { platform: {} }),
    refused: [["spec.platform.type", "Required value"]],
  },
  {
    says: "a pool on a platform of a longer type is refused",
    kind,
    spec: pool({}, { platform: { type: "x".repeat(64) } }),
    refused: [["spec.platform.type", tooLong(63)]],
  },
  {
    says: "a pool of a cluster with a longer name is refused",
    kind,
    spec: pool({}, { clusterName: "x".repeat(254) }),
    refused: [["spec.clusterName", tooLong(253)]],
  },
  {
    says: "a pool without a spec is refused",
    kind,
    spec: undefined,
    refused: [["spec", "Required value"]],
  },
  {
    says: "a pool of no cluster is refused",
    kind,
    spec: pool({}, { clusterName: undefined }),
    refused: [["spec.clusterName", "Required value"]],
  },
  {
    says: "a pool of a cluster without a name is refused",
    kind,
    spec: pool({}, { clusterName: "" }),
    refused: [["spec.clusterName", tooShort(1)]],
  },
  {
    says: "a change of subnetID is refused",
    kind,
    spec: pool(),
    becomes: pool({ subnetID: otherSubnet }),
    refused: [["spec.platform.azure.subnetID", cannotChange("subnetID")]],
  },
  {
    says: "a change of clusterName is refused",
    kind,
    spec: pool(),
    becomes: pool({}, { clusterName: "red" }),
    refused: [["spec.clusterName", cannotChange("clusterName")]],
  },
  {
    says: "a change of what is not ours is accepted",
    kind,
    spec: pool({}, { replicas: 2 }),
    becomes: pool({}, { replicas: 3 }),
  },
];
