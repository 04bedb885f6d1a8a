import { describe, expect, test } from "vitest";
import { ManualClock } from "../../../../test/manual-clock.ts";
import { Budgets } from "./budget.ts";
import { DriftInterval } from "./drift-interval.ts";

describe("how often drift is checked", () => {
  /** The interval for so many objects, once so many reads for each check have been measured. */
  const intervalSeconds = (objects: number, readsPerCheck: number, share?: number) => {
    const drift = new DriftInterval({ share });
    for (let check = 0; check < 2_000; check++) {
      for (let read = 0; read < readsPerCheck; read++) drift.read();
      drift.checked();
    }
    return Math.round(drift.ms(objects) / 1000);
  };

  test("is every 20 s where there is little to check, and every 5 minutes where there is most", () => {
    expect(intervalSeconds(30, 1)).toBe(20);
    expect(intervalSeconds(3_000, 1)).toBe(300);
    expect(intervalSeconds(100_000, 0)).toBe(300);
  });

  test("follows the reads that checks take and the share that they may use", () => {
    expect(intervalSeconds(150, 2)).toBe(120);
    expect(intervalSeconds(150, 2, 0.2)).toBe(60);
  });
});

describe("the DNS reads that are spare for drift checks", () => {
  const wanted = { priority: "change", tenant: "", what: "read" } as const;
  const contents = (key: string) => ({ of: "contents", key }) as const;
  const zones = (key: string) => ({ of: "zones", key }) as const;

  test("are at most a tenth of the subscription's in 5 minutes, and go round all who want one", async () => {
    const clock = new ManualClock(0);
    const budgets = new Budgets({ clock });
    const read: string[] = [];
    for (let second = 0; second < 300; second++) {
      for (let zone = 0; zone < 40; zone++)
        if (budgets.takeSpareDnsRead("s", contents(`zone-${zone}`))) read.push(`zone-${zone}`);
      await clock.move(1_000);
    }
    expect(read.length).toBeGreaterThan(45);
    expect(read.length).toBeLessThanOrEqual(50);
    expect(new Set(read).size).toBe(40);
  });

  test("are for what is in zones too, however many lists of zones are wanted, and every list has its turn", async () => {
    const clock = new ManualClock(0);
    const budgets = new Budgets({ clock });
    const taken = { zones: new Set<string>(), contents: new Set<string>() };
    // Checks for drift that come every 5 minutes, each with more lists than there are spare reads.
    for (let check = 0; check < 16; check++) {
      for (let n = 0; n < 12; n++)
        if (budgets.takeSpareDnsRead("s", zones(`group-${n}`))) taken.zones.add(`group-${n}`);
      for (let n = 0; n < 12; n++)
        if (budgets.takeSpareDnsRead("s", contents(`zone-${n}`))) taken.contents.add(`zone-${n}`);
      for (let n = 0; n < 12; n++) budgets.takeSpareDnsRead("s", zones(`group-${n}`));
      await clock.move(300_000);
    }
    expect([...taken.zones]).toHaveLength(12);
    expect([...taken.contents]).toHaveLength(12);
  });

  test("are not held up by a zone that does not exist any more", async () => {
    const clock = new ManualClock(0);
    const budgets = new Budgets({ clock });
    const read: string[] = [];
    for (let check = 0; check < 30; check++) {
      if (check < 3)
        for (let n = 0; n < 20; n++) budgets.takeSpareDnsRead("s", contents(`deleted-${n}`));
      if (budgets.takeSpareDnsRead("s", contents("living"))) read.push("living");
      await clock.move(20_000);
    }
    expect(read.length).toBeGreaterThan(10);
  });

  test("are none while users' changes use more than half of what there is", async () => {
    const clock = new ManualClock(0);
    const budgets = new Budgets({ clock, limits: { reads: { burst: 1_000, perSecond: 1_000 } } });
    const key = { identity: "a", subscription: "s", region: "" };
    const dns = budgets.of({ ...key, kind: "reads", provider: "dns" });
    for (let i = 0; i < 251; i++) await dns.take(wanted);
    expect(budgets.takeSpareDnsRead("s", contents("zone"))).toBe(false);
    expect(budgets.takeSpareDnsRead("other", contents("zone"))).toBe(true);
    await clock.move(10_000);
    expect(budgets.takeSpareDnsRead("s", contents("zone"))).toBe(true);
  });
});
