import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { eventually } from "../../../test/eventually.ts";
import { expectError } from "../../../test/expect-error.ts";
import { startModelServer } from "../../../test/model-server.ts";
import { addPerson } from "../../../test/people.ts";
import { insertKey, insertStranger } from "../../../test/workspace-key.ts";

const free = { host: "127.0.0.1", port: 0 };
/**
 * Model servers that BECKON_EGRESS_ALLOW does not name, because the operator's providers are called
 * without the egress rules.
 */
const [ollama, gateway, proxy] = [
  await startModelServer(free),
  await startModelServer(free),
  await startModelServer(free),
];
afterAll(() => Promise.all([ollama.close(), gateway.close(), proxy.close()]));
beforeEach(() => {
  ollama.reset();
  gateway.reset();
});

const portOf = (url: string) => Number(new URL(url).port);
const operatorKey = "sk-of-the-operator-0123";
const settings = {
  BECKON_DISCOVER: "1",
  BECKON_SHARE_PROVIDERS: "1",
  OPENAI_API_KEY: operatorKey,
  OPENAI_BASE_URL: gateway.url,
};
const modelServers = [
  { name: "ollama", port: portOf(ollama.url), start: "Start Ollama (ollama serve)" },
  // Nothing listens on this port.
  { name: "vllm", port: 9, start: "Start vLLM (vllm serve)" },
];
/** Limits for a busy machine, on which a probe can take longer than the default limits. */
const discovery = { waitMs: 20_000, probeTimeoutMs: 20_000 };
const beckon = await startTestBeckon(settings, { modelServers, discovery });
const stranger = await insertStranger(beckon);
const namesAt = async (path: string, credential = beckon.key): Promise<string[]> =>
  (await beckon.call(path, { credential })).body.data.map(
    ({ name, provider }: { name?: string; provider?: string }) => name ?? provider,
  );

