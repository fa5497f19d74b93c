/**
 * Returns the encodings in which a text can occur in a table, file or log: plain, JSON,
 * URL-encoded, hex, and base64 at each of the three alignments.
 */
function encodings(text: string): string[] {
  const bytes = Buffer.from(text);
  const hex = bytes.toString("hex");
  const base64 = [0, 1, 2].flatMap((shift) => {
    const shifted = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    // Leaves out the characters at both ends that depend on the bytes before and after the text.
    const inner = shifted.slice(
      Math.ceil((shift * 8) / 6),
      Math.floor(((shift + bytes.length) * 8) / 6),
    );
    return [inner, inner.replaceAll("+", "-").replaceAll("/", "_")];
  });
  return [
    ...new Set([
      text,
      JSON.stringify(text).slice(1, -1),
      encodeURIComponent(text),
      hex,
      hex.toUpperCase(),
      ...base64,
    ]),
  ];
}

/** Returns the names of the secrets that `haystack` contains in any encoding. */
export function foundIn(haystack: string, secrets: Readonly<Record<string, string>>): string[] {
  return Object.keys(secrets).filter((name) =>
    encodings(secrets[name] ?? "").some((encoding) => haystack.includes(encoding)),
  );
}
