import { readFile } from "node:fs/promises";
import { presetName } from "@beckon/contract";
import { expect, onTestFinished, test } from "vitest";
import { artifactOf, longInput } from "../../../test/artifact-of.ts";
import { startTestBeckon } from "../../../test/beckon.ts";
import { succeeded } from "../../../test/check-answer.ts";
import { eventually } from "../../../test/eventually.ts";
import { startModelServer } from "../../../test/model-server.ts";
import { addPerson, cookieIn, password, visitor } from "../../../test/people.ts";
import { defaultWorkspaceId } from "../../workspaces/index.ts";
import { accountRoutes } from "../api/accounts.ts";
import { managedRoutes } from "../api/index.ts";
import { buildDocument } from "./build-document.ts";
import type { JsonSchema } from "./json-schema.ts";
import { resources } from "./resources.ts";

// `succeeded` has the operations that tests have called. All test files of a process share it, so
// the operations that earlier files called are removed.
succeeded.clear();
const beckon = await startTestBeckon();
const document = buildDocument();
const operationIds = Object.values(document.paths).flatMap((operations) =>
  Object.values(operations).map((operation) => (operation as { operationId: string }).operationId),
);

test("docs/openapi.json is what the routes say", async () => {
  const written = await readFile(new URL("../../../../docs/openapi.json", import.meta.url), "utf8");
  expect(JSON.stringify(document, null, 2), "run: node script/openapi.ts").toBe(written.trimEnd());
});

test("the rotation of a key says that a repeat needs the same Idempotency-Key", () => {
  const { post } = document.paths["/api/public/keys/{key_id}/rotate"] as Record<
    string,
    { description: string }
  >;
  expect(post?.description).toContain("repeat the call with the same `Idempotency-Key`");
});

test("integers that do not fit 32 bits say so", () => {
  const narrow: string[] = [];
  const visit = (value: unknown, path: string) => {
    if (typeof value !== "object" || value === null) return;
    const { type, format, maximum = Number.POSITIVE_INFINITY } = value as Record<string, unknown>;
    if (type === "integer" && format === undefined && Number(maximum) > 2 ** 31 - 1)
      narrow.push(path);
    for (const [name, each] of Object.entries(value)) visit(each, `${path}/${name}`);
  };
  visit(document, "");
  expect(narrow).toEqual([]);
});

test("the document is served to everybody, with the public URL as its server", async () => {
  const { status, headers, body } = await beckon.call(`${beckon.url}/openapi.json`, {
    credential: null,
  });
  expect([status, headers.get("content-type")]).toEqual([200, "application/json"]);
  expect(body).toEqual(JSON.parse(JSON.stringify(buildDocument(beckon.url))));
  expect(body.servers).toEqual([{ url: beckon.url }]);
});

test("the document is imported as an HTTP tool, every operation of it", async () => {
  const { body: served } = await beckon.call(`${beckon.url}/openapi.json`);
  const ids = operationIds.filter((id) => id !== "preflightTrigger");
  for (let first = 0; first < ids.length; first += 60) {
    const operations = ids.slice(first, first + 60);
    const { status, body } = await beckon.call("/tools/http/import", {
      body: { document: served, operations },
    });
    expect(status).toBe(200);
    expect(body.data.tool.allowed_hosts).toEqual([new URL(beckon.url).host]);
    expect(body.data.tool.operations).toHaveLength(operations.length);
    expect(body.data.warnings.filter((each: string) => /is left out:/.test(each))).toEqual([]);
  }
});

test("what a request to a trigger can carry, and what it can get, is declared", () => {
  const { post: fire, options } = document.paths["/api/public/triggers/{token}"] as Record<
    string,
    unknown
  >;
  expect(fire).toMatchObject({
    parameters: expect.arrayContaining([{ $ref: "#/components/parameters/WebhookId" }]),
    requestBody: {
      content: { "application/x-www-form-urlencoded": expect.any(Object), "*/*": { schema: {} } },
    },
    responses: {
      200: { content: { "text/plain": { schema: { type: "string" } } } },
      401: { $ref: "#/components/responses/unauthorized" },
    },
  });
  expect(options).toMatchObject({
    responses: { 200: { headers: { "WebHook-Allowed-Origin": { schema: { type: "string" } } } } },
  });
  expect(sharedResponses.unauthorized).toHaveProperty(["headers", "WWW-Authenticate"]);
});

