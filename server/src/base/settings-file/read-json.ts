/** A position in a text. Lines and columns count from 1. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** Thrown for text that is not valid JSON. `message` says what is wrong, without the position. */
export class JsonMistake extends Error {
  readonly position: TextPosition;

  constructor(message: string, position: TextPosition) {
    super(message);
    this.position = position;
  }
}

/**
 * A parsed value, and the position of each field in it by JSON pointer (RFC 6901). The pointer `""`
 * refers to the value itself.
 */
export interface PositionedJson {
  readonly value: unknown;
  readonly positions: ReadonlyMap<string, TextPosition>;
}

/** Maximum depth of nested objects and lists. Settings files need a depth of three. */
const maxDepth = 20;

const tokens = {
  space: /[ \t\r\n]*/y,
  string: /"[^"\\]*(?:\\.[^"\\]*)*"/sy,
  number: /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y,
  word: /true|false|null/y,
} as const;

/**
 * Parses JSON (RFC 8259) that a person wrote. Unlike `JSON.parse`, it reports where the fields are,
 * and it rejects an object that has a field twice.
 * @throws JsonMistake if the text is not valid JSON, an object has a field twice, or the nesting is
 *   deeper than 20 levels.
 */
export function readJson(text: string): PositionedJson {
  const positions = new Map<string, TextPosition>();
  let at = 0;
  let countedTo = 0;
  let line = 1;
  let lineStart = 0;
  /** Must be called in the order of the text: it continues to count lines where it stopped. */
  const positionAt = (offset: number): TextPosition => {
    for (; countedTo < offset; countedTo++)
      if (text[countedTo] === "\n") {
        line++;
        lineStart = countedTo + 1;
      }
    return { line, column: offset - lineStart + 1 };
  };
  const mistake = (message: string, offset = at) => new JsonMistake(message, positionAt(offset));
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  const takeSign = (sign: string): boolean => {
    take(tokens.space);
    if (text[at] !== sign) return false;
    at += 1;
    return true;
  };
  const parsed = (literal: string): unknown => {
    try {
      return JSON.parse(literal);
    } catch {
      throw mistake(
        "this text has a line break or an invalid escape sequence",
        at - literal.length,
      );
    }
  };
  const expected = (what: string) =>
    mistake(
      at >= text.length ? `the text ends, but ${what} is missing` : `${what} is expected here`,
    );

  const readValue = (pointer: string, depth: number): unknown => {
    if (depth > maxDepth) throw mistake(`the nesting is deeper than ${maxDepth} levels`);
    if (takeSign("{")) return readObject(pointer, depth);
    if (takeSign("[")) return readList(pointer, depth);
    const scalar = take(tokens.string) ?? take(tokens.number) ?? take(tokens.word);
    if (scalar === undefined) throw expected("a value");
    return parsed(scalar);
  };
  const readObject = (pointer: string, depth: number): Record<string, unknown> => {
    const fields = new Map<string, unknown>();
    if (takeSign("}")) return {};
    do {
      take(tokens.space);
      const start = at;
      const literal = take(tokens.string);
      if (literal === undefined) throw expected("a field's name in double quotes");
      const name = String(parsed(literal));
      if (fields.has(name)) throw mistake(`the field ${literal} is there twice`, start);
      const field = pointerTo(pointer, name);
      positions.set(field, positionAt(start));
      if (!takeSign(":")) throw expected("a colon");
      fields.set(name, readValue(field, depth + 1));
    } while (takeSign(","));
    if (!takeSign("}")) throw expected("a comma or }");
    return Object.fromEntries(fields);
  };
  const readList = (pointer: string, depth: number): unknown[] => {
    const items: unknown[] = [];
    if (takeSign("]")) return items;
    do {
      take(tokens.space);
      const item = pointerTo(pointer, String(items.length));
      positions.set(item, positionAt(at));
      items.push(readValue(item, depth + 1));
    } while (takeSign(","));
    if (!takeSign("]")) throw expected("a comma or ]");
    return items;
  };

  take(tokens.space);
  positions.set("", positionAt(at));
  const value = readValue("", 1);
  take(tokens.space);
  if (at < text.length) throw expected("the end");
  return { value, positions };
}

/** Returns the JSON pointer to a field of the value at `pointer`. */
export function pointerTo(pointer: string, name: string): string {
  return `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
