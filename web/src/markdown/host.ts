/**
 * Returns the host of an absolute http(s) URL or the address of a `mailto:`; undefined for
 * everything else. Relative links are excluded, because in a model's text they would point into the
 * dashboard.
 */
export function hostOf(href: string | undefined): string | undefined {
  if (href === undefined || !URL.canParse(href)) return undefined;
  const url = new URL(href);
  if (url.protocol === "https:" || url.protocol === "http:") return url.host;
  return url.protocol === "mailto:" ? url.pathname : undefined;
}
