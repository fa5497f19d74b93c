import { buildDocument } from "./build-document.ts";
import { pagePolicy, renderPage } from "./render-page.ts";

/** Both are made at the first request, since most processes are never asked, and kept. */
let document: string | undefined;
let page: string | undefined;

/** `GET /openapi.json`. Open: it says what the public source says. */
export function serveDocument(): Response {
  document ??= JSON.stringify(buildDocument());
  return new Response(document, { headers: { "content-type": "application/json" } });
}

/** `GET /docs`: the document as a page that needs nothing from elsewhere. */
export function servePage(): Response {
  page ??= renderPage(buildDocument());
  return new Response(page, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": pagePolicy,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    },
  });
}
