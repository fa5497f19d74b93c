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
 * a request for them.
 * @param fontsOf finds the dashboard's fonts, whose names change when the dashboard is built again
 */
export function createDocs(publicUrl: () => string, fontsOf: () => Promise<PageFonts>): Docs {
  let site: Site | undefined;
  let json: string | undefined;
  let style = "";
  const pages = new Map<string | undefined, string>();
  return {
    serveDocument() {
      json ??= JSON.stringify(buildDocument(publicUrl()));
      return new Response(json, { headers: { "content-type": "application/json" } });
    },
    async servePage(c) {
      const slug = c.req.param("page");
      const current = pageStyle(await fontsOf());
      if (style !== current) pages.clear();
      style = current;
      site ??= siteOf(buildDocument(publicUrl()));
      const page = pages.get(slug) ?? renderPage(site, style, slug);
      if (page === undefined)
        throw new ApiError("not_found", "There is no such page. See /docs for all pages.");
      pages.set(slug, page);
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
