import { afterAll, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { addPerson, password } from "../../test/people.ts";
import { startProxy } from "../../test/proxy.ts";

/**
 * `behind` is a process that connects to the database through a proxy, which can close connections.
 * `beckon` connects directly and creates the accounts.
 */

const beckon = await startTestBeckon();
const proxy = await startProxy(beckon.db.url);
const behind = await beckon.another({
  settings: {
    DATABASE_URL: proxy.urlFor(beckon.db.url),
    BECKON_ROLE: "api",
    BECKON_DRAIN_SECONDS: "0",
  },
});
afterAll(async () => {
  proxy.weather = { type: "fair" };
  await behind.stop();
  await proxy.close();
});

test("while the database is unreachable, sessions and passwords fail with 503, not 401", async () => {
  const person = await addPerson(beckon, { role: "editor" });
  const there = (path: string) => `${behind.url}/api/public${path}`;
  expect((await person.call(there("/me"))).status).toBe(200);
  proxy.weather = { type: "closed" };
  proxy.drop();
  for (const path of ["/me", "/agents", "/sessions"])
    expectError(await person.call(there(path)), 503, "unavailable");
  const body = { email: person.email, password };
  const response = await beckon.call(there("/sign-in"), { credential: null, body });
  expectError(response, 503, "unavailable");
  expect(response.headers.getSetCookie()).toEqual([]);
  expectError(await person.call(there("/sign-out"), { method: "POST" }), 503, "unavailable");
  proxy.weather = { type: "fair" };
  expect((await person.call(there("/me"))).status).toBe(200);
});
