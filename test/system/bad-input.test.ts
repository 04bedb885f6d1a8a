import { parseResourceId } from "@postern/core/resource-id.ts";
import { Arm } from "postern/azure/arm.ts";
import { customCloud } from "postern/azure/clouds.ts";
import { privateLinkServices } from "postern/azure/gateways/private-link-services.ts";
import { staticToken } from "postern/azure/tokens.ts";
import { KubeClient } from "postern/kube/client.ts";
import { fromKubeconfig } from "postern/kube/credentials.ts";
import { silentLog } from "postern/kube/log.ts";
import { Runtime } from "postern/kube/runtime.ts";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { json, serve } from "../loopback.ts";
import { describeOnCluster } from "../setup/cluster.ts";
import { installWidgets, type Widget, widgetFeature } from "./widget.ts";

const subscription = "/subscriptions/11111111-2222-3333-4444-555555555555";
const linkType = "Microsoft.Network/privateLinkServices";
const link = (name: string) => `${subscription}/resourceGroups/g/providers/${linkType}/${name}`;

describeOnCluster("bad input, from the object to the condition", (cluster) => {
  beforeAll(() => installWidgets(cluster));

  /** A controller that looks for the link service that a widget names, on an Azure that answers as told. */
  async function looking() {
    const azure = await serve((request, response) => {
      const name = new URL(request.url, "http://azure").pathname.split("/").at(-1);
      if (name === "page")
        response.writeHead(200, { "content-type": "text/html" }).end("<html>secret</html>");
      else if (name === "cut") {
        response.writeHead(200, { "content-type": "application/json", "content-length": "999" });
        response.write('{"name":', () => response.destroy());
      } else if (name === "expired")
        json(response, 401, {
          error: {
            code: "ExpiredAuthenticationToken",
            message: "The access token expiry UTC time is earlier",
          },
        });
      else if (name === "denied")
        json(response, 403, {
          error: {
            code: "AuthorizationFailed",
            message: `The client 'x' does not have authorization to perform action '${linkType}/read' over scope '${link("denied")}'`,
          },
        });
      else
        json(response, 200, {
          name,
          id: link(name ?? ""),
          properties: { provisioningState: "Succeeded" },
        });
    });
    const arm = new Arm({
      cloud: customCloud({ resourceManager: azure.url }),
      credential: staticToken("secret-token-of-a-test"),
    });
    const feature = widgetFeature({
      statusFields: [],
      observe: async (widget, reconcile) => {
        const id = parseResourceId(widget.spec?.note ?? "", linkType);
        await privateLinkServices(arm.for(reconcile)).get(id);
        return widget;
      },
      wanted: () => ({ status: {} }),
    });
    const namespace = await cluster.namespace();
    const client = new KubeClient(await fromKubeconfig(cluster.kubeconfig));
    const runtime = new Runtime({
      client,
      namespace,
      log: silentLog,
      features: [() => ({ feature })],
    });
    const stop = new AbortController();
    const running = runtime.run(stop.signal);
    onTestFinished(async () => {
      stop.abort();
      await running;
      client.close();
      arm.close();
    });
    const path = `/apis/test.postern.io/v1/namespaces/${namespace}/widgets`;
    return {
      make: (name: string, note: string) =>
        cluster.request("POST", path, {
          apiVersion: "test.postern.io/v1",
          kind: "Widget",
          metadata: { name },
          spec: { note },
        }),
      condition: async (name: string) =>
        (await cluster.request<Widget>("GET", `${path}/${name}`)).body.status?.conditions?.[0],
    };
  }

  test.each([
    [
      "an id that does not parse",
      "not-an-id",
      "InvalidResourceId",
      /"not-an-id" is not a valid resource id/,
    ],
    [
      "an id of another kind",
      `${subscription}/resourceGroups/g/providers/Microsoft.Network/loadBalancers/l`,
      "InvalidResourceId",
      /must be "?privateLinkServices/,
    ],
    [
      "an answer that is a page",
      link("page"),
      "UnreadableAnswer",
      /^Cannot read privateLinkServices\/page\. /,
    ],
    [
      "an answer that is cut off",
      link("cut"),
      "UnreadableAnswer",
      /^Cannot read privateLinkServices\/cut\. /,
    ],
    [
      "a token that is refused",
      link("expired"),
      "ExpiredAuthenticationToken",
      /^Cannot read privateLinkServices\/expired\. /,
    ],
    [
      "a missing right",
      link("denied"),
      "AuthorizationFailed",
      /Microsoft.Network\/privateLinkServices\/read/,
    ],
  ])(
    "%s is a condition that says what and what to do, and the others go on",
    async (_what, note, reason, message) => {
      const { make, condition } = await looking();
      await make("bad", note);
      await make("good", link("fine"));
      await expect
        .poll(() => condition("good"), { timeout: 10_000 })
        .toMatchObject({ status: "True" });
      await expect
        .poll(() => condition("bad"), { timeout: 10_000 })
        .toMatchObject({ status: "False", reason });
      const told = (await condition("bad"))?.message ?? "";
      expect(told).toMatch(message);
      expect(told).not.toMatch(/secret|<html>/);
    },
  );
});
