/**
 * A parsed template of a URL, a query parameter or a header of an `http` tool: `{name}` is a
 * placeholder for an argument, `{{` and `}}` are literal braces.
 */
export type Template = readonly TemplatePart[];
export type TemplatePart = { readonly text: string } | { readonly name: string };

/** Parses a template. @returns undefined if it has an unmatched brace or an invalid name. */
export function parseTemplate(template: string): Template | undefined {
  const parts: TemplatePart[] = [];
  for (const [token, name] of template.matchAll(
    /\{\{|\}\}|\{([a-zA-Z0-9_.-]{1,64})\}|[^{}]+|[{}]/g,
  )) {
    if (token === "{" || token === "}") return undefined;
    parts.push(
      name === undefined ? { text: token === "{{" ? "{" : token === "}}" ? "}" : token } : { name },
    );
  }
  return parts;
}

/** Returns the placeholder names of a template; empty if it is invalid. */
export function namesIn(template: string): string[] {
  return (parseTemplate(template) ?? []).flatMap((part) => ("name" in part ? [part.name] : []));
}

/**
 * Returns the name of the placeholder if the template consists of a single placeholder and nothing
 * else, otherwise undefined. If the argument for such a placeholder is absent, the query parameter
 * or header with this template is not sent.
 */
export function soleName(template: string): string | undefined {
  const parts = parseTemplate(template) ?? [];
  const [only] = parts;
  return parts.length === 1 && only !== undefined && "name" in only ? only.name : undefined;
}

/** A parsed URL template. Placeholders are in `path` and `query` only. */
export interface UrlTemplate {
  /** Scheme, host and port as the URL standard serializes them, without a default port. */
  readonly origin: string;
  /** `host:port`, or only the host if the port is the scheme's default. */
  readonly host: string;
  /** Begins with `/`. */
  readonly path: string;
  /** The query without its leading `?`. Empty if the URL has no query. */
  readonly query: string;
}

/** Parses a URL template. @returns an error message if it is invalid. */
export function parseUrlTemplate(template: string): UrlTemplate | string {
  // The path is empty or begins with a slash. Otherwise the expression could divide a text in many
  // ways between authority and path, and would try all of them.
  const [, scheme, authority, path = "", query = ""] =
    /^(https?):\/\/([^/?#]*)((?:\/[^?#]*)?)(?:\?([^#]*))?$/.exec(template) ?? [];
  if (scheme === undefined || authority === undefined)
    return "must be an http or https URL without a fragment";
  if (/[{}]/.test(authority))
    return "must have a fixed host and port: {placeholders} are allowed in path and query only";
  if (authority.includes("@"))
    return "must not contain a user or password: send credentials in a header";
  if (/[\s\\]/.test(template)) return "must not contain spaces or backslashes";
  if (authority === "" || !URL.canParse(`${scheme}://${authority}/`))
    return "must have a valid host";
  if (parseTemplate(path) === undefined || parseTemplate(query) === undefined) {
    return "has an unmatched brace: write {name}, 1 to 64 of a-z A-Z 0-9 _ . -, or {{ and }} literally";
  }
  const { origin, host } = new URL(`${scheme}://${authority}/`);
  if (path.split("/").some(isDotSegment)) return "must not contain . or .. as a path segment";
  return { origin, host, path: path === "" ? "/" : path, query };
}

/** Returns whether the URL standard treats a path segment as `.` or `..`. */
export function isDotSegment(segment: string): boolean {
  const text = segment.replaceAll(/%2e/gi, ".");
  return text === "." || text === "..";
}
