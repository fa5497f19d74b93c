import { ApiError } from "../../base/errors.ts";
import { headerOf, type RequestContext } from "../request/index.ts";
import { builtFile, compressedFile, createReader, namesIn } from "./files.ts";
import { pageResponse, unbuiltPage } from "./page.ts";

/**
 * Paths of the dashboard's pages. The links for invitations, password resets and the first owner's
 * setup have their token after `#`. Browsers do not send this part of a URL, so no server or proxy
 * can log the token.
 */
export const pagePaths = ["/", "/w/*", "/sign-in", "/setup", "/invite", "/reset"] as const;

/** Names of the files with constant paths, which all pages load. */
export const rootFiles = ["favicon.svg", "theme.js"] as const;

/**
 * Serves the dashboard, a client of the public API, from the files that `script/build-web` writes.
 * The page is read for each request: after a new build, a page in memory would refer to files of
 * the previous one. Assets stay in memory once they were requested, so that all connections share
 * their bytes.
 */
export interface Dashboard {
  /** Serves the dashboard's HTML page, which is the same for all `pagePaths`. */
  servePage(): Promise<Response>;
  /** `GET /assets/:file`. @throws ApiError `not_found` */
  serveAsset(c: RequestContext): Promise<Response>;
  /** Serves a file with a constant path. @throws ApiError `not_found` */
  serveRootFile(c: RequestContext, name: (typeof rootFiles)[number]): Promise<Response>;
  /**
   * Returns the paths of the fonts, for the pages at `/docs`. A path is undefined if there is no
   * build, or if the build does not have the font.
   */
  fonts(): Promise<{ readonly sans: string | undefined; readonly mono: string | undefined }>;
}

/**
 * Creates the dashboard.
 * @param publicUrl returns the URL of this installation, which the page shows if the browser has no
 *   JavaScript
 * @param folder the folder of the build
 */
export function createDashboard(
  publicUrl: () => string,
  folder: URL = new URL("../../../../web/dist/", import.meta.url),
): Dashboard {
  const read = createReader({ keeps: false });
  // The name of an asset contains a hash of its content, so the content never changes.
  const readAsset = createReader({ keeps: true });
  return {
    async servePage() {
      const page = await builtFile(read, folder, "index.html");
      return page === undefined ? unbuiltPage() : pageResponse(page.bytes, publicUrl());
    },
    async serveAsset(c) {
      const file = await compressedFile(
        readAsset,
        new URL("assets/", folder),
        c.req.param("file") ?? "",
        headerOf(c.env.incoming, "accept-encoding") ?? "",
      );
      if (file === undefined) throw noSuchFile();
      return new Response(file.bytes, {
        headers: {
          ...file.headers,
          "cache-control": "public, max-age=31536000, immutable",
        },
      });
    },
    async serveRootFile(c, name) {
      const file = await builtFile(read, folder, name);
      if (file === undefined) throw noSuchFile();
      const headers = {
        ...file.headers,
        etag: file.etag,
        "cache-control": "public, max-age=300",
      };
      return isKnown(headerOf(c.env.incoming, "if-none-match"), file.etag)
        ? new Response(null, { status: 304, headers })
        : new Response(file.bytes, { headers });
    },
    async fonts() {
      const files = await namesIn(new URL("assets/", folder));
      const pathOf = (pattern: RegExp) => {
        const name = files.find((file) => pattern.test(file));
        return name === undefined ? undefined : `/assets/${name}`;
      };
      return {
        sans: pathOf(/-next-latin-wght-normal-[\w-]+\.woff2$/),
        mono: pathOf(/-mono-latin-wght-normal-[\w-]+\.woff2$/),
      };
    },
  };
}

/** Returns whether `If-None-Match` lists the entity tag, compared weakly (RFC 9110, 13.1.2). */
function isKnown(header: string | undefined, etag: string): boolean {
  return (header ?? "").split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}

function noSuchFile(): ApiError {
  return new ApiError(
    "not_found",
    "The dashboard has no such file. If Beckon was updated, reload the page.",
  );
}
