import { expect, test } from "vitest";
import { ManualClock, settle } from "../../../../test/manual-clock.ts";
import { AzureError } from "./errors.ts";
import { cachedTokens, type FetchedToken, staticToken } from "./tokens.ts";

const minute = 60_000;

/** A source whose fetches are ended by the test. */
function source(livesMs = 60 * minute) {
  const clock = new ManualClock();
  const fetches: { end(error?: unknown): Promise<void> }[] = [];
  const fetch = () =>
    new Promise<FetchedToken>((resolve, reject) => {
      const token = `t${fetches.length}`;
      fetches.push({
        end: (error) => {
          if (error === undefined) resolve({ token, expiresAtMs: clock.now() + livesMs });
          else reject(error);
          return settle();
        },
      });
    });
  return { clock, fetches, tokens: cachedTokens("me", fetch, clock) };
}

test("a token is fetched once for all who ask, and kept", async () => {
  const { tokens, fetches } = source();
  const asked = Promise.all([tokens.token(), tokens.token(), tokens.token()]);
  await fetches[0]?.end();
  expect(await asked).toEqual(["t0", "t0", "t0"]);
  expect(await tokens.token()).toBe("t0");
  expect(fetches).toHaveLength(1);
});

test("it is renewed five minutes before it ends, and nobody waits for that", async () => {
  const { clock, tokens, fetches } = source();
  const first = tokens.token();
  await fetches[0]?.end();
  await first;
  await clock.move(56 * minute);
  expect(await tokens.token()).toBe("t0");
  expect(await tokens.token()).toBe("t0");
  expect(fetches).toHaveLength(2);
  await fetches[1]?.end();
  expect(await tokens.token()).toBe("t1");
});

test("a renewal that fails is not noticed while the old token is good", async () => {
  const { clock, tokens, fetches } = source();
  const first = tokens.token();
  await fetches[0]?.end();
  await first;
  await clock.move(56 * minute);
  await tokens.token();
  await fetches[1]?.end(new Error("Entra is down"));
  expect(await tokens.token()).toBe("t0");
  expect(fetches).toHaveLength(2);
  await clock.move(5_000);
  expect(await tokens.token()).toBe("t0");
  expect(fetches).toHaveLength(3);
});

test("after a failure nothing is asked for a moment, and all are told why", async () => {
  const { clock, tokens, fetches } = source();
  const error = new AzureError({ code: "AADSTS7000215", what: "get a token for Azure" });
  const first = tokens.token();
  first.catch(() => undefined);
  await fetches[0]?.end(error);
  await expect(first).rejects.toBe(error);
  await expect(tokens.token()).rejects.toBe(error);
  expect(fetches).toHaveLength(1);
  await clock.move(5_000);
  const requeue = tokens.token();
  await fetches[1]?.end();
  expect(await requeue).toBe("t1");
});

test("one that Azure refused is replaced, once for all whom it refused", async () => {
  const { tokens, fetches } = source();
  const first = tokens.token();
  await fetches[0]?.end();
  await first;
  const asked = Promise.all([tokens.token(undefined, "t0"), tokens.token(undefined, "t0")]);
  await fetches[1]?.end();
  expect(await asked).toEqual(["t1", "t1"]);
  expect(await tokens.token(undefined, "t0")).toBe("t1");
  expect(fetches).toHaveLength(2);
});

test("one that is given expired is refused, and says so", async () => {
  const { tokens, fetches } = source(-1);
  const asked = tokens.token();
  asked.catch(() => undefined);
  await fetches[0]?.end();
  await expect(asked).rejects.toMatchObject({ code: "TokenExpired" });
});

test("whoever stops waiting is let go, and the others get the token", async () => {
  const { tokens, fetches } = source();
  const stop = new AbortController();
  const stopped = tokens.token(stop.signal);
  const waiting = tokens.token();
  stop.abort();
  await expect(stopped).rejects.toMatchObject({ code: "Cancelled" });
  await fetches[0]?.end();
  expect(await waiting).toBe("t0");
  await expect(tokens.token(AbortSignal.abort())).resolves.toBe("t0");
});

test("a given token is given to all", async () => {
  expect(await staticToken("t").token()).toBe("t");
  expect(staticToken("t", "me").identity).toBe("me");
});
