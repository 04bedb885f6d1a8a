import { nodePool as kind } from "../../../src/model/kinds/node-pool.ts";
import {
  cannotChange,
  mustBeSubnet,
  network,
  type Over,
  otherSubnet,
  type Row,
  subnet,
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
