import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { succeeded } from "../../../test/check-answer.ts";
import { startModelServer } from "../../../test/model-server.ts";
import { addPerson, cookieIn, password, visitor } from "../../../test/people.ts";
import { defaultWorkspaceId } from "../../workspaces/index.ts";
import { accountRoutes } from "../api/accounts.ts";
import { managedRoutes } from "../api/index.ts";
import { buildDocument } from "./build-document.ts";
import { resources } from "./resources.ts";

const beckon = await startTestBeckon();
const document = buildDocument();

test("docs/openapi.json is what the routes say", async () => {
  const written = await readFile(new URL("../../../../docs/openapi.json", import.meta.url), "utf8");
  expect(JSON.stringify(document, null, 2), "run: node script/openapi.ts").toBe(written.trimEnd());
});

test("the document is served to everybody", async () => {
  const { status, headers, body } = await beckon.call(`${beckon.url}/openapi.json`, {
    credential: null,
  });
  expect([status, headers.get("content-type")]).toEqual([200, "application/json"]);
  expect(body).toEqual(JSON.parse(JSON.stringify(document)));
});

describe("the page", () => {
  const read = async () =>
    (await beckon.call(`${beckon.url}/docs`, { credential: null })) as {
      headers: Headers;
      body: string;
    };

  test("is served to everybody, and names every operation", async () => {
    const { headers, body } = await read();
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    for (const operations of Object.values(document.paths)) {
      for (const { operationId, summary } of Object.values(operations) as {
        operationId: string;
        summary: string;
      }[]) {
        expect(body).toContain(`id="${operationId}"`);
        expect(body).toContain(`href="#${operationId}"`);
        expect(summary).toMatch(/^[A-Z]/);
      }
    }
  });

  test("needs nothing from elsewhere, and is allowed nothing", async () => {
    const { headers, body } = await read();
    expect(headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]{44}';/,
    );
    expect(body).not.toMatch(/<script|<img|<link|\bsrc=|@import|url\(|\son\w+=/);
    expect(
      [...body.matchAll(/href="([^"]*)"/g)]
        .map(([, target = ""]) => target)
        .filter((target) => !target.startsWith("#")),
    ).toEqual(["/openapi.json"]);
  });
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
  const names = Object.values(document.paths).flatMap((operations) =>
    Object.values(operations).map(
      (operation) => (operation as { operationId: string }).operationId,
    ),
  );
  expect(new Set(names).size).toBe(names.length);
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
  const provider = await beckon.createProvider((await startModelServer()).url);
  const agent = await beckon.createAgent();
  const trigger = await beckon.createTrigger(agent.id);
  const { body: invoked } = await beckon.invoke(agent, "Hello");
  const key = (await beckon.call("/keys", { body: { name: "Test", preset: "observer" } })).body
    .data;

  const ids: Record<string, string> = {
    ":agent_id": agent.id,
    ":trigger_id": trigger.id,
    ":version": "1",
    ":run_id": invoked.run_id,
    ":key_id": key.id,
    ":provider_id": provider.id,
    ":workspace_id": defaultWorkspaceId,
    ":user_id": (await addPerson(beckon, { role: "viewer" })).id,
    ":invitation_id": (
      await beckon.call("/invitations", { body: { email: "grace@example.com", role: "viewer" } })
    ).body.data.id,
  };
  const bodies: Record<string, unknown> = {
    createProvider: { name: "other", kind: "openai-compatible", base_url: "http://127.0.0.1:9/v1" },
    updateProvider: { api_key: "sk-test" },
    importHttpTool: {
      document: {
        openapi: "3.1.0",
        info: { title: "Shop", version: "1" },
        servers: [{ url: "https://api.example.com" }],
        paths: {
          "/orders": { get: { operationId: "getOrders", summary: "Lists orders.", responses: {} } },
        },
      },
    },
  };
  // What is deleted goes last, what hangs on it first.
  const order = [
    "deleteRun",
    "deleteTrigger",
    "revokeAgentToken",
    "deleteAgent",
    "deleteKey",
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
  await call("/invitations/accept", { token: invited.token, name: "New", password });
  await ada.call("/password", {
    body: { current_password: password, new_password: `${password}!` },
  });
  await (await signedIn(`${password}!`)).call("/sign-out", { method: "POST" });
  const { data: link } = (await ada.call(`/members/${me.id}/reset-link`, { method: "POST" })).body;
  await call("/password/reset", { token: link.token, new_password: password });
  expect(accountRoutes.map(({ doc }) => doc.id).filter((id) => !succeeded.has(id))).toEqual([]);
});