/** Returns the value with each default of its schema that it omits, also within its objects. */
function withDefaults(schema: JsonSchema, value: unknown): unknown {
  const forms = (schema.anyOf ?? [schema]) as readonly JsonSchema[];
  const properties = forms.find((form) => "properties" in form)?.properties as
    | Readonly<Record<string, JsonSchema>>
    | undefined;
  if (properties === undefined || typeof value !== "object" || value === null) return value;
  const given: Readonly<Record<string, unknown>> = { ...value };
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, field]) => {
      const filled = name in given ? given[name] : field.default;
      return filled === undefined ? [] : [[name, withDefaults(field, filled)]];
    }),
  );
}

test("a client that fills in the schema's defaults gets the settings of the preset that it names", async () => {
  const { post: create } = document.paths["/api/public/agents/{agent_id}/triggers"] as {
    readonly post: {
      readonly requestBody: { readonly content: Record<string, { readonly schema: JsonSchema }> };
    };
  };
  const { schema = {} } = create.requestBody.content["application/json"] ?? {};
  const agent = await beckon.createAgent();
  for (const preset of presetName.options) {
    const body = { name: "Push", receiving: { preset } };
    const [plain, filled] = await Promise.all(
      [body, withDefaults(schema, body)].map((each) =>
        beckon.call(`/agents/${agent.id}/triggers`, { body: each }),
      ),
    );
    expect([preset, filled?.status]).toEqual([preset, 201]);
    expect(filled?.body.data.receiving).toEqual(plain?.body.data.receiving);
  }
});

test("a client that fills in the defaults of query parameters can read the streams", async () => {
  const agent = await beckon.createAgent();
  const { body: invoked } = await beckon.invoke(agent, "Hello");
  const streaming = managedRoutes.filter(({ doc }) => doc.stream !== undefined);
  expect(streaming.map(({ doc }) => doc.id)).toEqual(["listRunEvents", "listEvents"]);
  for (const { path } of streaming) {
    const declared = document.paths[`/api/public${path.replace(":run_id", "{run_id}")}`] as {
      readonly get: { readonly parameters: readonly { name: string; schema?: JsonSchema }[] };
    };
    const url = new URL(`/api/public${path.replace(":run_id", invoked.run_id)}`, beckon.url);
    for (const { name, schema } of declared.get.parameters)
      if (schema?.default !== undefined) url.searchParams.set(name, String(schema.default));
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const { status } = await fetch(url, {
      headers: { accept: "text/event-stream", "x-api-key": beckon.key },
      signal: stop.signal,
    });
    expect([path, status]).toEqual([path, 200]);
  }
});

test("an invitation is accepted without a credential or with a session", () => {
  const { post: accept } = document.paths["/api/public/invitations/accept"] as Record<
    string,
    object
  >;
  expect(accept).toMatchObject({ security: [{}, { session: [] }] });
});

test.each([
  ["http://127.0.0.1:3000", "beckon.session_token"],
  ["https://beckon.example.com", "__Host-beckon.session_token"],
])("at %s the session is the cookie %s", (publicUrl, name) => {
  expect(buildDocument(publicUrl).components.securitySchemes.session.name).toBe(name);
});

interface DeclaredError {
  readonly description: string;
  readonly content: Readonly<Record<string, { readonly schema: unknown }>>;
}
const sharedResponses: Readonly<Record<string, object>> = document.components.responses;

interface DeclaredOperation {
  readonly operationId: string;
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description?: string;
        readonly headers?: Readonly<Record<string, unknown>>;
        readonly $ref?: string;
      }
    >
  >;
}
const operations = Object.values(document.paths).flatMap(
  (each) => Object.values(each) as readonly DeclaredOperation[],
);

test("every operation of the API declares the errors that any request can get", () => {
  const { description, content } = sharedResponses.Error as DeclaredError;
  for (const status of ["405", "408", "431"]) expect(description).toContain(status);
  expect(content["application/json"]?.schema).toEqual({ $ref: "#/components/schemas/Error" });
  const undeclared = operations.flatMap(({ operationId, responses }) =>
    responses.default?.$ref === "#/components/responses/Error" ? [] : [operationId],
  );
  // The preflight, probes and pages declare no errors. A probe's 503 has a body of its own.
  expect(undeclared).toEqual([
    "preflightTrigger",
    "livenessProbe",
    "readinessProbe",
    "getOpenapi",
    "getDocs",
    "getDocsPage",
  ]);
});

