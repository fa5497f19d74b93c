/** Stands in place of a secret. */
const scrubbed = "[secret]";

/**
 * Takes secrets out of what a server answered: some repeat the request, its headers too. Each is looked for as it was sent, in the
 * forms in which servers write it (JSON, URL, HTML, base64), and, for basic authentication, as the user and password it is made of.
 * A server that disguises it otherwise cannot be helped against: it was given the secret.
 */
export interface Scrubber {
  /** Bytes of the longest form. */
  readonly longest: number;
  text(text: string): string;
  /** The beginning of `text` up to the character `end`, without secrets, also when one reaches beyond. */
  beginning(text: string, end: number): string;
  /** Every text of a JSON value, names too. */
  json(value: unknown): unknown;
}

export function scrubberFor(secrets: readonly string[]): Scrubber {
  const forms = [...new Set(secrets.flatMap(formsOf))].filter((form) => form.length >= 4).sort((a, b) => b.length - a.length);
  const pattern = new RegExp(forms.map((form) => form.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|"), "gi");
  const none = forms.length === 0;
  const text = (given: string) => (none ? given : given.replaceAll(pattern, scrubbed));
  const json = (value: unknown): unknown => {
    if (typeof value === "string") return text(value);
    if (Array.isArray(value)) return value.map(json);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [text(name), json(member)]));
  };
  return {
    longest: Math.max(0, ...forms.map((form) => Buffer.byteLength(form))),
    text,
    json: (value) => (none ? value : json(value)),
    beginning(given, end) {
      let kept = "";
      let from = 0;
      for (const match of none ? [] : given.matchAll(pattern)) {
        if (match.index >= end) break;
        kept += given.slice(from, match.index) + scrubbed;
        from = match.index + match[0].length;
      }
      return from >= end ? kept : kept + given.slice(from, end);
    },
  };
}

function formsOf(secret: string): string[] {
  // Shorter pieces would be found in words that are no secret.
  const pieces = [secret, ...basicParts(secret)].filter((piece) => piece.length >= 6);
  return pieces.flatMap((piece) => [
    piece,
    JSON.stringify(piece).slice(1, -1),
    encodeURIComponent(piece),
    piece.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
    Buffer.from(piece).toString("base64").replace(/=+$/, ""),
    Buffer.from(piece).toString("base64url"),
  ]);
}

function basicParts(secret: string): string[] {
  if (!/^[A-Za-z0-9+/]{4,}={0,2}$/.test(secret)) return [];
  const decoded = Buffer.from(secret, "base64").toString("utf8");
  return /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(decoded) ? [decoded, decoded.slice(decoded.indexOf(":") + 1)] : [];
}
