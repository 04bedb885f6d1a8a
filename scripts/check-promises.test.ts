import { createVirtualFileSystem } from "typescript/unstable/fs";
import { expect, test } from "vitest";
import { unhandledPromises } from "./check-promises.ts";

const declarations = `
declare const ids: string[];
declare function read(id?: string): Promise<string>;
declare function now(): string;
declare function later(ms: number, work: () => void): void;
declare const listeners: { on(name: string, listener: (text: string) => void): void };
declare const program: { action(work: () => void | Promise<void>): void };
`;

const good = {
  "a read that is awaited": "await read();",
  "reads that are awaited together": "const [a, b] = await Promise.all([read('a'), read('b')]);",
  "a list of reads that are awaited together": "await Promise.all(ids.map((id) => read(id)));",
  "a list that is named first":
    "const all = ids.map(async (id) => read(id)); return Promise.all(all);",
  "a read that is returned": "return read();",
  "a read that is returned by an arrow function": "const f = () => read(); await f();",
  "one of two reads": "await (ids.length > 0 ? read('a') : read('b'));",
  "a read that is awaited next": "const a = read(); const b = now(); await a; return b;",
  "reads that race": "const a = read('a'); await Promise.race([a, read('b')]);",
  "a read that is awaited within a try":
    "const a = read(); try { await a; } catch {} await read();",
  "a read with a catch": "const a = read().catch(() => undefined); await read(); await a;",
  "a read that gets its catch next":
    "const a = read(); a.catch(() => undefined); await read(); await a;",
  "a statement with a catch": "read().catch(() => undefined);",
  "a statement with two handlers": "read().then(() => 1, () => 2);",
  "a statement with handlers and an end": "read().then(() => 1, () => 2).finally(() => 3);",
  "void with a catch": "void read().then(now).catch(() => undefined);",
  "a promise that nothing rejects":
    "const a = new Promise<void>((resolve) => later(1, resolve)); await read(); await a;",
  "a promise that rejects and is awaited next":
    "const a = new Promise<void>((_, reject) => later(1, reject)); await a;",
  "a read that is shared":
    "const held: { reading?: Promise<string> } = {}; held.reading ??= read(); return held.reading;",
  "a read that is shared by name":
    "const all = new Map<string, Promise<string>>(); const a = all.get('a') ?? read(); all.set('a', a); return a;",
  "a read that a function is given":
    "const first = async (one: Promise<string>) => { try { return await one; } catch { return ''; } }; await first(read());",
  "a read that each branch returns":
    "const a = read('a'); if (ids.length > 0) return a; return a.then(now);",
  "a read that an executor handles":
    "const first = (one: Promise<string>) => new Promise((resolve, reject) => { one.then(resolve, reject); }); await first(read());",
  "a handler that starts a read and catches":
    "listeners.on('a', () => { read().catch(() => undefined); });",
  "an async action": "program.action(async () => { await read(); });",
  "a read after an await in an array": "await Promise.all([await read('b'), read('a')]);",
  "a read beside an async function":
    "await Promise.all([read('a'), ...ids.map(async (id) => (await read(id)).trim())]);",
  "an end that is awaited": "await read().finally(() => read());",
} satisfies Record<string, string>;

