/** A text with places that are filled in: `{name}` is one, `{{` and `}}` are braces of the text itself. */
export type Template = readonly TemplatePart[];
export type TemplatePart = { readonly text: string } | { readonly name: string };

/** The parts of a template, or undefined when a brace stands alone or a name is none. */
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

/** The names of a template's places; none when it cannot be read. */
export function namesIn(template: string): string[] {
  return (parseTemplate(template) ?? []).flatMap((part) => ("name" in part ? [part.name] : []));
}

/** A template that is one place and nothing else: what is left out can then be left away. */
export function soleName(template: string): string | undefined {
  const parts = parseTemplate(template) ?? [];
  const [only] = parts;
  return parts.length === 1 && only !== undefined && "name" in only ? only.name : undefined;
}

/** The pieces of a URL template. Places stand in `path` and `query` only. */
export interface UrlTemplate {
  /** `https://host:port`, as the URL standard writes it. */
  readonly origin: string;
  /** Host and, unless it is the scheme's own, port. */
  readonly host: string;
  /** Begins with `/`. */
  readonly path: string;
  /** Without `?`; empty without a query. */
  readonly query: string;
}

/** Reads a URL template. @returns what is wrong with it, as a text, when it is none. */
export function parseUrlTemplate(template: string): UrlTemplate | string {
  const [, scheme, authority, path = "", query = ""] =
    /^(https?):\/\/([^/?#]*)([^?#]*)(?:\?([^#]*))?$/.exec(template) ?? [];
  if (scheme === undefined || authority === undefined)
    return "must be an http or https URL without a fragment";
  if (/[{}]/.test(authority))
    return "must name its host and port: only path and query may hold {placeholders}";
  if (authority.includes("@"))
    return "must not hold a user or password: send credentials in a header";
  if (/[\s\\]/.test(template)) return "must not hold spaces or backslashes";
  if (authority === "" || !URL.canParse(`${scheme}://${authority}/`)) return "must name a host";
  if (parseTemplate(path) === undefined || parseTemplate(query) === undefined) {
    return "has a brace that belongs to no {placeholder}: a name is 1 to 64 of a-z A-Z 0-9 _ . -, a brace itself is written {{ or }}";
  }
  const { origin, host } = new URL(`${scheme}://${authority}/`);
  if (path.split("/").some(isDotSegment)) return "must not hold . or .. as a part of its path";
  return { origin, host, path: path === "" ? "/" : path, query };
}

/** Whether the URL standard takes this segment of a path for "here" or "one up". */
export function isDotSegment(segment: string): boolean {
  const text = segment.replaceAll(/%2e/gi, ".");
  return text === "." || text === "..";
}
