import type { Resource } from "../resource.ts";
import { configMap } from "./config-map.ts";
import { customResourceDefinition } from "./custom-resource-definition.ts";
import { endpointSlice } from "./endpoint-slice.ts";
import { event } from "./event.ts";
import { newEvent } from "./event-view.ts";
import { lease } from "./lease.ts";
import { namespace } from "./namespace.ts";
import { node } from "./node.ts";
import { pod } from "./pod.ts";
import { secret } from "./secret.ts";
import { service } from "./service.ts";
import { serviceAccount } from "./service-account.ts";

/** The kinds that are served without a CRD. */
export const builtIns: readonly Resource[] = [
  configMap,
  event,
  namespace,
  node,
  pod,
  secret,
  serviceAccount,
  service,
  customResourceDefinition,
  lease,
  endpointSlice,
  newEvent,
];
