import { type Static, Type } from "typebox";
import type { KubeObject } from "../kind.ts";
import { age, type Definition } from "./definition.ts";
import { keepUnknown, oneOf, text } from "./schema.ts";

const target = Type.Object(
  {
    kind: Type.Optional(text("Always Service.", { maxLength: 63 })),
    name: text("The name of the Service.", { minLength: 1, maxLength: 253 }),
    weight: Type.Optional(Type.Integer({ description: "Its share of the requests." })),
  },
  { description: "The Service to which requests go.", ...keepUnknown },
);

const tls = Type.Object(
  {
    termination: oneOf(["edge", "passthrough", "reencrypt"], "Who ends TLS."),
    insecureEdgeTerminationPolicy: Type.Optional(
      oneOf(["None", "Allow", "Redirect", ""], "What becomes of requests without TLS."),
    ),
  },
  { description: "How TLS is handled.", ...keepUnknown },
);

const spec = Type.Object(
  {
    host: Type.Optional(text("The name under which it is reached.", { maxLength: 253 })),
    to: target,
    tls: Type.Optional(tls),
  },
  { description: "What the route leads to.", ...keepUnknown },
);

const admission = Type.Object(
  {
    type: text("Admitted, for one.", { maxLength: 316 }),
    status: oneOf(["True", "False", "Unknown"], "Whether it is so."),
  },
  { description: "One thing that a router says.", ...keepUnknown },
);

const status = Type.Object(
  {
    ingress: Type.Optional(
      Type.Array(
        Type.Object(
          {
            host: Type.Optional(text("The name under which it is served.", { maxLength: 253 })),
            conditions: Type.Optional(
              Type.Array(admission, { description: "What the router says of it." }),
            ),
          },
          { description: "What one router makes of it.", ...keepUnknown },
        ),
        { description: "The routers that know it." },
      ),
    ),
  },
  { description: "What routers make of it.", ...keepUnknown },
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
  description: "A name that leads to a Service through a router.",
  columns: [
    { name: "Host", type: "string", jsonPath: ".spec.host" },
    { name: "Service", type: "string", jsonPath: ".spec.to.name" },
    age,
  ],
  spec,
  status,
  standIn: true,
};
