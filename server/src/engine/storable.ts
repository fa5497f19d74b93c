import { isStorableText } from "@beckon/contract";

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
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [storableText(key), cleaned(member)]),
  );
}

/** JSON as text that can be stored, of the same value: NUL and lone surrogates in it become their escapes. */
export function storableJsonText(text: string): string {
  if (isStorableText(text)) return text;
  // Behind a backslash they are no JSON, and stay none. `\p{Cs}` matches lone surrogates only.
  return text.replace(/\\.|[\0\p{Cs}]/gsu, (part) =>
    part.length > 1 ? storableText(part) : `\\u${part.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Where in a JSON value, for example `items[0].name`, the first text stands that cannot be stored; undefined if there is none. */
export function unstorableIn(value: unknown, location = ""): string | undefined {
  if (typeof value === "string") return isStorableText(value) ? undefined : location || "the value";
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    if (!isStorableText(name)) return `the name ${storableText(name)}`;
    const inside = Array.isArray(value)
      ? `${location}[${name}]`
      : `${location}${location && "."}${name}`;
    const found = unstorableIn(member, inside);
    if (found !== undefined) return found;
  }
  return undefined;
}
