import { ApiError } from "../../base/errors.ts";
import { buildDocument } from "../openapi/index.ts";
import type { RequestContext } from "../request/index.ts";
import { type PageFonts, pageStyle } from "./page-style.ts";
import { type Site, siteOf } from "./pages.ts";
import { pagePolicy, renderPage } from "./render-page.ts";

/** Serves the OpenAPI document and the pages made from it. No credential is needed for either. */
export interface Docs {
  /** `GET /openapi.json` */
  serveDocument(): Response;
  /** `GET /docs` and `GET /docs/:page`. @throws ApiError `not_found` */
  servePage(c: RequestContext): Promise<Response>;
}

/**
 * Creates the docs. Document and pages are rendered on first use, because most processes never get
 * a request for them. They are kept as bytes, which all connections share: a text would be encoded
 * again for each connection, and held until its client has read it.
 * @param fontsOf finds the dashboard's fonts, whose names change when the dashboard is built again
 */
export function createDocs(publicUrl: () => string, fontsOf: () => Promise<PageFonts>): Docs {
  let site: Site | undefined;
  let json: Buffer<ArrayBuffer> | undefined;
  let style = "";
  const pages = new Map<string | undefined, Buffer<ArrayBuffer>>();
  return {
    serveDocument() {
      json ??= Buffer.from(JSON.stringify(buildDocument(publicUrl())));
      return new Response(json, { headers: { "content-type": "application/json" } });
    },
    async servePage(c) {
      const slug = c.req.param("page");
      const current = pageStyle(await fontsOf());
      if (style !== current) pages.clear();
      style = current;
      site ??= siteOf(buildDocument(publicUrl()));
      let page = pages.get(slug);
      if (page === undefined) {
        const html = renderPage(site, style, slug);
        if (html === undefined)
          throw new ApiError("not_found", "There is no such page. See /docs for all pages.");
        page = Buffer.from(html);
        pages.set(slug, page);
      }
      return new Response(page, {
        headers: {
          "content-type": "text/html; charset=utf-8",
          "content-security-policy": pagePolicy(style),
          "x-content-type-options": "nosniff",
          "referrer-policy": "no-referrer",
        },
      });
    },
  };
}
