import { once } from "node:events";
import { request } from "node:http";
import { expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { addPerson } from "../../test/people.ts";
import { statesOf } from "../../test/runs-of.ts";

/**
 * Requests whose credential is revoked while their bodies arrive. A client can take a minute for
 * the last byte of a body.
 */

const beckon = await startTestBeckon();

/**
 * Sends all but the last byte of a request. The returned function sends this byte and returns the
 * status of the response.
 */
async function sendMost(
  method: string,
  path: string,
  body: object,
  headers: Record<string, string>,
): Promise<() => Promise<number | undefined>> {
  const text = JSON.stringify(body);
  const sent = request(`${beckon.url}/api/public${path}`, {
    method,
    headers: { "content-type": "application/json", "content-length": text.length, ...headers },
  });
  await new Promise((resolve) => sent.write(text.slice(0, -1), resolve));
  // When the server responds to this later request, it has checked the credential of the first one.
  expect((await beckon.call("/agents")).status).toBe(200);
  return async () => {
    sent.end(text.slice(-1));
    const [response] = await once(sent, "response");
    response.resume();
    return response.statusCode;
  };
}

test("a key that is revoked while a body arrives makes no other key", async () => {
  const { data } = (
    await beckon.call("/keys", { body: { name: "Stolen", scopes: ["keys:write"] } })
  ).body;
  const finish = await sendMost(
    "POST",
    "/keys",
    { name: "Made later", scopes: ["keys:write"] },
    { "x-api-key": data.key },
  );
  expect((await beckon.call(`/keys/${data.id}`, { method: "DELETE" })).status).toBe(204);
  expect(await finish()).toBe(401);
  const { rows } = await beckon.db.database.engine.query("select 1 from keys where name = $1", [
    "Made later",
  ]);
  expect(rows).toEqual([]);
});

test("a session that is revoked while a body arrives starts no run and changes no account", async () => {
  const agent = await beckon.createAgent();
  const person = await addPerson(beckon, { role: "editor" });
  const headers = { cookie: person.cookie, origin: beckon.url };
  const invoke = await sendMost("POST", `/agents/${agent.id}/invoke`, { input: "Hello" }, headers);
  const rename = await sendMost("PATCH", "/me", { name: "Changed" }, headers);
  expect((await person.call("/sign-out", { method: "POST" })).status).toBe(204);
  expect([await invoke(), await rename()]).toEqual([401, 401]);
  expect(await statesOf(beckon, agent.id)).toEqual({});
  const { rows } = await beckon.db.database.engine.query("select name from users where id = $1", [
    person.id,
  ]);
  expect(rows).toEqual([{ name: "Test" }]);
});

test("a request with a valid session whose body arrives late succeeds", async () => {
  const agent = await beckon.createAgent();
  const person = await addPerson(beckon, { role: "editor" });
  const headers = { cookie: person.cookie, origin: beckon.url };
  const requests = [
    await sendMost("POST", `/agents/${agent.id}/invoke`, { input: "Hello" }, headers),
    await sendMost("PATCH", "/me", { name: "Changed" }, headers),
    await sendMost("PATCH", `/agents/${agent.id}`, { name: "Changed" }, headers),
  ];
  for (const finish of requests) expect(await finish()).toBe(200);
});
