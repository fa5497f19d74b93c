import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { insertStranger } from "../../test/workspace-key.ts";

/** Imports malicious documents: each is rejected with a clear error and adds no agent. */

const beckon = await startTestBeckon();
const credential = await insertStranger(beckon);
const send = (body: unknown, type = "application/json") =>
  beckon.call("/agents/import", {
    body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
    credential,
    headers: { "content-type": type },
  });
const sendYaml = (text: string) => send(text, "application/yaml");
const agent = { name: "Test", model: "demo/echo" };
const tool = (header: unknown) => ({
  type: "http",
  name: "shop",
  allowed_hosts: ["api.example.com"],
  headers: { "x-key": header },
  operations: [
    { name: "read", description: "Reads", method: "GET", url: "https://api.example.com/" },
  ],
});

async function nothingMade(): Promise<void> {
  for (const list of ["/agents", "/agents?deleted=true", "/audit"]) {
    expect((await beckon.call(list, { credential })).body.data).toEqual([]);
  }
}

describe("a document", () => {
  test.each<[string, unknown, RegExp]>([
    ["without a version", { agents: [] }, /beckon must be 1, the only format version/],
    [
      "of a version to come",
      { beckon: 2, agents: [] },
      /beckon must be 1, the only format version/,
    ],
    ["without agents", { beckon: 1 }, /agents is missing/],
    ["of agents that are no list", { beckon: 1, agents: { a: agent } }, /agents must be a list/],
    ["that is a list", [agent], /the body must be a JSON object/],
    ["that is null", null, /the body must be a JSON object/],
    ["with an unknown field", { beckon: 1, agents: [], hooks: [] }, /unknown field hooks/],
    [
      "with an unknown field of an agent",
      { beckon: 1, agents: [agent, { ...agent, temperature: 1 }] },
      /unknown field agents\.1\.temperature/,
    ],
    [
      "with one further down",
      { beckon: 1, agents: [{ ...agent, limits: { steps: 1 } }] },
      /unknown field agents\.0\.limits\.steps/,
    ],
    [
      "with one of a trigger",
      { beckon: 1, agents: [{ ...agent, triggers: [{ name: "T", url: "x" }] }] },
      /unknown field agents\.0\.triggers\.0\.url/,
    ],
    [
      "with an id",
      { beckon: 1, agents: [{ ...agent, id: "agt_1" }] },
      /unknown field agents\.0\.id/,
    ],
    [
      "with a token",
      { beckon: 1, agents: [{ ...agent, token: "bka_1" }] },
      /unknown field agents\.0\.token/,
    ],
    [
      "with a token of a trigger",
      { beckon: 1, agents: [{ ...agent, triggers: [{ name: "T", token: "x" }] }] },
      /agents\.0\.triggers\.0\.token/,
    ],
    ["with a prototype", '{"beckon":1,"agents":[],"__proto__":{"a":1}}', /unknown field __proto__/],
    [
      "with a field __proto__ in an agent",
      '{"beckon":1,"agents":[{"name":"a","model":"demo/echo","__proto__":{}}]}',
      /unknown field agents\.0\.__proto__/,
    ],
    [
      "with a field __proto__ in metadata",
      '{"beckon":1,"agents":[{"name":"a","model":"demo/echo","metadata":{"a":{"__proto__":1}}}]}',
      /agents\.0\.metadata .*__proto__/,
    ],
    [
      "of wrong types",
      { beckon: "1", agents: [{ name: 5, model: [], paused: "no", triggers: {} }] },
      /beckon.*agents\.0\.name.*agents\.0\.model.*paused.*triggers/,
    ],
    [
      "with a pause reason for an agent that is not paused",
      { beckon: 1, agents: [{ ...agent, pause_reason: "x" }] },
      /agents\.0\.pause_reason must be null/,
    ],
    [
      "that refers to a stored secret",
      { beckon: 1, agents: [{ ...agent, tools: [tool({ secret_id: "sec_1" })] }] },
      /agents\.0\.tools\.0\.headers\.x-key must be a text, \{"secret": null\}/,
    ],
    [
      "with two tools of the same name",
      { beckon: 1, agents: [{ ...agent, tools: [tool("a"), tool("b")] }] },
      /agents\.0\.tools\.1\.name is taken/,
    ],
    [
      "with a filter that does not compile",
      {
        beckon: 1,
        agents: [
          {
            ...agent,
            triggers: [{ name: "First" }, { name: "Second", receiving: { filter: "payload." } }],
          },
        ],
      },
      /^agents\.0 \(Test\): triggers\.1 \(Second\): receiving\.filter/,
    ],
    [
      "of 10,000 agents",
      { beckon: 1, agents: Array.from({ length: 10_000 }, () => agent) },
      /agents must be at most 500 items/,
    ],
    [
      "of 1,001 triggers",
      {
        beckon: 1,
        agents: [{ ...agent, triggers: Array.from({ length: 1_001 }, () => ({ name: "T" })) }],
      },
      /agents must have at most 1,000 triggers in total/,
    ],
    [
      "whose last agent is invalid",
      { beckon: 1, agents: [agent, agent, { ...agent, name: " " }] },
      /agents\.2\.name must not be blank/,
    ],
    [
      "whose last agent has an unknown provider",
      { beckon: 1, agents: [agent, agent, { ...agent, model: "nowhere/x" }] },
      /agents\.2 \(Test\): .*nowhere/,
    ],
    [
      "with text that cannot be stored",
      { beckon: 1, agents: [{ ...agent, instructions: "\0" }] },
      /agents\.0\.instructions/,
    ],
    [
      "nested without end",
      `{"beckon":1,"agents":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
      /agents\.0 must be a JSON object/,
    ],
    [
      "with unlimited nesting in metadata",
      `{"beckon":1,"agents":[{"name":"a","model":"demo/echo","metadata":${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}}]}`,
      /agents\.0\.metadata must be at most 32 levels deep/,
    ],
  ])("%s is rejected", async (_what, body, why) => {
    expectError(await send(body), 400, "bad_request", why);
    await nothingMade();
  });
});

const billionLaughs = [
  'a: &a ["lol","lol","lol","lol","lol","lol","lol","lol","lol"]',
  ..."bcdefghi".split("").map((name, index) => {
    const alias = `*${"abcdefgh"[index]}`;
    return `${name}: &${name} [${Array.from({ length: 9 }, () => alias).join(",")}]`;
  }),
].join("\n");
const ofAgents = (members: string) =>
  `beckon: 1\nagents:\n- name: Test\n  model: demo/echo\n${members}`;

describe("a document in YAML", () => {
  test.each<[string, string, RegExp]>([
    ["of a billion laughs", billionLaughs, /too many aliases/],
    [
      "with a duplicate key",
      ofAgents("  name: Other\n"),
      /a duplicate key in an object at line 5, column 3/,
    ],
    [
      "with code",
      ofAgents("  instructions: !!js/function 'function () { return 1 }'\n"),
      /has a tag/,
    ],
    ["that reads a file", ofAgents("  instructions: !include /etc/passwd\n"), /has a tag/],
    ["that reads the environment", ofAgents("  instructions: !ENV HOME\n"), /has a tag/],
    [
      "with a prototype",
      ofAgents("  __proto__: {paused: true}\n"),
      /unknown field agents\.0\.__proto__/,
    ],
    [
      "with a merge",
      `base: &base {model: demo/echo}\n${ofAgents("  <<: *base\n")}`,
      /unknown field.*agents\.0\.<<|unknown field.*base/,
    ],
    ["of no value", ofAgents("  limits: {max_steps: .inf}\n"), /\.inf/],
    ["of two documents", `${ofAgents("")}---\n${ofAgents("")}`, /several documents/],
    ["that breaks off", 'beckon: 1\nagents: [{"name": ', /is not valid YAML at line 2/],
    ["that is none", "beckon: 1: 2", /is not valid YAML at line 1/],
    ["of words", "Hello", /the body must be a JSON object/],
    ["of nothing but a comment", "# nothing", /the body must be a JSON object/],
    [
      "whose strings YAML reads as other types",
      ofAgents("  description: 2026\n"),
      /agents\.0\.description must be a string/,
    ],
    [
      "that takes long to read",
      "? ".repeat(100_000),
      /takes too much time|nested too deeply|is not valid YAML/,
    ],
  ])("%s is rejected", async (_what, text, why) => {
    expectError(await sendYaml(text), 400, "bad_request", why);
    await nothingMade();
  });

  test("that is not UTF-8 or contains NUL is rejected", async () => {
    for (const bytes of [Buffer.from([0xff, 0xfe]), Buffer.from("beckon: 1\0")]) {
      expectError(await send(bytes, "application/yaml"), 400, "bad_request", /UTF-8|NUL/);
    }
  });

  test("with an empty field for parameters gets an error with the path", async () => {
    const text = `beckon: 1
agents:
- name: Test
  model: demo/echo
  tools:
  - type: http
    name: shop
    allowed_hosts: [api.example.com]
    operations:
    - name: read
      description: Reads
      method: GET
      url: https://api.example.com/{id}
      parameters:
`;
    expectError(
      await sendYaml(text),
      400,
      "bad_request",
      /^agents\.0\.tools\.0\.operations\.0\.parameters must be a JSON Schema, an object/,
    );
  });

  test("above 1 MiB is rejected without being parsed", async () => {
    expectError(await sendYaml(`# ${"x".repeat(1_048_576)}`), 413, "too_large");
  });

  test("is not parsed if the caller is not allowed to import", async () => {
    const response = await beckon.call("/agents/import", {
      body: "a: 'x",
      credential: null,
      headers: { "content-type": "application/yaml" },
    });
    expectError(response, 401, "unauthorized");
  });
});

test.each(["text/plain", "application/xml", "", "application/yaml+zip", "multipart/form-data"])(
  "a body of the type %j is rejected",
  async (type) => {
    expectError(
      await send('{"beckon":1,"agents":[]}', type),
      415,
      "unsupported_type",
      /application\/json or application\/yaml/,
    );
  },
);

test.each([
  "application/yaml",
  "application/x-yaml",
  "text/yaml",
  "Application/YAML; charset=utf-8",
  "text/x-yaml",
])("a body of the type %s is parsed as YAML", async (type) => {
  expect((await send("beckon: 1\nagents: []", type)).status).toBe(200);
});

test("no other route accepts YAML", async () => {
  const response = await beckon.call("/agents", {
    body: "name: Test\nmodel: demo/echo\n",
    headers: { "content-type": "application/yaml" },
  });
  expectError(response, 415, "unsupported_type", /application\/json\.$/);
});

test("500 agents with a trigger each are imported in their order", async () => {
  const stranger = await insertStranger(beckon);
  const names = Array.from({ length: 500 }, (_, index) => `Agent ${index}`);
  const body = {
    beckon: 1,
    agents: names.map((name) => ({ ...agent, name, triggers: [{ name: `T${name}` }] })),
  };
  const response = await beckon.call("/agents/import", { body, credential: stranger });
  expect(response.body.data.agents.map(({ name }: { name: string }) => name)).toEqual(names);
  const document = (await beckon.call("/agents/export", { credential: stranger })).body;
  expect(document.agents.map(({ name }: { name: string }) => name)).toEqual(names);
  expect(
    document.agents.map(({ triggers }: { triggers: { name: string }[] }) => triggers[0]?.name),
  ).toEqual(names.map((name) => `T${name}`));
});
