import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findOrBuildKubectl } from "../setup/binaries.ts";
import { type Api, configMaps, describeApi } from "./api.ts";
import { start } from "./running.ts";
import { withWidgets } from "./widgets.ts";

interface Said {
  code: number;
  out: string;
  err: string;
}

const found = await findOrBuildKubectl((line) => process.stderr.write(`${line}\n`));
const program = "kubectl" in found ? found.kubectl : "";

describeApi("kubectl", suite, "missing" in found ? found.missing : undefined);

function suite(api: Api): void {
  const condition = {
    type: "object",
    properties: { type: { type: "string" }, status: { type: "string" } },
  };
  const widgets = withWidgets(api, {
    names: { shortNames: ["wd"], categories: ["toys"] },
    schema: {
      type: "object",
      description: "A thing to play with.",
      properties: {
        spec: {
          type: "object",
          description: "What is wanted.",
          required: ["size"],
          properties: {
            size: { type: "integer", description: "How large it is.", maximum: 9 },
            colour: { type: "string" },
          },
        },
        status: {
          type: "object",
          properties: { conditions: { type: "array", items: condition } },
        },
      },
    },
    version: {
      additionalPrinterColumns: [
        { name: "Size", type: "integer", jsonPath: ".spec.size" },
        { name: "Colour", type: "string", jsonPath: ".spec.colour", priority: 1 },
      ],
    },
  });
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "postern-kubectl-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const flags = (namespace: string) => [
    `--kubeconfig=${api.kubeconfig}`,
    `--cache-dir=${join(folder, "cache")}`,
    `--namespace=${namespace}`,
  ];
  const run = (namespace: string, args: string[], input = "", env: object = {}): Promise<Said> =>
    new Promise((resolve) => {
      const options = { env: { ...process.env, ...env } };
      const child = execFile(program, [...flags(namespace), ...args], options, (error, out, err) =>
        resolve({ code: error ? Number(error.code) : 0, out, err }),
      );
      child.stdin?.end(input);
    });
  /** What kubectl prints; an exit code other than 0 is an error of the test. */
  const kubectl = async (namespace: string, line: string, input = "", env: object = {}) => {
    const said = await run(namespace, line.split(" "), input, env);
    if (said.code !== 0) throw new Error(`kubectl ${line}: ${said.code}\n${said.err}`);
    return said.out;
  };
  const widget = (name: string, fields: object) => JSON.stringify(widgets.widget(name, fields));
  const withOne = async (spec: object = { size: 3, colour: "red" }) => {
    const namespace = await api.namespace();
    await api.ok("POST", widgets.path(namespace), widgets.widget("a", { spec }));
    return namespace;
  };
  const kind = () => `widget.${widgets.group}`;
  const specOf = async (namespace: string) =>
    (await api.ok("GET", widgets.path(namespace, "a"))).spec;

  test("gets a table with the columns of the kind", async () => {
    const namespace = await withOne();
    const [head, row] = (await kubectl(namespace, `get ${kind()}`)).split("\n");
    expect(head).toMatch(/^NAME +SIZE$/);
    expect(row).toMatch(/^a +3$/);
  });

  test("gets more columns where it is asked for wide ones", async () => {
    const namespace = await withOne();
    expect(await kubectl(namespace, `get ${kind()} -o wide`)).toMatch(
      /^NAME +SIZE +COLOUR\na +3 +red/,
    );
  });

  test("gets by plural, short name, category and name", async () => {
    const namespace = await withOne();
    for (const what of [`widgets.${widgets.group}`, `wd.${widgets.group}`, `${kind()}/a`])
      expect(await kubectl(namespace, `get ${what} -o name`)).toBe(`${kind()}/a\n`);
    expect(await kubectl(namespace, "get toys -o name")).toBe(`${kind()}/a\n`);
  });

  test("gets YAML, JSON and a path of an object", async () => {
    const namespace = await withOne();
    expect(await kubectl(namespace, `get ${kind()} a -o yaml`)).toContain("  size: 3\n");
    expect(JSON.parse(await kubectl(namespace, `get ${kind()} a -o json`))).toMatchObject({
      spec: { size: 3 },
    });
    expect(await kubectl(namespace, `get ${kind()} a -o jsonpath={.spec.colour}`)).toBe("red");
  });

  test("gets by a label, in all namespaces", async () => {
    const namespace = await withOne();
    await kubectl(namespace, `label ${kind()} a of=${namespace}`);
    const out = await kubectl("default", `get ${kind()} -A -l of=${namespace} --no-headers`);
    expect(out).toMatch(new RegExp(`^${namespace} +a +3\n$`));
  });

  test("says what is not there", async () => {
    const namespace = await api.namespace();
    const said = await run(namespace, ["get", kind(), "none"]);
    expect(said.code).toBe(1);
    expect(said.err).toBe(
      `Error from server (NotFound): widgets.${widgets.group} "none" not found\n`,
    );
    expect((await run(namespace, ["get", kind()])).err).toContain("No resources found");
    expect((await run(namespace, ["get", "gadgets"])).err).toContain(
      'the server doesn\'t have a resource type "gadgets"',
    );
  });

  test("describes an object with its events", async () => {
    const namespace = await withOne();
    const { metadata } = await api.ok("GET", widgets.path(namespace, "a"));
    await api.ok("POST", `/api/v1/namespaces/${namespace}/events`, {
      metadata: { name: "e" },
      involvedObject: {
        apiVersion: widgets.apiVersion,
        kind: "Widget",
        name: "a",
        namespace,
        uid: metadata.uid,
      },
      reason: "Tried",
      message: "it was tried",
      type: "Normal",
      source: { component: "tester" },
      firstTimestamp: "2026-01-01T00:00:00Z",
      lastTimestamp: "2026-01-01T00:00:00Z",
      count: 1,
    });
    const out = await kubectl(namespace, `describe ${kind()} a`);
    expect(out).toMatch(/^Name: +a\nNamespace: +test-/);
    expect(out).toContain("Size:    3");
    expect(out).toMatch(/Normal +Tried +\S+ +tester +it was tried/);
  });

  test.each(["configmap", "secret", "service", "node", "namespace", "lease", "serviceaccount"])(
    "describes a %s",
    async (what) => {
      const namespace = await api.namespace();
      const name = `n-${namespace}`;
      const bodies: Record<string, [string, object]> = {
        configmap: [configMaps(namespace), { data: { k: "v" } }],
        secret: [`/api/v1/namespaces/${namespace}/secrets`, { stringData: { k: "v" } }],
        service: [`/api/v1/namespaces/${namespace}/services`, { spec: { ports: [{ port: 80 }] } }],
        node: ["/api/v1/nodes", {}],
        namespace: ["/api/v1/namespaces", {}],
        lease: [`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`, { spec: {} }],
        serviceaccount: [`/api/v1/namespaces/${namespace}/serviceaccounts`, {}],
      };
      const [path, body] = bodies[what] ?? ["", {}];
      await api.ok("POST", path, { metadata: { name }, ...body });
      expect(await kubectl(namespace, `describe ${what} ${name}`)).toMatch(
        new RegExp(`^Name: +${name}\n`),
      );
    },
  );

  test("explains a kind and its fields, with their words", async () => {
    const whole = await kubectl("default", `explain widget --api-version=${widgets.apiVersion}`);
    expect(whole).toContain("A thing to play with.");
    const field = await kubectl(
      "default",
      `explain widgets.spec.size --api-version=${widgets.apiVersion}`,
    );
    expect(field).toContain("FIELD: size <integer>");
    expect(field).toContain("How large it is.");
  });

  test("explains a built-in kind", async () => {
    expect(await kubectl("default", "explain service.spec.ports")).toContain("targetPort");
  });

  test("applies: creates, leaves and configures", async () => {
    const namespace = await api.namespace();
    const apply = (spec: object) => kubectl(namespace, "apply -f -", widget("a", { spec }));
    expect(await apply({ size: 1, colour: "red" })).toBe(`${kind()}/a created\n`);
    expect(await apply({ size: 1, colour: "red" })).toBe(`${kind()}/a unchanged\n`);
    expect(await apply({ size: 2 })).toBe(`${kind()}/a configured\n`);
    expect(await specOf(namespace)).toEqual({ size: 2 });
  });

  test("applies a built-in kind, keeping what others have added", async () => {
    const namespace = await api.namespace();
    const map = (data: object) =>
      JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data });
    await kubectl(namespace, "apply -f -", map({ one: "1", two: "2" }));
    await api.ok("PATCH", configMaps(namespace, "a"), { data: { other: "x" } });
    await kubectl(namespace, "apply -f -", map({ one: "1" }));
    expect((await api.ok("GET", configMaps(namespace, "a"))).data).toEqual({
      one: "1",
      other: "x",
    });
  });

  test("applies on the server, and is told of conflicts", async () => {
    const namespace = await api.namespace();
    const apply = (manager: string, size: number, more: string[] = []) =>
      run(
        namespace,
        ["apply", "--server-side", `--field-manager=${manager}`, "-f", "-", ...more],
        widget("a", { spec: { size } }),
      );
    expect((await apply("one", 1)).out).toBe(`${kind()}/a serverside-applied\n`);
    const conflict = await apply("two", 2);
    expect(conflict.code).toBe(1);
    expect(conflict.err).toContain('Apply failed with 1 conflict: conflict with "one": .spec.size');
    await apply("two", 2, ["--force-conflicts"]);
    expect(await specOf(namespace)).toEqual({ size: 2 });
  });

  test("is told of what is wrong, before and by the server", async () => {
    const namespace = await api.namespace();
    const stray = await run(
      namespace,
      ["apply", "-f", "-"],
      widget("a", { spec: { sise: 1, size: 1 } }),
    );
    expect(stray.code).toBe(1);
    expect(stray.err).toContain('unknown field "spec.sise"');
    const large = await run(namespace, ["apply", "-f", "-"], widget("a", { spec: { size: 10 } }));
    expect(large.err).toContain(
      `The Widget "a" is invalid: spec.size: Invalid value: 10: spec.size in body should be less than or equal to 9`,
    );
  });

  test("tries without a change: on the server and by diff", async () => {
    const namespace = await withOne({ size: 1 });
    const input = widget("a", { spec: { size: 2 } });
    expect(
      await kubectl(
        namespace,
        "apply --server-side --force-conflicts --dry-run=server -f -",
        input,
      ),
    ).toContain("(server dry run)");
    const diff = await run(namespace, ["diff", "-f", "-"], input);
    expect(diff.code).toBe(1);
    expect(diff.out).toContain("+  size: 2");
    expect(await specOf(namespace)).toEqual({ size: 1 });
  });

  test("creates and replaces", async () => {
    const namespace = await api.namespace();
    await kubectl(namespace, "create -f -", widget("a", { spec: { size: 1 } }));
    const again = await run(namespace, ["create", "-f", "-"], widget("a", { spec: { size: 1 } }));
    expect(again.err).toContain("(AlreadyExists)");
    await kubectl(namespace, "replace -f -", widget("a", { spec: { size: 4 } }));
    expect(await specOf(namespace)).toEqual({ size: 4 });
  });

  test("creates the built-in kinds from flags", async () => {
    const namespace = await api.namespace();
    await kubectl(namespace, "create configmap c --from-literal=k=v");
    await kubectl(namespace, "create secret generic s --from-literal=k=v");
    await kubectl(namespace, "create serviceaccount robot");
    await kubectl(namespace, "create service clusterip svc --tcp=80:8080");
    const out = await kubectl(namespace, "get configmap/c secret/s sa/robot svc/svc -o name");
    expect(out.trim().split("\n")).toEqual([
      "configmap/c",
      "secret/s",
      "serviceaccount/robot",
      "service/svc",
    ]);
    expect((await kubectl(namespace, "create token robot")).split(".")).toHaveLength(3);
  });

  test.each([
    ["merge", '{"spec":{"size":7}}'],
    ["json", '[{"op":"replace","path":"/spec/size","value":7}]'],
  ])("patches by %s", async (type, patch) => {
    const namespace = await withOne({ size: 1 });
    await run(namespace, ["patch", kind(), "a", `--type=${type}`, "-p", patch]);
    expect(await specOf(namespace)).toEqual({ size: 7 });
  });

  test("patches a status", async () => {
    const namespace = await withOne();
    const patch = '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}';
    await kubectl(namespace, `patch ${kind()} a --subresource=status --type=merge -p ${patch}`);
    const { status } = await api.ok("GET", widgets.path(namespace, "a"));
    expect(status).toEqual({ conditions: [{ type: "Ready", status: "True" }] });
  });

  test("patches a built-in kind by strategy", async () => {
    const namespace = await api.namespace();
    await kubectl(namespace, "create service clusterip svc --tcp=80:8080");
    await kubectl(namespace, 'patch svc svc -p {"spec":{"ports":[{"port":80,"targetPort":9090}]}}');
    const out = await kubectl(namespace, "get svc svc -o jsonpath={.spec.ports[0].targetPort}");
    expect(out).toBe("9090");
  });

  test("edits, with an editor", async () => {
    const namespace = await withOne({ size: 1 });
    const editor = join(folder, "editor");
    writeFileSync(editor, '#!/bin/sh\nsed -i "s/size: 1/size: 8/" "$1"\n');
    chmodSync(editor, 0o755);
    const out = await kubectl(namespace, `edit ${kind()} a`, "", { KUBE_EDITOR: editor });
    expect(out).toBe(`${kind()}/a edited\n`);
    expect(await specOf(namespace)).toEqual({ size: 8 });
  });

  test("labels and annotates", async () => {
    const namespace = await withOne();
    await kubectl(namespace, `label ${kind()} a l=1`);
    await kubectl(namespace, `annotate ${kind()} a n=1`);
    const { metadata } = await api.ok("GET", widgets.path(namespace, "a"));
    expect(metadata).toMatchObject({ labels: { l: "1" }, annotations: { n: "1" } });
    await kubectl(namespace, `label ${kind()} a l-`);
    expect((await api.ok("GET", widgets.path(namespace, "a"))).metadata).not.toHaveProperty(
      "labels",
    );
  });

  test("deletes, and waits until it is gone", async () => {
    const namespace = await withOne();
    expect(await kubectl(namespace, `delete ${kind()} a`)).toContain(`${kind()} "a" deleted`);
    expect((await api.request("GET", widgets.path(namespace, "a"))).status).toBe(404);
  });

  test("deletes by a label, and all", async () => {
    const namespace = await withOne();
    await api.ok("POST", configMaps(namespace), { metadata: { name: "x", labels: { l: "1" } } });
    await api.ok("POST", configMaps(namespace), { metadata: { name: "y" } });
    await kubectl(namespace, "delete configmap -l l=1");
    expect(await kubectl(namespace, "get configmap -o name")).toContain("configmap/y");
    await kubectl(namespace, `delete ${kind()} --all`);
    expect((await api.request("GET", widgets.path(namespace, "a"))).status).toBe(404);
  });

  test("waits for a condition", async () => {
    const namespace = await withOne();
    const waiting = kubectl(namespace, `wait ${kind()}/a --for=condition=Ready --timeout=20s`);
    const conditions = [{ type: "Ready", status: "True" }];
    await api.ok("PATCH", widgets.path(namespace, "a", "status"), { status: { conditions } });
    expect(await waiting).toBe(`${kind()}/a condition met\n`);
  });

  test("waits for a deletion", async () => {
    const namespace = await withOne();
    const waiting = kubectl(namespace, `wait ${kind()}/a --for=delete --timeout=20s`);
    await api.ok("DELETE", widgets.path(namespace, "a"));
    await waiting;
  });

  test("waits for a value", async () => {
    const namespace = await withOne({ size: 1 });
    const waiting = kubectl(
      namespace,
      `wait ${kind()}/a --for=jsonpath={.spec.size}=6 --timeout=20s`,
    );
    await api.ok("PATCH", widgets.path(namespace, "a"), { spec: { size: 6 } });
    await waiting;
  });

  test("shows changes of an object with get --watch", async () => {
    const namespace = await withOne({ size: 1 });
    const watching = start(program, [
      ...flags(namespace),
      "get",
      kind(),
      "--watch",
      "--no-headers",
    ]);
    await watching.saying("a 1");
    await api.ok("PATCH", widgets.path(namespace, "a"), { spec: { size: 2 } });
    await watching.saying("a 2");
    await watching.end();
  });

  test("shows the events of an object", async () => {
    const namespace = await withOne();
    await api.ok("POST", `/apis/events.k8s.io/v1/namespaces/${namespace}/events`, {
      metadata: { name: "e" },
      regarding: { apiVersion: widgets.apiVersion, kind: "Widget", name: "a", namespace },
      reason: "Tried",
      note: "it was tried",
      action: "Try",
      type: "Warning",
      eventTime: "2026-01-01T00:00:00.000000Z",
      reportingController: "example.com/tester",
      reportingInstance: "tester-1",
    });
    expect(await kubectl(namespace, "events")).toMatch(/Warning +Tried +Widget\/a +it was tried/);
    expect(await kubectl(namespace, `events --for ${kind()}/a`)).toContain("it was tried");
    expect(await kubectl(namespace, "get events")).toMatch(
      /Warning +Tried +widget\/a +it was tried/,
    );
  });

  test("lists what is served", async () => {
    const out = await kubectl("default", `api-resources --api-group=${widgets.group}`);
    expect(out).toMatch(new RegExp(`widgets +wd +${widgets.apiVersion} +true +Widget`));
    expect(await kubectl("default", "api-versions")).toContain(`${widgets.apiVersion}\n`);
  });

  test("knows the server and the user", async () => {
    expect(await kubectl("default", "version")).toMatch(/Server Version: v1\.\d+\.\d+/);
    expect(await kubectl("default", "auth whoami -o jsonpath={.status.userInfo.username}")).toBe(
      "admin",
    );
    expect(await kubectl("default", "auth can-i create configmaps")).toBe("yes\n");
    expect(await kubectl("default", "cluster-info")).toContain("is running at");
    expect(await kubectl("default", "get --raw /readyz")).toBe("ok");
  });

  test("makes and deletes CRDs, and waits for them", async () => {
    const crd = widgets.crd.split("/").at(-1) ?? "";
    expect(
      await kubectl("default", `wait crd/${crd} --for=condition=Established --timeout=20s`),
    ).toContain("condition met");
    expect(await kubectl("default", `get crd ${crd} --no-headers`)).toContain(crd);
    expect(await kubectl("default", `describe crd ${crd}`)).toContain("A thing to play with.");
  });

  test("shows namespaces and secrets as kubectl users know them", async () => {
    const namespace = await api.namespace();
    expect(await kubectl("default", `get ns ${namespace} --no-headers`)).toMatch(
      new RegExp(`^${namespace} +Active +\\d+`),
    );
    await kubectl(namespace, "create secret generic s --from-literal=k=v");
    expect(await kubectl(namespace, "get secret s --no-headers")).toMatch(/^s +Opaque +1 +\d+/);
  });
}
