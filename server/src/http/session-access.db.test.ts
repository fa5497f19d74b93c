import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { addPerson, type Person, visitor } from "../../test/people.ts";
import { defaultWorkspaceId } from "../workspaces/index.ts";

/** What a session can access, and in which workspace. */

const beckon = await startTestBeckon();
const agent = await beckon.createAgent();
const trigger = await beckon.createTrigger(agent.id);
const { id: secondId, key: secondKey } = (
  await beckon.call("/workspaces", { body: { name: "Second" } })
).body.data;
const { data: theirs } = (
  await beckon.call("/agents", {
    credential: secondKey,
    body: { name: "Theirs", model: "demo/echo" },
  })
).body;

/** Creates a person who is an editor in the first workspace and a viewer in the second. */
async function memberOfTwo(): Promise<Person> {
  const person = await addPerson(beckon, { role: "editor" });
  await beckon.db.database.engine.query(
    "insert into members (user_id, workspace_id, role) values ($1, $2, 'viewer')",
    [person.id, secondId],
  );
  return person;
}
const at = (workspace: string) => ({ headers: { "beckon-workspace": workspace } });

describe("a member of one workspace", () => {
  test("can name it, but need not", async () => {
    const person = await addPerson(beckon, { role: "viewer" });
    for (const options of [{}, at(defaultWorkspaceId)])
      expect((await person.call("/agents", options)).status).toBe(200);
    expect(
      (await person.call(`/agents?workspace=${defaultWorkspaceId}&limit=1`)).body.data,
    ).toHaveLength(1);
  });

  test("gets not_found for any other workspace, existing or not", async () => {
    const person = await addPerson(beckon, { role: "owner" });
    const answers = [
      await person.call("/agents", at(secondId)),
      await person.call("/agents", at("wsp_none")),
      await person.call("/agents?workspace=*"),
    ];
    for (const answer of answers) expectError(answer, 404, "not_found");
    expect(answers[0]?.body).toEqual(answers[1]?.body);
    expectError(
      await person.call("/agents", { body: { name: "x", model: "demo/echo" }, ...at(secondId) }),
      404,
      "not_found",
    );
  });
});

describe("a member of two workspaces", () => {
  test("names one, in the header or, for GET, in the query", async () => {
    const person = await memberOfTwo();
    const names = async (path: string, options = {}) =>
      (await person.call(path, options)).body.data.map(({ id }: { id: string }) => id);
    expectError(await person.call("/agents"), 400, "bad_request", /beckon-workspace/);
    expect(await names("/agents", at(secondId))).toEqual([theirs.id]);
    expect(await names(`/agents?workspace=${secondId}`)).toEqual([theirs.id]);
    const body = { name: "Test", model: "demo/echo" };
    expectError(
      await person.call(`/agents?workspace=${defaultWorkspaceId}`, { body }),
      400,
      "bad_request",
      /beckon-workspace/,
    );
    expect((await person.call("/agents", { body, ...at(defaultWorkspaceId) })).status).toBe(201);
  });

  test("has in each the role that they have there", async () => {
    const person = await memberOfTwo();
    const body = { description: "x" };
    expectError(
      await person.call(`/agents/${theirs.id}`, { method: "PATCH", body, ...at(secondId) }),
      403,
      "forbidden",
      /viewer/,
    );
    expectError(
      await person.call(`/agents/${theirs.id}`, {
        method: "PATCH",
        body,
        ...at(defaultWorkspaceId),
      }),
      404,
      "not_found",
    );
    expect(
      (
        await person.call(`/agents/${agent.id}`, {
          method: "PATCH",
          body,
          ...at(defaultWorkspaceId),
        })
      ).status,
    ).toBe(200);
  });

  test("lists them without naming one", async () => {
    const { body } = await (await memberOfTwo()).call("/workspaces");
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([secondId, defaultWorkspaceId]);
  });

  test("reads each by its path", async () => {
    const person = await memberOfTwo();
    for (const id of [secondId, defaultWorkspaceId])
      expect((await person.call(`/workspaces/${id}`)).body.data.id).toBe(id);
  });

  test("shares no Idempotency-Key between them, nor with another member", async () => {
    const [one, two] = [await memberOfTwo(), await memberOfTwo()];
    const make = (person: Person) =>
      person.call("/agents", {
        body: { name: "Test", model: "demo/echo" },
        headers: { "idempotency-key": "k", "beckon-workspace": defaultWorkspaceId },
      });
    const ids = [await make(one), await make(two), await make(one)].map(({ body }) => body.data.id);
    expect(ids[0]).not.toBe(ids[1]);
    expect(ids[2]).toBe(ids[0]);
  });
});