describe("a model server on this machine", () => {
  test("is a provider of the workspace default, whose agents use it without a key", async () => {
    const agent = await beckon.createAgent({ model: "ollama/scripted" });
    expect((await beckon.invoke(agent, "Hello")).body).toMatchObject({ ok: true, output: "Hello" });
    expect(ollama.requests.map(({ path }) => path)).toEqual(["/v1/chat/completions"]);
    expect(ollama.requests[0]?.headers).not.toHaveProperty("authorization");
  });

  test("is named by an exported agent, which can be imported where a server of that name is", async () => {
    const { id } = await beckon.createAgent({ model: "ollama/scripted" });
    const { body: document } = await beckon.call(`/agents/${id}/export`);
    const { body } = await beckon.call("/agents/import", { body: document });
    expect((await beckon.invoke(body.data.agents[0], "Hello")).body.output).toBe("Hello");
    expectError(
      await beckon.call("/agents/import", { body: document, credential: stranger }),
      400,
      "bad_request",
      /there is no provider ollama/,
    );
  });

  test("is listed beside accounts of the environment, with its address for an owner only", async () => {
    const listed = (await beckon.call("/providers")).body.data;
    expect(listed).toEqual([
      operators("openai-chat", "openai-chat", "environment", gateway.url),
      operators("openai", "openai", "environment", gateway.url),
      operators("ollama", "openai-compatible", "discovered", ollama.url),
    ]);
    const first = (await beckon.call("/providers?limit=2")).body;
    const second = (await beckon.call(`/providers?limit=2&after=${first.next}`)).body;
    expect([[...first.data, ...second.data], second.next]).toEqual([listed, null]);
    for (const one of listed)
      expect((await beckon.call(`/providers/${one.id}`)).body.data).toEqual(one);
    const viewer = await addPerson(beckon, { role: "viewer" });
    const admin = await addPerson(beckon, { role: "admin" });
    const key = await insertKey(beckon, { scopes: ["providers:read"] });
    for (const answer of [
      await viewer.call("/providers"),
      await admin.call("/providers"),
      await beckon.call("/providers", { credential: key }),
      await viewer.call("/models"),
      await viewer.call("/providers/env_ollama"),
    ]) {
      expect(answer.status).toBe(200);
      const text = JSON.stringify(answer.body);
      expect(text).toContain("env_ollama");
      for (const server of [ollama, gateway])
        expect(text).not.toContain(String(portOf(server.url)));
      expect(text).not.toContain(operatorKey.slice(-4));
    }
  });

  test("does not exist for another workspace, whatever is shared", async () => {
    const accounts = ["openai-chat", "openai"];
    expect(await namesAt("/providers", stranger)).toEqual(accounts);
    expect(await namesAt("/models", stranger)).toEqual([...accounts, "demo"]);
    const shared = (await beckon.call("/providers", { credential: stranger })).body;
    expect(JSON.stringify(shared)).not.toContain("127.0.0.1");
    for (const [method, path] of [
      ["GET", ""],
      ["PATCH", ""],
      ["DELETE", ""],
      ["POST", "/check"],
    ] as const) {
      const answer = await beckon.call(`/providers/env_ollama${path}`, {
        method,
        credential: stranger,
        ...(method === "PATCH" ? { body: {} } : {}),
      });
      expectError(answer, 404, "not_found");
    }
    const body = { name: "Test", model: "ollama/scripted" };
    expectError(
      await beckon.call("/agents", { credential: stranger, body }),
      400,
      "bad_request",
      /there is no provider ollama\. Models here begin with/,
    );
    expect([ollama.requests, ollama.listRequests]).toEqual([[], 0]);
  });

  test("is reached by no other way: neither by a provider of the workspace nor by a tool", async () => {
    const body = { name: "direct", kind: "openai-compatible", base_url: ollama.url };
    for (const credential of [beckon.key, stranger]) {
      expectError(
        await beckon.call("/providers", { credential, body }),
        400,
        "bad_request",
        new RegExp(`add ${new URL(ollama.url).host} to BECKON_EGRESS_ALLOW `),
      );
    }
    const { host } = new URL(ollama.url);
    const operation = { name: "read", description: "Reads", method: "GET", url: `${ollama.url}/x` };
    const tool = { type: "http", name: "web", allowed_hosts: [host], operations: [operation] };
    expectError(
      await beckon.call("/agents", { body: { name: "Test", model: "demo/echo", tools: [tool] } }),
      400,
      "bad_request",
      new RegExp(`add ${host} to BECKON_EGRESS_ALLOW `),
    );
    expect([ollama.requests, ollama.listRequests]).toEqual([[], 0]);
  });

  test.each([
    ["PATCH", { api_key: "sk-other" }],
    ["DELETE", undefined],
  ])("and an account cannot be changed by %s", async (method, body) => {
    for (const id of ["env_ollama", "env_openai"]) {
      const answer = await beckon.call(`/providers/${id}`, {
        method,
        ...(body === undefined ? {} : { body }),
      });
      expectError(answer, 409, "conflict", /is the operator's and cannot be changed here/);
    }
    const key = await insertKey(beckon, { scopes: ["providers:read"] });
    const answer = await beckon.call("/providers/env_ollama", {
      method,
      credential: key,
      ...(body === undefined ? {} : { body }),
    });
    expectError(answer, 403, "forbidden");
  });

  test("is checked without another request, as often as that is asked for within 30 seconds", async () => {
    for (let round = 0; round < 3; round++) {
      expect(
        (await beckon.call("/providers/env_ollama/check", { method: "POST" })).body.data,
      ).toEqual({ works: true, models: ["scripted"], error: null });
      expect(await namesAt("/models")).toContain("ollama");
    }
    expect(ollama.listRequests).toBeLessThanOrEqual(1);
    const account = await beckon.call("/providers/env_openai/check", { method: "POST" });
    expect(account.body.data).toEqual({ works: true, models: ["scripted"], error: null });
  });

  test("that is not there is checked with a sentence that says how to start it", async () => {
    const { data } = (await beckon.call("/providers/env_vllm/check", { method: "POST" })).body;
    expect(data).toEqual({
      works: false,
      models: [],
      error: expect.stringMatching(/No model server vllm answers.*Start vLLM \(vllm serve\)\.$/),
    });
    expectError(await beckon.call("/providers/env_vllm"), 404, "not_found");
    expectError(
      await beckon.call("/agents", { body: { name: "Test", model: "vllm/x" } }),
      400,
      "bad_request",
      /there is no provider vllm\..*Start vLLM/,
    );
  });

  test("gives way to the workspace's own provider of its name", async () => {
    const before = await beckon.createAgent({ model: "ollama/scripted" });
    const own = await startModelServer();
    onTestFinished(() => own.close());
    const { id } = await beckon.createProvider(own.url, "ollama");
    const agent = await beckon.createAgent({ model: "ollama/scripted" });
    expect((await beckon.invoke(agent, "Hello")).body.output).toBe("Hello");
    expect([own.requests.length, ollama.requests.length]).toEqual([1, 0]);
    expect((await beckon.invoke(before, "Hello")).body.output).toBe("Hello");
    expect([own.requests.length, ollama.requests.length]).toEqual([1, 1]);
    const lists = (await beckon.call("/models")).body.data;
    expect(
      lists.filter(({ provider }: { provider: string }) => provider === "ollama"),
    ).toMatchObject([{ provider_id: id, origin: "workspace" }]);
    expect(await namesAt("/providers")).toEqual(["ollama", "openai-chat", "openai", "ollama"]);
    await beckon.call(`/agents/${agent.id}`, { method: "DELETE" });
    expect((await beckon.call(`/providers/${id}`, { method: "DELETE" })).status).toBe(204);
  });
});

describe("a server that comes and goes", () => {
  test("is used as soon as it is there, by every process; a run without it says how to start it", async () => {
    // Takes the port until the model server uses it, so that no other program gets it.
    const taken = createServer((socket) => socket.destroy()).unref();
    await new Promise<void>((resolve) => taken.listen(free, resolve));
    const { port } = taken.address() as AddressInfo;
    const servers = [{ name: "llamacpp", port, start: "Start llama.cpp (llama-server)" }];
    const one = await beckon.another({ modelServers: servers });
    onTestFinished(() => one.stop());
    expect(one.providers.map(({ name }) => name)).not.toContain("llamacpp");
    const at = (url: string, path: string) => `${url}/api/public${path}`;

    const server = await startModelServer(taken);
    const body = { name: "Test", model: "llamacpp/scripted" };
    const agent = await eventually("the agent", async () => {
      const answer = await beckon.call(at(one.url, "/agents"), { body });
      return answer.status === 201 ? answer.body.data : undefined;
    });
    const other = await beckon.another({ modelServers: servers, discovery });
    onTestFinished(() => other.stop());
    expect(other.providers).toContainEqual({
      name: "llamacpp",
      origin: "discovered",
      model: "llamacpp/scripted",
    });
    const invoke = (url: string) =>
      beckon.call(at(url, `/agents/${agent.id}/invoke`), {
        credential: agent.token,
        body: { input: "Hello" },
      });
    for (const { url } of [one, other])
      expect((await invoke(url)).body).toMatchObject({ output: "Hello" });

    await server.close();
    const third = await beckon.another({ modelServers: servers });
    onTestFinished(() => third.stop());
    // Another process can claim the run. Its last probe can be up to a second old, so it may still
    // call the stopped server, and the run then fails with another error.
    const lost = await eventually("the run's error", async () => {
      const { status, body } = await invoke(third.url);
      return /No model server/.test(body.error) ? { status, ...body } : undefined;
    });
    expect(lost).toMatchObject({
      status: 500,
      code: "model_error",
      error: expect.stringMatching(
        /No model server llamacpp answers on Beckon's machine\. Start llama\.cpp \(llama-server\)\. Or give the agent another model\./,
      ),
    });
    // The agent can still be changed, but not to another model of the stopped server.
    const path = at(third.url, `/agents/${agent.id}`);
    const change = (sent: object) => beckon.call(path, { method: "PATCH", body: sent });
    expect((await change({ description: "Waits" })).status).toBe(200);
    expectError(await change({ model: "llamacpp/other" }), 400, "bad_request", /Start llama\.cpp/);
  });

  test.each([
    ["the port of PUBLIC_URL", { PUBLIC_URL: proxy.url.replace("/v1", "") }],
    ["its own port at another address", { HOST: "127.0.0.2", PORT: String(portOf(proxy.url)) }],
  ])("is not looked for at %s", async (_what, more) => {
    const other = await beckon.another({
      settings: more,
      modelServers: [{ name: "llamacpp", port: portOf(proxy.url), start: "Start llama.cpp" }],
    });
    onTestFinished(() => other.stop());
    expect(other.providers.map(({ name }) => name)).toEqual(["openai", "openai-chat"]);
    expect(proxy.listRequests).toBe(0);
  });

  test("is not looked for with BECKON_DISCOVER=0", async () => {
    const other = await beckon.another({ settings: { BECKON_DISCOVER: "0" }, modelServers });
    onTestFinished(() => other.stop());
    expect(other.providers.map(({ name }) => name)).toEqual(["openai", "openai-chat"]);
    const answer = await beckon.call(`${other.url}/api/public/agents`, {
      body: { name: "Test", model: "ollama/scripted" },
    });
    expectError(answer, 400, "bad_request", /there is no provider ollama\. Models/);
    expect(ollama.listRequests).toBe(0);
  });

  test("that hangs does not keep Beckon from starting", async () => {
    const silent = await startHanging();
    const other = await beckon.another({
      modelServers: [{ name: "vllm", port: silent, start: "Start vLLM" }],
      // Longer than the test can take: startup must not wait for the probe.
      discovery: { probeTimeoutMs: 600_000 },
    });
    onTestFinished(() => other.stop());
    expect(other.providers.map(({ name }) => name)).not.toContain("vllm");
  });
});

describe("GET /models", () => {
  test("lists what each provider has, and says which could not be listed", async () => {
    const own = await startModelServer();
    onTestFinished(() => own.close());
    const working = await beckon.createProvider(own.url, "working");
    const broken = await beckon.createProvider("http://127.0.0.1:9/v1", "broken");
    const { body } = await beckon.call("/models");
    expect(body).toEqual({
      ok: true,
      next: null,
      data: [
        {
          ...listed("broken", broken.id, "workspace", []),
          error: expect.stringMatching(/^It cannot be reached \(\w+\)\.$/),
        },
        listed("working", working.id, "workspace", ["working/scripted"]),
        listed("openai-chat", "env_openai-chat", "environment", ["openai-chat/scripted"]),
        listed("openai", "env_openai", "environment", ["openai/scripted"]),
        listed("ollama", "env_ollama", "discovered", ["ollama/scripted"]),
        listed("demo", null, "built_in", ["demo/echo"]),
      ],
    });
    expect((await beckon.call("/models")).body).toEqual(body);
    expect(own.listRequests).toBe(1);

    const pages: unknown[] = [];
    let path = "/models?limit=1";
    for (let page = await beckon.call(path); ; page = await beckon.call(path)) {
      pages.push(...page.body.data);
      if (page.body.next === null) break;
      path = `/models?limit=1&after=${page.body.next}`;
    }
    expect(pages).toEqual(body.data);
    for (const { id } of [working, broken])
      await beckon.call(`/providers/${id}`, { method: "DELETE" });
  });

  test("answers in time when many providers hang", async () => {
    const port = await startHanging();
    const key = await insertStranger(beckon);
    const hanging = await beckon.another({
      settings: { BECKON_EGRESS_ALLOW: `127.0.0.1:${port}` },
    });
    onTestFinished(() => hanging.stop());
    const call = (path: string, body?: unknown) =>
      beckon.call(`${hanging.url}/api/public${path}`, {
        credential: key,
        ...(body === undefined ? {} : { body }),
      });
    const base_url = `http://127.0.0.1:${port}/v1`;
    for (let count = 0; count < 25; count++)
      await call("/providers", { name: `p${count}`, kind: "openai-compatible", base_url });
    const errors = async () => {
      const { status, body } = await call("/models");
      expect([status, body.data.at(-1).models]).toEqual([200, ["demo/echo"]]);
      return body.data.slice(0, 25).map(({ error }: { error: string | null }) => error);
    };
    const late = "It did not answer within 2 seconds.";
    const first = await errors();
    expect(first.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => late));
    for (const error of first.slice(20))
      expect(error).toMatch(/^Its models were not requested.*Try again\.$/);
    expect(await errors()).toEqual(Array.from({ length: 25 }, () => late));
  });

  test("needs providers:read, which no key has that is limited to agents", async () => {
    const { id } = await beckon.createAgent();
    const limited = await insertKey(beckon, { agentIds: [id] });
    expectError(await beckon.call("/models", { credential: limited }), 403, "forbidden");
    const other = await insertKey(beckon, { scopes: ["agents:read"] });
    expectError(
      await beckon.call("/models", { credential: other }),
      403,
      "forbidden",
      /providers:read/,
    );
    expectError(await beckon.call("/models?kind=x"), 400, "bad_request", /kind/);
  });
});

test("Ollama is found at its own port without any setting", async ({ skip }) => {
  const real = await startModelServer({ host: "127.0.0.1", port: 11434 }).catch(() =>
    skip("Another program uses port 11434."),
  );
  onTestFinished(() => real.close());
  const other = await beckon.another({ discovery });
  onTestFinished(() => other.stop());
  expect(other.providers).toContainEqual({
    name: "ollama",
    origin: "discovered",
    model: "ollama/scripted",
  });
});

/** Starts a server that accepts connections and never responds. @returns Its port. */
async function startHanging(): Promise<number> {
  const server = createServer((socket) => socket.on("error", () => undefined));
  await new Promise<void>((resolve) => server.listen(free, resolve));
  server.unref();
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

function operators(name: string, kind: string, origin: string, base_url: string) {
  const unknown = { api_key_last4: null, free: false, created_at: null, updated_at: null };
  return { id: `env_${name}`, name, kind, origin, base_url, ...unknown };
}

function listed(
  provider: string,
  provider_id: string | null,
  origin: string,
  models: readonly string[],
) {
  return { provider, provider_id, origin, models, error: null };
}
