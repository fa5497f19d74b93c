const replacement = "\uFFFD";

/** `text` with NUL and lone surrogates replaced: PostgreSQL stores neither, and a model or tool may write both. */
export function storableText(text: string): string {
  const formed = text.isWellFormed() ? text : text.toWellFormed();
  return formed.includes("\u0000") ? formed.replaceAll("\u0000", replacement) : formed;
}

/** A JSON value with every text in it, keys included, made storable. The value itself comes back when nothing had to change. */
export function storableJson(value: unknown): unknown {
  // A lone surrogate and NUL are the only characters that JSON.stringify writes as these escapes.
  return /\\u0000|\\ud[89a-f]/.test(JSON.stringify(value) ?? "") ? cleaned(value) : value;
}

function cleaned(value: unknown): unknown {
  if (typeof value === "string") return storableText(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== "object" || value === null) return value;
  // fromEntries defines its members, so that a key `__proto__` stays a key.
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [storableText(key), cleaned(member)]));
}