test("the errors of a spent limit say that only stored runs have a run_id", () => {
  for (const code of ["plan_exhausted", "ceiling_reached"]) {
    const meaning = new RegExp(
      `.${code}.: [^;]*; the response has run_id unless a limit .* 60 starts`,
    );
    const missing = operations.flatMap(({ operationId, responses }) => {
      const { description = "" } = responses[500] ?? {};
      return description.includes(code) && !meaning.test(description) ? [operationId] : [];
    });
    expect(missing).toEqual([]);
  }
});

test("every response declares the request id", () => {
  for (const { operationId, responses } of operations) {
    for (const [status, { headers, $ref }] of Object.entries(responses)) {
      if ($ref !== undefined) continue;
      expect([operationId, status, Object.keys(headers ?? {})]).toEqual([
        operationId,
        status,
        expect.arrayContaining(["beckon-request-id"]),
      ]);
    }
  }
  for (const shared of Object.values(sharedResponses))
    expect(shared).toHaveProperty("headers.beckon-request-id");
});

test("every reference in the document leads somewhere in it", () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
    ([, path = ""]) => path,
  );
  expect(references.length).toBeGreaterThan(0);
  for (const path of new Set(references)) {
    const found = path
      .split("/")
      .reduce<unknown>(
        (value, name) => (value as Record<string, unknown> | undefined)?.[name],
        document,
      );
    expect(found, path).toBeTypeOf("object");
  }
});

test("every operation has a name of its own", () => {
  expect(new Set(operationIds).size).toBe(operationIds.length);
});

test.each(resources)("the example of $name is one", ({ schema, example }) => {
  expect(schema.parse(example)).toEqual(example);
});

const described = [...managedRoutes, ...accountRoutes];

test.each(
  described.flatMap(({ method, path, doc }) =>
    doc.example === undefined ? [] : [[method, path, doc] as const],
  ),
)("the example for %s %s is taken", (_method, _path, doc) => {
  expect(doc.body?.safeParse(doc.example).error).toBeUndefined();
});

test.each(described.filter(({ doc }) => doc.body !== undefined))(
  "$method $path declares its body's example or that it may be empty",
  ({ doc }) => {
    expect(doc.example !== undefined || doc.bodyOptional === true).toBe(true);
  },
);

