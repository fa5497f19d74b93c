/** Response header of invoke with the names of the body's fields that were ignored. */
export const ignoredFieldsHeader = "beckon-ignored-fields";

const maxNames = 10;
const maxBytes = 512;

/**
 * Returns the names of the fields of `body` that are not in `known`, percent-encoded (UTF-8) and
 * separated by commas; undefined if there are none. At most 10 names and 512 bytes: names that do
 * not fit are left out. An empty name is written `""`.
 */
export function ignoredFields(body: unknown, known: readonly string[]): string | undefined {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return undefined;
  const names: string[] = [];
  let bytes = 0;
  for (const name in body) {
    if (known.includes(name)) continue;
    if (names.length === maxNames) break;
    // A name that is longer than the limit can never fit, so it is not encoded.
    if (name.length > maxBytes) continue;
    // `encodeURIComponent` throws on lone surrogates, so `toWellFormed` replaces them first.
    const encoded = encodeURIComponent(name.toWellFormed()) || '""';
    const added = encoded.length + (names.length === 0 ? 0 : 2);
    if (bytes + added > maxBytes) continue;
    names.push(encoded);
    bytes += added;
  }
  return names.length === 0 ? undefined : names.join(", ");
}
