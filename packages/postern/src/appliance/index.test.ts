import { expect, test } from "vitest";
import * as appliance from "./index.ts";

test("the library has every function and constant of the agent, under its words", () => {
  const functions = [
    "queryIMDS",
    "discoverGWLBBackendPool",
    "registerWithBackendPool",
    "isRegisteredWithBackendPool",
    "deregisterFromBackendPool",
    "findVXLANTunnelInterface",
    "setMetricsCollector",
    "apply",
    "cleanup",
  ];
  for (const name of functions) expect(appliance).toHaveProperty(name, expect.any(Function));
  expect(appliance).toMatchObject({ internalVXLANPort: 10800, externalVXLANPort: 10801 });
});
