/** A text that is searched for as it is, apart from upper and lower case. */
export interface Literal {
  /** At least one character. */
  readonly text: string;
  /** Whether one base64 character before, or after, the text belongs to the match. */
  readonly joinsBefore?: boolean;
  readonly joinsAfter?: boolean;
}

/** Where a match begins and ends in a text. */
export interface Match {
  readonly start: number;
  readonly end: number;
}

/** Maximum characters of a literal by which the index finds it. */
const maxHeadLength = 8;

/**
 * Finds many long texts. A regular expression is not used, because V8 compiles it for longer than
 * a second if it has hundreds of thousands of characters, or throws.
 */
export class LiteralIndex {
  /** The literals, in lower case, by their first `#headLength` characters. */
  readonly #byHead = new Map<string, Literal[]>();
  readonly #headLength: number;

  constructor(literals: readonly Literal[]) {
    this.#headLength = Math.min(maxHeadLength, ...literals.map(({ text }) => text.length));
    for (const literal of literals) {
      const text = lowerCase(literal.text);
      const head = text.slice(0, this.#headLength);
      const others = this.#byHead.get(head);
      if (others === undefined) this.#byHead.set(head, [{ ...literal, text }]);
      else if (others.every((other) => other.text !== text)) others.push({ ...literal, text });
    }
  }

  /**
   * Returns the literals that occur in `given`, in their order.
   * @param count counts the characters that are compared next. Once it returns true, the rest of
   *   the text is one match.
   */
  *matchesIn(given: string, count: (characters: number) => boolean): Iterable<Match> {
    if (this.#byHead.size === 0) return;
    const text = lowerCase(given);
    for (let start = 0; start + this.#headLength <= text.length; ) {
      let isOver = count(1);
      let match: Match | undefined;
      for (const literal of this.#byHead.get(text.slice(start, start + this.#headLength)) ?? []) {
        isOver ||= count(literal.text.length);
        if (isOver) break;
        if (!text.startsWith(literal.text, start)) continue;
        const found = joined(text, start, literal);
        if (match === undefined || found.end > match.end) match = found;
      }
      if (isOver) {
        yield { start, end: text.length };
        return;
      }
      if (match !== undefined) yield match;
      start = match?.end ?? start + 1;
    }
  }
}

/** Returns where a literal ends and begins, with the characters that belong to it. */
function joined(text: string, start: number, literal: Literal): Match {
  const end = start + literal.text.length;
  const before = text.slice(Math.max(0, start - 3), start);
  const after = text.slice(end, end + 3);
  const { length: added = 0 } =
    (literal.joinsBefore && /(?:[a-z0-9+/_-]|%2[bf])$/.exec(before)?.[0]) || "";
  const { length: appended = 0 } =
    (literal.joinsAfter && /^(?:[a-z0-9+/_-]|%2[bf])/.exec(after)?.[0]) || "";
  return { start: start - added, end: end + appended };
}

/** Returns `text` in lower case, with the same length: `İ` alone would become longer. */
const lowerCase = (text: string) => text.replaceAll("\u0130", "i").toLowerCase();
