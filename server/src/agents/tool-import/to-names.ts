/**
 * Returns a function that converts any text to a tool name that model providers accept
 * (`[a-zA-Z0-9_-]`, at most 64 characters). No name is returned twice.
 * @param reserved Names that must not be returned.
 */
export function createNamer(
  reserved: Iterable<string> = [],
): (text: string, fallback: string) => string {
  const used = new Set(reserved);
  // The number to try next for each name. Without it, n equal names would take n² / 2 attempts.
  const nextNumbers = new Map<string, number>();
  return (text, fallback) => {
    const wanted = cleaned(text) || fallback;
    let name = wanted;
    let number = nextNumbers.get(wanted) ?? 2;
    for (; used.has(name); number += 1) name = `${wanted.slice(0, 60)}_${number}`;
    nextNumbers.set(wanted, number);
    used.add(name);
    return name;
  };
}

/**
 * Maximum characters of a text that a name is made from. The time to remove trailing characters
 * grows with the square of the length: a text of 1 MiB could block the process for minutes.
 */
const maxCharacters = 500;

function cleaned(text: string): string {
  const name = text
    .slice(0, maxCharacters)
    .replaceAll(/[^a-zA-Z0-9_-]+/g, "_")
    .replaceAll(/^[_-]+|[_-]+$/g, "")
    .slice(0, 64);
  return /^[0-9]/.test(name) ? `_${name}`.slice(0, 64) : name;
}