test("every managed route answers as it declares", async () => {
  const model = await startModelServer();
  onTestFinished(() => model.close());
  const provider = await beckon.createProvider(model.url);
  const agent = await beckon.createAgent();
  const trigger = await beckon.createTrigger(agent.id, { receiving: {} });
  await beckon.call(trigger.url, { credential: null, body: "Hello" });
  const received = await beckon.call(`/agents/${agent.id}/triggers/${trigger.id}/requests`);
  const { body: invoked } = await beckon.invoke(agent, longInput);
  const key = (await beckon.call("/keys", { body: { name: "Test", preset: "observer" } })).body
    .data;

  const ids: Record<string, string> = {
    ":agent_id": agent.id,
    ":trigger_id": trigger.id,
    ":request_id": received.body.data[0].id,
    ":version": "1",
    ":run_id": invoked.run_id,
    ":artifact_id": await artifactOf(beckon, invoked.run_id),
    ":key_id": key.id,
    ":provider_id": provider.id,
    ":price_id": (
      await beckon.call("/prices", {
        body: {
          model: `${provider.name}/large`,
          input_micros_per_million: 1,
          output_micros_per_million: 1,
        },
      })
    ).body.data.id,
    ":scope": "agent",
    ":scope_id": agent.id,
    ":plan_id": (await beckon.call("/plans", { body: { name: "small" } })).body.data.id,
    ":workspace_id": defaultWorkspaceId,
    ":target_workspace_id": defaultWorkspaceId,
    ":user_id": (await addPerson(beckon, { role: "viewer" })).id,
    ":invitation_id": (
      await beckon.call("/invitations", { body: { email: "grace@example.com", role: "viewer" } })
    ).body.data.id,
  };
  const { data: subscription } = (
    await beckon.call("/subscriptions", {
      body: { url: "http://127.0.0.1:9/events", event_types: ["run.finished"] },
    })
  ).body;
  const { data: delivery } = (
    await beckon.call(`/subscriptions/${subscription.id}/test`, { method: "POST" })
  ).body;
  await beckon.call(`/agents/${agent.id}/pause`, { method: "POST" });
  await beckon.call(`/agents/${agent.id}/resume`, { method: "POST" });
  const { data: event } = await eventually("the event of the pause", async () => {
    const { body } = await beckon.call("/events?kind=agent.paused");
    return body.data.length === 0 ? undefined : { data: body.data[0] };
  });
  Object.assign(ids, {
    ":seq": "1",
    ":event_id": event.id,
    ":subscription_id": subscription.id,
    ":delivery_id": delivery.id,
  });
  await beckon.call(`/limits/agent/${agent.id}`, {
    method: "PUT",
    body: { limit_micros: 5_000_000 },
  });
  const bodies: Record<string, unknown> = {
    // The example of `updateTrigger` disables the trigger. `testTrigger` would then fail.
    updateTrigger: { name: "Other" },
    createProvider: { name: "other", kind: "openai-compatible", base_url: "http://127.0.0.1:9/v1" },
    updateProvider: { api_key: "sk-test" },
    createPrice: {
      model: `${provider.name}/small`,
      input_micros_per_million: 1,
      output_micros_per_million: 1,
    },
  };
  // These routes are called last, because they delete resources that other routes need. A resource
  // is deleted before the resource that it belongs to.
  const order = [
    "deleteSubscription",
    "deleteRun",
    "deleteTriggerRequest",
    "deleteLimit",
    "deleteTrigger",
    "revokeAgentToken",
    "deleteAgent",
    "deleteKey",
    "deletePrice",
    "deleteProvider",
    "deleteInvitation",
    "removeMember",
    "restoreAgent",
  ];
  const ordered = [...managedRoutes].sort(
    (one, other) => order.indexOf(one.doc.id) - order.indexOf(other.doc.id),
  );
  for (const { method, path, doc } of ordered) {
    const body =
      method === "GET" || method === "DELETE" ? undefined : (bodies[doc.id] ?? doc.example ?? {});
    const { status, body: answer } = await beckon.call(
      path.replaceAll(/:\w+/g, (name) => ids[name] ?? name),
      { method, body },
    );
    expect([doc.id, status < 300 || answer]).toEqual([doc.id, true]);
  }
  expect(managedRoutes.map(({ doc }) => doc.id).filter((id) => !succeeded.has(id))).toEqual([]);
});

test("every route about accounts answers as it declares", async () => {
  const call = (path: string, body?: unknown) => beckon.call(path, { credential: null, body });
  const another = await beckon.another({ setup: true });
  await call("/setup/check", { token: another.setupToken });
  await call("/setup", {
    token: another.setupToken,
    name: "Ada",
    email: "ada@example.com",
    password,
  });
  await another.stop();
  const signedIn = async (given = password) => {
    const { headers } = await call("/sign-in", { email: "ada@example.com", password: given });
    return visitor(beckon, cookieIn(headers));
  };
  const [first, second, ada] = [await signedIn(), await signedIn(), await signedIn()];
  const { body: sessions } = await ada.call("/sessions");
  await ada.call(`/sessions/${sessions.data.at(-1).id}`, { method: "DELETE" });
  await ada.call("/sessions", { method: "DELETE" });
  for (const ended of [first, second]) expect((await ended.call("/me")).status).toBe(401);
  const { data: me } = (await ada.call("/me")).body;
  await ada.call("/me", { method: "PATCH", body: { name: "Ada Lovelace" } });
  const { data: invited } = (
    await ada.call("/invitations", { body: { email: "new@example.com", role: "viewer" } })
  ).body;
  await call("/invitations/check", { token: invited.token });
  await call("/invitations/accept", { token: invited.token, name: "New", password });
  await ada.call("/password", {
    body: { current_password: password, new_password: `${password}!` },
  });
  await (await signedIn(`${password}!`)).call("/sign-out", { method: "POST" });
  const { data: link } = (await beckon.call(`/members/${me.id}/reset-link`, { method: "POST" }))
    .body;
  await call("/password/reset/check", { token: link.token });
  await call("/password/reset", { token: link.token, new_password: password });
  expect(accountRoutes.map(({ doc }) => doc.id).filter((id) => !succeeded.has(id))).toEqual([]);
});
