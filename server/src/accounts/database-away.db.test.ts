import { afterAll, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { addPerson, password } from "../../test/people.ts";
import { startProxy } from "../../test/proxy.ts";

/** A process whose database is cut off, beside one that makes the people. */

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

test("while the database is away nobody is told that their session or password is wrong", async () => {
  const person = await addPerson(beckon, { role: "editor" });
  const there = (path: string) => `${behind.url}/api/public${path}`;
  expect((await person.call(there("/me"))).status).toBe(200);
  proxy.weather = { type: "closed" };
  proxy.drop();
  for (const path of ["/me", "/agents", "/sessions"])
    expectError(await person.call(there(path)), 503, "unavailable");
  const body = { email: person.email, password };
  const answer = await beckon.call(there("/sign-in"), { credential: null, body });
  expectError(answer, 503, "unavailable");
  expect(answer.headers.getSetCookie()).toEqual([]);
  expectError(await person.call(there("/sign-out"), { method: "POST" }), 503, "unavailable");
  proxy.weather = { type: "fair" };
  expect((await person.call(there("/me"))).status).toBe(200);
});