const bad = {
  "a read that another is awaited before":
    "const a = read('a'); const b = read('b'); return { b: await b, a: await a };",
  "a list of reads that another is awaited before":
    "const all = Promise.all(ids.map((id) => read(id))); const b = await read('b'); return { all: await all, b };",
  "a read that is awaited after a branch that awaits":
    "const a = read('a'); if (ids.length > 0) await read('b'); await a;",
  "a read that a branch forgets": "const a = read('a'); if (ids.length > 0) return ''; await a;",
  "a read that only a branch awaits": "const a = read('a'); if (ids.length > 0) await a;",
  "a read that a loop awaits after others":
    "const a = read('a'); for (const id of ids) await read(id); await a;",
  "a read that is never awaited": "const a = read('a'); now();",
  "a read that is awaited later by another function":
    "const a = read('a'); const f = async () => { await a; }; await read('b'); await f();",
  "a read in an object": "const both = { a: read('a') }; await read('b'); await both.a;",
  "a read in a field":
    "const held: { a?: Promise<string> } = {}; held.a = read(); await read('b');",
  "a read that is put into a list":
    "const all: Promise<string>[] = []; all.push(read('a')); await read('b'); await Promise.all(all);",
  "a read that is put into a map":
    "const all = new Map<string, Promise<string>>(); all.set('a', read()); await read('b');",
  "reads that are awaited one after another":
    "const all = ids.map(async (id) => read(id)); for (const one of all) await one;",
  "reads that are iterated":
    "const all = ids.map(async (id) => read(id)); for await (const one of all) now();",
  "reads that are made by a function that may throw":
    "await Promise.all(ids.map((id) => { if (id === '') throw new Error(); return read(id); }));",
  "an array that is awaited": "await ids.map(async (id) => read(id));",
  "void without a catch": "void read();",
  "void with one handler": "void read().then(now);",
  "an end without a catch": "void read().finally(now);",
  "a promise that rejects while something is awaited":
    "const a = new Promise<void>((_, reject) => later(1, reject)); await read(); await a;",
  "a parameter that something is awaited before":
    "const second = async (one: Promise<string>) => { await read(); return one; }; await second(read());",
  "an async event handler": "listeners.on('a', async () => { await read(); });",
  "an event handler that returns a promise": "listeners.on('a', () => read());",
  "an event handler by its name":
    "const heard = async (text: string) => { await read(text); }; listeners.on('a', heard);",
  "an async timer": "later(1, async () => { await read(); });",
  "an async forEach": "ids.forEach(async (id) => { await read(id); });",
  "a read of a method that another is awaited before":
    "class Reader { async both() { const a = read('a'); const b = await read('b'); return [await a, b]; } } await new Reader().both();",
  "a read of a method's own field":
    "class Reader { #a: Promise<string> | undefined; async both() { this.#a = read('a'); await read('b'); return this.#a; } } await new Reader().both();",
  "a field that is initialised with a read": "class Reader { a = read('a'); } return new Reader();",
  "a list that a loop awaits by index":
    "const all = ids.map((id) => read(id)); for (let i = 0; i < all.length; i++) await all[i];",
  "two lists of which one is awaited first":
    "const a = ids.map((id) => read(id)); const b = ids.map((id) => read(id)); await Promise.all(a); await Promise.all(b);",
  "reads of a list that are unpacked":
    "const [a, b] = ids.map((id) => read(id)); const first = await b; return [first, await a];",
  "a read beside an await in one expression": "return { a: read('a'), b: await read('b') };",
  "a read beside an await in an array": "await Promise.all([read('a'), await read('b')]);",
  "a read beside an await in a call":
    "const both = async (a: Promise<string>, b: string) => [await a, b]; await both(read('a'), await read('b'));",
  "a read before one that is awaited in a sum":
    "const a = read('a'); return (await read('b')) + (await a);",
  "a read that a thunk starts":
    "const go = () => read('a'); const a = go(); await read('b'); await a;",
  "a for await over a list of reads": "for await (const one of ids.map((id) => read(id))) now();",
  "a read from an optional call":
    "const maybe: (() => Promise<string>) | undefined = read; const a = maybe?.(); await read('b'); await a;",
  "a read that Object.fromEntries holds":
    "const all = Object.fromEntries(ids.map((id) => [id, read(id)])); for (const id of ids) await all[id];",
  "pairs of reads":
    "const all = ids.map((id) => [id, read(id)] as const); for (const [, one] of all) await one;",
  "objects of reads":
    "const all = ids.map((id) => ({ id, one: read(id) })); for (const { one } of all) await one;",
  "a read that is awaited in the head of a loop":
    "const a = read('a'); while ((await read('b')) === '') now(); await a;",
  "a read that a switch awaits after another":
    "const a = read('a'); switch (await read('b')) { default: await a; }",
  "a read in an array from Array.from":
    "const all = Array.from(ids, (id) => read(id)); for (const one of all) await one;",
  "reads in an array literal": "const all = [read('a'), 'b']; for (const one of all) await one;",
  "a read that is unpacked from an array":
    "const [a, b] = [read('a'), 'b']; const first = await read(b); return [first, await a];",
  "a read that is unpacked from an object":
    "const { a, b } = { a: read('a'), b: 'b' }; const first = await read(b); return [first, await a];",
  "a read that is named, beside an await in an array":
    "const a = read('a'); return Promise.all([a, await read('b')]);",
  "reads in a new map":
    "const all = new Map(ids.map((id) => [id, read(id)] as const)); await read('b'); return all;",
  "an async executor": "await new Promise<void>(async (resolve) => { await read(); resolve(); });",
} satisfies Record<string, string>;

/** All snippets are checked at once: what takes time is to start the compiler. */
const wrong = checked({ ...good, ...bad });

function checked(snippets: Record<string, string>): Map<string, string[]> {
  const names = Object.keys(snippets);
  const files = Object.entries(snippets).map(([, text], at) => [
    `/checked/${at}.ts`,
    `export {};${declarations}export async function snippet() {\n${text}\n}`,
  ]);
  const { findings } = unhandledPromises("/checked/tsconfig.json", () => true, {
    cwd: "/checked",
    fs: createVirtualFileSystem({
      "/checked/tsconfig.json": JSON.stringify({
        compilerOptions: { strict: true, target: "es2024", lib: ["es2024"], types: [] },
      }),
      ...Object.fromEntries(files),
    }),
  });
  const nameOf = (file: string) => names[Number(/(\d+)\.ts$/.exec(file)?.[1])] ?? file;
  const byName = Map.groupBy(findings, ({ file }) => nameOf(file));
  return new Map([...byName].map(([name, all]) => [name, all.map(({ why }) => why)]));
}

test.each(Object.keys(good))("%s has its handler in time", (name) => {
  expect(wrong.get(name) ?? []).toEqual([]);
});

test.each(Object.keys(bad))("%s is refused", (name) => {
  expect(wrong.get(name)).toHaveLength(1);
});
