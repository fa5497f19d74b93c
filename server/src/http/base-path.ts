import type { Services } from "./services.ts";

/**
 * Returns the path of the public URL, without a trailing slash; empty if it has none. A proxy
 * removes it from requests (`PUBLIC_URL` in docs/settings.md), but does not add it to `Location`,
 * which clients resolve against the URL of their request (RFC 9110, section 10.2.2).
 */
export function basePathOf({ publicUrl }: Pick<Services, "publicUrl">): string {
  return new URL(publicUrl()).pathname.replace(/\/$/, "");
}
