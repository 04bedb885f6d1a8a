import { type Static, Type } from "typebox";
import type { KubeObject } from "../kind.ts";
import { age, type Definition } from "./definition.ts";
import { keepUnknown, oneOf, text } from "./schema.ts";

const target = Type.Object(
  {
    kind: Type.Optional(text("Always Service.", { maxLength: 63 })),
    name: text("The name of the Service.", { minLength: 1, maxLength: 253 }),
    weight: Type.Optional(
      Type.Integer({ description: "The share of requests that the Service receives." }),
    ),
  },
  { description: "The Service that receives the requests.", ...keepUnknown },
);

const tls = Type.Object(
  {
    termination: oneOf(["edge", "passthrough", "reencrypt"], "Where TLS is terminated."),
    insecureEdgeTerminationPolicy: Type.Optional(
      oneOf(["None", "Allow", "Redirect", ""], "What happens to requests without TLS."),
    ),
  },
  { description: "How TLS is handled.", ...keepUnknown },
);

const spec = Type.Object(
  {
    host: Type.Optional(text("The hostname under which it is reached.", { maxLength: 253 })),
    to: target,
    tls: Type.Optional(tls),
  },
  { description: "The target of the route.", ...keepUnknown },
);

const admission = Type.Object(
  {
    type: text("The type of the condition, such as Admitted.", { maxLength: 316 }),
    status: oneOf(["True", "False", "Unknown"], "The status of the condition."),
  },
  { description: "A condition that the router reports.", ...keepUnknown },
);

const status = Type.Object(
  {
    ingress: Type.Optional(
      Type.Array(
        Type.Object(
          {
            host: Type.Optional(
              text("The hostname under which the route is served.", { maxLength: 253 }),
            ),
            conditions: Type.Optional(
              Type.Array(admission, { description: "The conditions that the router reports." }),
            ),
          },
          { description: "The state in one router.", ...keepUnknown },
        ),
        { description: "The routers that serve the route." },
      ),
    ),
  },
  { description: "The observed state of the route.", ...keepUnknown },
);

/** The part of OpenShift's Route that Postern reads and writes. */
export interface Route extends KubeObject {
  spec: Static<typeof spec>;
  status?: Static<typeof status>;
}

/** The kind `Route` of OpenShift, in so far as Postern reads and writes it. */
export const route: Definition<Route> = {
  group: "route.openshift.io",
  version: "v1",
  kind: "Route",
  plural: "routes",
  singular: "route",
  shortNames: [],
  namespaced: true,
  description: "A hostname under which a router publishes a Service.",
  columns: [
    { name: "Host", type: "string", jsonPath: ".spec.host" },
    { name: "Service", type: "string", jsonPath: ".spec.to.name" },
    age,
  ],
  spec,
  status,
  standIn: true,
};
