import { expect, test } from "vitest";
import { startTestBeckon } from "../../server/test/beckon.ts";
import { rawExchange } from "../../server/test/raw-exchange.ts";
import { inBrowser, openDashboard, themes, viewports } from "./dashboard.ts";

const beckon = await startTestBeckon();
const { url } = beckon;
const pages = ["/", "/w/wsp_1/agents/agt_1/settings", "/sign-in", "/setup", "/invite", "/reset"];

test.each(pages)("%s is the dashboard, never cached, with a policy of its own", async (path) => {
  const { status, headers } = await fetch(url + path);
  expect(status).toBe(200);
  const policy = headers.get("content-security-policy") ?? "";
  expect(policy.replace(/'nonce-[\w+/]{22}=='/, "'nonce'").split("; ")).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'nonce'",
    "connect-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types beckon",
  ]);
  expect(Object.fromEntries(headers)).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
  });
  const head = await fetch(url + path, { method: "HEAD" });
  expect([head.status, await head.text(), head.headers.get("cache-control")]).toEqual([
    200,
    "",
    "no-store",
  ]);
});

test("the page has no inline script, style or data, and all its files are there", async () => {
  const page = await (await fetch(url)).text();
  expect(page).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|data:|__[A-Z]/);
  const files = [...page.matchAll(/(?:src|href)="(\/[^"]*\.\w+)"/g)].map(([, path = ""]) => path);
  expect(files).toEqual(expect.arrayContaining(["/favicon.svg", "/theme.js"]));
  for (const path of files) expect([path, (await fetch(url + path)).status]).toEqual([path, 200]);
});

test("the page is marked as not to be translated, because a translation makes it crash", async () => {
  const page = await (await fetch(url)).text();
  expect(page).toMatch(/<html lang="en" translate="no">/);
  expect(page).toMatch(/<meta name="google" content="notranslate"/);
});

test("assets are kept forever and compressed as the client accepts", async () => {
  const page = await (await fetch(url)).text();
  const assets = [...page.matchAll(/"(\/assets\/[^"]+\.(?:js|css))"/g)].map(
    ([, path = ""]) => path,
  );
  expect(assets.length).toBeGreaterThan(1);
  for (const path of assets) {
    for (const [accepted, encoding] of [
      ["gzip, deflate, br", "br"],
      ["gzip, deflate", "gzip"],
      ["identity", null],
    ] as const) {
      const asset = await fetch(url + path, { headers: { "accept-encoding": accepted } });
      const { headers } = asset;
      expect([
        headers.get("content-encoding"),
        headers.get("vary"),
        headers.get("cache-control"),
      ]).toEqual([encoding, "accept-encoding", "public, max-age=31536000, immutable"]);
      expect((await asset.text()).length).toBeGreaterThan(0);
    }
  }
});

test.each([
  "/assets/../index.html",
  "/assets/..%2findex.html",
  "/assets/%2e%2e%2f%2e%2e%2fpackage.json",
  "/assets/..%5c..%5cpackage.json",
  "/assets/%2fetc%2fpasswd",
  "/assets//etc/passwd",
  "/assets/",
  "/.sources",
  "/index.html",
  "/assets/.vite/manifest.json",
  "/.vite/manifest.json",
  "/theme.js/",
  "/theme.js%00",
  "/wx",
])("%s is not found", async (path) => {
  const request = `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
  const { answers } = await rawExchange(url, Buffer.from(request));
  expect(answers.map(({ status }) => status)).toEqual([404]);
});

inBrowser.each(themes)(
  "without JavaScript, %s, the page says what Beckon is and how to call an agent",
  async (theme) => {
    const page = await openDashboard(url, {
      javaScriptEnabled: false,
      theme,
      viewport: viewports.narrow,
    });
    await expect
      .poll(() => page.locator("pre").textContent())
      .toContain(`curl ${url}/api/public/agents/AGENT_ID/invoke`);
    const { width } = (await page.locator("main").boundingBox()) ?? { width: 0 };
    expect(width).toBe(viewports.narrow.width);
    await page.locator("main a").click();
    await page.waitForURL(`${url}/docs`);
  },
);
