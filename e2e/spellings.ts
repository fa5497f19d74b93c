/** A text as it may stand in a table, a file or a log: itself, in JSON, URL-encoded, in hex, and in base64 wherever in it the text begins. */
function spellings(text: string): string[] {
  const bytes = Buffer.from(text);
  const hex = bytes.toString("hex");
  const base64 = [0, 1, 2].flatMap((shift) => {
    const shifted = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    // Characters at either end that depend on what stands beside the text.
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

/** Names of those whose text, in any spelling, is in `hay`. */
export function foundIn(hay: string, secrets: Readonly<Record<string, string>>): string[] {
  return Object.keys(secrets).filter((name) =>
    spellings(secrets[name] ?? "").some((spelling) => hay.includes(spelling)),
  );
}
