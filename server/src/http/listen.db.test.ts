import { expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";

const beckon = await startTestBeckon({ HOST: "0.0.0.0" });

async function urlAt(host: string): Promise<string> {
  const another = await beckon.another({ settings: { HOST: host } });
  onTestFinished(() => another.stop());
  return another.url;
}

test("a server that listens on all addresses uses one in its links that can be opened", async () => {
  expect(beckon.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(await urlAt("::")).toMatch(/^http:\/\/\[::1\]:\d+$/);
  const { url } = await beckon.createTrigger((await beckon.createAgent()).id);
  expect(url.startsWith(`${beckon.url}/`)).toBe(true);
  expect(
    (await fetch(url, { method: "POST", body: "Hello", headers: { "content-type": "text/plain" } }))
      .status,
  ).toBe(200);
});

test("a server that listens on one address uses that one, as configured", async () => {
  expect(await urlAt("localhost")).toMatch(/^http:\/\/localhost:\d+$/);
  expect(await urlAt("::1")).toMatch(/^http:\/\/\[::1\]:\d+$/);
});
