import { expect, test, vi } from "vitest";
import { hostedClusters, startLocal, untilAvailable } from "./running.ts";

const state = /^ *[\d.]+s {2}(\S+) {2}(Healthy|Progressing|Degraded|Unavailable|Unknown)\b/gm;

test("the terminal has the health of the dashboard: an endpoint that is deleted, rejected, and deleted again", async () => {
  const local = await startLocal("--speed", "20");
  await untilAvailable(local);
  const { url } = local.ready.dashboard;
  const endpointOf = async (cluster: string) => {
    const { picture } = (await (await fetch(`${url}/api/overview`)).json()) as {
      picture: { clusters: { key: string; health: string; endpointIds: string[] }[] };
    };
    return picture.clusters.find(({ key }) => key === cluster)?.endpointIds[0] ?? "";
  };
  const inject = async (fault: string) => {
    const target = await endpointOf("clusters/green");
    const answer = await fetch(`${url}/api/actions/${fault}`, {
      method: "POST",
      headers: { "x-postern": "1" },
      body: JSON.stringify({ target }),
    });
    expect([answer.status, await answer.text()]).toEqual([200, expect.anything()]);
  };
  let from = local.output().length;
  /** What it says of a cluster since then. */
  const states = () =>
    [...local.output().slice(from).matchAll(state)]
      .filter(([, name]) => name === "clusters/green")
      .map(([, , health]) => health);
  const until = (condition: () => boolean) =>
    vi.waitUntil(condition, { timeout: 60_000 }).catch((error: Error) => {
      throw new Error(`${error.message}\n${local.output().slice(from)}`, { cause: error });
    });

  await inject("delete-endpoint");
  await until(() => states().at(-1) === "Healthy");
  expect(states()[0]).toBe("Unavailable");
  await until(() => local.output().slice(from).includes("Everything is available again."));

  from = local.output().length;
  await inject("reject");
  await until(() => states().includes("Unavailable"));
  expect(local.output().slice(from)).toMatch(/Unavailable · .*rejected/);
  await inject("delete-endpoint");
  await until(() => states().at(-1) === "Healthy");

  from = local.output().length;
  await local.kube("DELETE", `${hostedClusters}/blue`);
  await until(() => /clusters\/blue {2}Progressing · .*delet/.test(local.output().slice(from)));
}, 240_000);
