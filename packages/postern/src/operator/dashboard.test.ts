import { expect, test } from "vitest";
import { startDashboard } from "./dashboard.ts";

test.each(["0.0.0.0", "::", "10.0.0.4", "operator.example.com"])(
  "the dashboard is not served on %s, where it would show everything to anyone",
  async (host) => {
    const nothing = {} as never;
    const started = startDashboard({
      listen: { host, port: 0 },
      version: "0",
      subscriptions: [],
      runtime: () => undefined,
      client: nothing,
      azure: nothing,
      journal: nothing,
      log: nothing,
    });
    await expect(started).rejects.toMatchObject({ code: "NotListening" });
  },
);
