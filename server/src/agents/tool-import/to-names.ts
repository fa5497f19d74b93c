/**
 * Returns a function that converts any text to a tool name that model providers accept
 * (`[a-zA-Z0-9_-]`, at most 64 characters). No name is returned twice.
 * @param reserved Names that must not be returned.
 */
export function createNamer(
  reserved: Iterable<string> = [],
): (text: string, fallback: string) => string {
  const used = new Set(reserved);
  return (text, fallback) => {
    const wanted = cleaned(text) || fallback;
    let name = wanted;
    for (let number = 2; used.has(name); number += 1) name = `${wanted.slice(0, 60)}_${number}`;
    used.add(name);
    return name;
  };
}

function cleaned(text: string): string {
  const name = text
    .replaceAll(/[^a-zA-Z0-9_-]+/g, "_")
    .replaceAll(/^[_-]+|[_-]+$/g, "")
    .slice(0, 64);
  return /^[0-9]/.test(name) ? `_${name}`.slice(0, 64) : name;
}
