import { expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { rawExchange } from "../../test/raw-exchange.ts";

const beckon = await startTestBeckon();

test.each(["/healthz", "/readyz"])(
  "%s needs no credential, and reveals only that all is well",
  async (path) => {
    const { status, body } = await beckon.call(beckon.url + path, { credential: null });
    expect([status, body]).toEqual([200, { ok: true }]);
  },
);

test.each(["/healthz", "/readyz"])("%s ignores an invalid credential", async (path) => {
  expect((await beckon.call(beckon.url + path, { credential: "junk" })).status).toBe(200);
});

test.each(["/healthz", "/readyz"])(
  "%s responds to HTTP/1.0 without Host, which HAProxy's checks send",
  async (path) => {
    const { answers } = await rawExchange(beckon.url, Buffer.from(`GET ${path} HTTP/1.0\r\n\r\n`));
    expect(answers.map(({ status, text }) => [status, text])).toEqual([[200, '{"ok":true}']]);
  },
);

test("a process whose database lacks our schema is alive but not ready", async () => {
  const { engine } = beckon.db.database;
  await engine.query("alter table installation rename to installation_away");
  try {
    const [alive, ready] = await Promise.all(
      ["/healthz", "/readyz"].map((path) => beckon.call(beckon.url + path, { credential: null })),
    );
    expect([alive?.status, ready?.status, ready?.body]).toEqual([200, 503, { ok: false }]);
  } finally {
    await engine.query("alter table installation_away rename to installation");
  }
});
