import { afterAll, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { startModelServer } from "../../test/model-server.ts";
import { rawRequest } from "../../test/raw-request.ts";

const beckon = await startTestBeckon();
const models = await startModelServer();
afterAll(() => models.close());
const { name: provider } = await beckon.createProvider(models.url);
const agent = await beckon.createAgent({ model: `${provider}/echo` });
// With a prefix, a POST with an empty body starts a run. So if one of the requests below were
// handled like a POST, it would start a run even without a body.
const trigger = await beckon.createTrigger(agent.id, { prompt_prefix: "Read this:" });
const invokeUrl = `${beckon.url}/api/public/agents/${agent.id}/invoke`;

/**
 * Requests that chat programs, mail scanners and browsers send for a URL that was pasted or typed.
 */
const previews: readonly [name: string, method: string, headers: Record<string, string>][] = [
  [
    "Slack",
    "GET",
    {
      "user-agent": "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
      range: "bytes=0-32768",
      accept: "*/*",
    },
  ],
  [
    "Discord",
    "GET",
    { "user-agent": "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)" },
  ],
  ["Facebook", "GET", { "user-agent": "facebookexternalhit/1.1", range: "bytes=0-524287" }],
  ["WhatsApp", "GET", { "user-agent": "WhatsApp/2.23.20.0", accept: "*/*" }],
  ["a mail scanner", "HEAD", { "user-agent": "BarracudaCentral/1.0" }],
  [
    "a browser's address bar",
    "GET",
    {
      accept: "text/html,application/xhtml+xml",
      "sec-fetch-mode": "navigate",
      "sec-fetch-dest": "document",
    },
  ],
  ["a browser's prefetch", "GET", { "sec-purpose": "prefetch;prerender", purpose: "prefetch" }],
  [
    "a crawler",
    "HEAD",
    { "user-agent": "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)" },
  ],
];

async function runs(): Promise<number> {
  return (await beckon.call(`/agents/${agent.id}/runs`)).body.data.length;
}

test.each(previews)("a link preview by %s starts no run", async (_name, method, headers) => {
  const answer = await beckon.call(trigger.url, { method, headers, credential: null });
  if (method === "HEAD") expect([answer.status, answer.body]).toEqual([405, undefined]);
  else expectError(answer, 405, "method_not_allowed", /POST/);
  expect(answer.headers.get("allow")).toBe("POST, OPTIONS");
  expect(await runs()).toBe(0);
});

test.each(["GET", "HEAD", "PUT", "DELETE", "PATCH", "TRACE", "QUERY", "PROPFIND"])(
  "%s with a body starts no run, at either entry point",
  async (method) => {
    const pieces = ['{"input":"Hello"}'];
    const headers = ["content-type", "application/json", "x-api-key", agent.token];
    for (const url of [trigger.url, invokeUrl]) {
      const { status } = await rawRequest(url, {
        method,
        headers: method === "TRACE" ? headers : [...headers, "content-length", "17"],
        pieces: method === "TRACE" ? [] : pieces,
      });
      expect(status).toBe(405);
    }
    expect(await runs()).toBe(0);
  },
);

test("none of these requests has called the model", () => {
  expect(models.requests).toEqual([]);
});
