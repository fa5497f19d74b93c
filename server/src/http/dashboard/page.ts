import { randomBytes } from "node:crypto";
import { escapeHtml } from "../escape-html.ts";

/**
 * Content security policy of the pages. Scripts come from this server only. The nonce admits the
 * style element with which an open dialog stops the page from scrolling. Trusted Types prevent
 * scripts from turning text into code or HTML. The only exception is the policy `beckon`, with
 * which the dashboard creates the URL of its SharedWorker.
 */
const policyWith = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types beckon",
  ].join("; ");

const headersWith = (policy: string): Record<string, string> => ({
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": policy,
  // A page from a cache could refer to files of an earlier build, which no longer exist. Its nonce
  // would also be used again, but a nonce must be new for each response.
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
});

/**
 * Returns the page: `html` with a new nonce for `__CSP_NONCE__` and `publicUrl` for
 * `__PUBLIC_URL__`.
 */
export function pageResponse(html: Buffer, publicUrl: string): Response {
  const nonce = randomBytes(16).toString("base64");
  const page = html
    .toString()
    .replaceAll("__CSP_NONCE__", nonce)
    .replaceAll("__PUBLIC_URL__", () => escapeHtml(publicUrl));
  return new Response(page, { headers: headersWith(policyWith(nonce)) });
}

/** Returns the page of a server whose checkout has no built dashboard. */
export function unbuiltPage(): Response {
  return new Response(unbuilt, {
    status: 503,
    headers: headersWith("default-src 'none'; frame-ancestors 'none'"),
  });
}

const unbuilt = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Beckon</title>
<h1>The dashboard is not built</h1>
<p>Run <code>script/build-web</code> in Beckon's folder and reload this page. <code>script/server</code> does both.</p>
<p>The API works without it: see the <a href="/docs">documentation</a>.</p>
</html>
`;