describe("invoke", () => {
  const invoke = (
    person: Pick<Person, "call">,
    id = agent.id,
    headers: Record<string, string> = {},
  ) => person.call(`/agents/${id}/invoke`, { body: { input: "Hello" }, headers });

  test("accepts a session, and the run records its user", async () => {
    const person = await addPerson(beckon, { role: "editor" });
    const { status, body } = await invoke(person);
    expect([status, body.output]).toEqual([200, "Hello"]);
    const { rows } = await beckon.db.database.engine.query(
      "select principal, workspace_id from run_inputs where run_id = $1",
      [body.run_id],
    );
    expect(rows).toEqual([{ principal: `user:${person.id}`, workspace_id: defaultWorkspaceId }]);
    expect((await person.call(`/runs/${body.run_id}`)).body.data.status).toBe("succeeded");
  });

  test("streams to a session", async () => {
    const person = await addPerson(beckon, { role: "editor" });
    const { status, body } = await invoke(person, agent.id, { accept: "text/event-stream" });
    expect(status).toBe(200);
    expect(body).toContain("event: run.finished");
  });

  test("rejects a role without agents:invoke, an agent of another workspace, and an expired session", async () => {
    expectError(
      await invoke(await addPerson(beckon, { role: "viewer" })),
      403,
      "forbidden",
      /agents:invoke/,
    );
    const person = await addPerson(beckon, { role: "editor" });
    expectError(await invoke(person, theirs.id), 404, "not_found");
    expectError(
      await invoke(person, theirs.id, { "beckon-workspace": secondId }),
      404,
      "not_found",
    );
    await person.call("/sign-out", { method: "POST" });
    expectError(await invoke(person), 401, "unauthorized");
  });

  test("requires the workspace in the header", async () => {
    const person = await memberOfTwo();
    expectError(await invoke(person), 400, "bad_request", /beckon-workspace/);
    expect(
      (await invoke(person, agent.id, { "beckon-workspace": defaultWorkspaceId })).status,
    ).toBe(200);
    expectError(
      await invoke(person, theirs.id, { "beckon-workspace": defaultWorkspaceId }),
      404,
      "not_found",
    );
  });

  test("applies pause, Idempotency-Key and queue as for any caller", async () => {
    const person = await addPerson(beckon, { role: "editor" });
    const paused = await beckon.createAgent();
    await beckon.call(`/agents/${paused.id}/pause`, { method: "POST" });
    expectError(await invoke(person, paused.id), 409, "agent_paused");
    const again = await Promise.all(
      [1, 2, 3].map(() => invoke(person, agent.id, { "idempotency-key": "session" })),
    );
    expect(new Set(again.map(({ body }) => body.run_id)).size).toBe(1);
  });
});

test("fire ignores sessions: its URL is the credential", async () => {
  const person = await addPerson(beckon, { role: "owner" });
  expectError(await person.call("/triggers/bkt_wrong", { body: "Hello" }), 401, "unauthorized");
  const fired = await beckon.call(trigger.url, {
    credential: null,
    body: "Hello",
    headers: { cookie: person.cookie, origin: "https://shop.example" },
  });
  expect(fired.status).toBe(200);
});

test("with a key `?workspace=` is an unknown parameter", async () => {
  expectError(await beckon.call(`/agents?workspace=${secondId}`), 400, "bad_request", /workspace/);
  const { body } = await beckon.call("/agents", { headers: { "beckon-workspace": secondId } });
  expect(body.data.map(({ id }: { id: string }) => id)).not.toContain(theirs.id);
});

test("with a session, `?workspace=` is accepted by a GET about the account, and by no other method", async () => {
  const person = await addPerson(beckon, { role: "viewer" });
  const query = `?workspace=${defaultWorkspaceId}`;
  expect((await person.call(`/me${query}`)).body.data).toMatchObject({ id: person.id });
  expect((await person.call(`/sessions${query}&limit=1`)).body.data).toHaveLength(1);
  const renamed = await person.call(`/me${query}`, { method: "PATCH", body: { name: "Ada" } });
  expectError(renamed, 400, "bad_request", /workspace/);
});

test("two session cookies, and a cookie that is not ours, are invalid", async () => {
  const person = await addPerson(beckon, { role: "viewer" });
  const [name, value] = person.cookie.split("=");
  expectError(await visitor(beckon, `${name}=x; ${name}=y`).call("/agents"), 401, "unauthorized");
  expectError(await visitor(beckon, `other=${value}`).call("/agents"), 401, "unauthorized");
});
