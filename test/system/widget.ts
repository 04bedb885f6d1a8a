import type { PlannedCondition } from "@postern/core/conditions.ts";
import type { Kind, KubeObject } from "@postern/core/kind.ts";
import type { Condition } from "@postern/core/kinds/condition.ts";
import type { Feature, Plan, Step } from "postern/kube/feature.ts";
import type { Reconcile } from "postern/kube/reconcile.ts";
import type { Cluster } from "../setup/cluster.ts";

/** A kind of its own for the tests of the runtime. */
export interface Widget extends KubeObject {
  spec?: { size?: number; note?: string };
  status?: { conditions?: Condition[]; size?: number; colour?: string };
}

export const widgetKind: Kind<Widget> = {
  group: "test.postern.io",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  namespaced: true,
};

/** Install the kind and wait until it can be used. */
export async function installWidgets(cluster: Pick<Cluster, "request">): Promise<void> {
  const text = { type: "string" };
  const condition = {
    type: "object",
    required: ["type", "status", "reason", "message", "lastTransitionTime"],
    properties: {
      type: text,
      status: text,
      reason: text,
      message: text,
      lastTransitionTime: { type: "string", format: "date-time" },
      observedGeneration: { type: "integer" },
    },
  };
  const schema = {
    type: "object",
    properties: {
      spec: { type: "object", properties: { size: { type: "integer" }, note: text } },
      status: {
        type: "object",
        properties: {
          size: { type: "integer", maximum: 1000 },
          colour: text,
          conditions: {
            type: "array",
            items: condition,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
          },
        },
      },
    },
  };
  const names = { kind: "Widget", plural: "widgets", singular: "widget", listKind: "WidgetList" };
  const version = {
    name: "v1",
    served: true,
    storage: true,
    schema: { openAPIV3Schema: schema },
    subresources: { status: {} },
  };
  await cluster.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.test.postern.io" },
    spec: { group: "test.postern.io", scope: "Namespaced", names, versions: [version] },
  });
  for (let tries = 0; ; tries++) {
    const { status } = await cluster.request("GET", "/apis/test.postern.io/v1/widgets");
    if (status === 200) return;
    if (tries > 200) throw new Error("the widgets did not become usable");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A feature that wants `status.size` to be `spec.size`, with everything else to be set by the test. */
export function widgetFeature(
  over: Partial<Omit<Feature<Widget, Widget>, "observe">> & {
    observe?: (widget: Widget, reconcile: Reconcile) => Promise<Widget>;
    wanted?: (widget: Widget) => Partial<Plan<Step>>;
  } = {},
): Feature<Widget, Widget> {
  const { wanted, observe = async (widget) => widget, ...rest } = over;
  const ready: PlannedCondition = {
    type: "Ready",
    status: "True",
    reason: "AsWanted",
    message: "it is as wanted",
  };
  return {
    name: "widget",
    kind: widgetKind,
    conditions: ["Ready"],
    statusFields: ["size"],
    observe: async (widget, reconcile) => ({
      observed: await observe(widget, reconcile),
      context: undefined,
    }),
    plan: (widget) => ({
      steps: [],
      conditions: [ready],
      status: widget.spec?.size === undefined ? {} : { size: widget.spec.size },
      requeue: "drift",
      ...wanted?.(widget),
    }),
    apply: async () => ({ state: "done" }),
    ...rest,
  };
}
