/** A text that is searched for as it is. */
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

/** Characters of a literal that `indexOf` searches for. Few, because it takes length × text. */
const maxHeadLength = 8;

/**
 * Finds several long texts in a time that is proportional to the text, whatever both contain
 * (Knuth, Morris and Pratt, "Fast pattern matching in strings", 1977). `indexOf` alone is not: for
 * a long row of equal characters, in a text of them, it takes the product of both lengths.
 */
export class LiteralSearch {
  readonly #literals: readonly PreparedLiteral[];

  constructor(literals: readonly Literal[]) {
    this.#literals = literals.map((literal) => ({
      ...literal,
      head: literal.text.slice(0, maxHeadLength),
      borders: undefined,
    }));
  }

  /** Returns where the literals occur, in the order of the literals. */
  matchesIn(text: string): Match[] {
    return this.#literals.flatMap((literal) => occurrences(text, literal));
  }
}

interface PreparedLiteral extends Literal {
  readonly head: string;
  /** Filled when the head is found for the first time. */
  borders: Uint32Array | undefined;
}

/** Returns the occurrences of one literal. Those that overlap are one match. */
function occurrences(text: string, literal: PreparedLiteral): Match[] {
  const { text: sought, head } = literal;
  const matches: Match[] = [];
  if (text.length < sought.length) return matches;
  /** How many characters of the literal end at the position `at`. */
  let matched = 0;
  for (let at = 0; ; ) {
    if (matched === 0) {
      const start = text.indexOf(head, at);
      if (start === -1) return matches;
      matched = head.length;
      at = start + matched;
    }
    literal.borders ??= bordersOf(sought);
    if (matched === sought.length) {
      add(joined(text, at - matched, literal), matches);
      matched = literal.borders[matched] ?? 0;
    } else if (at === text.length) return matches;
    else if (text.charCodeAt(at) === sought.charCodeAt(matched)) {
      at++;
      matched++;
    } else matched = literal.borders[matched] ?? 0;
  }
}

/**
 * Returns for each length of a beginning of `text` how long its longest border is: a part, shorter
 * than it, with which it both begins and ends.
 */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length + 1);
  for (let length = 2, border = 0; length <= text.length; length++) {
    const last = text.charCodeAt(length - 1);
    while (border > 0 && text.charCodeAt(border) !== last) border = borders[border] ?? 0;
    if (text.charCodeAt(border) === last) border++;
    borders[length] = border;
  }
  return borders;
}

/** Appends a match to others that begin before it. If it overlaps the last one, both become one. */
function add(match: Match, matches: Match[]): void {
  const last = matches.at(-1);
  if (last === undefined || match.start >= last.end) matches.push(match);
  else if (match.end > last.end) matches[matches.length - 1] = { ...last, end: match.end };
}

/** Returns matches in the order of the text. Those that overlap become one. */
export function merged(matches: readonly Match[]): Match[] {
  const result: Match[] = [];
  for (const match of matches.toSorted((a, b) => a.start - b.start)) add(match, result);
  return result;
}

/** Returns where a literal begins and ends, with the characters that belong to it. */
function joined(text: string, start: number, literal: Literal): Match {
  const end = start + literal.text.length;
  if (!literal.joinsBefore && !literal.joinsAfter) return { start, end };
  const before = text.slice(Math.max(0, start - 3), start);
  const after = text.slice(end, end + 3);
  const { length: added = 0 } =
    (literal.joinsBefore && /(?:[a-z0-9+/_-]|%2[bf])$/.exec(before)?.[0]) || "";
  const { length: appended = 0 } =
    (literal.joinsAfter && /^(?:[a-z0-9+/_-]|%2[bf])/.exec(after)?.[0]) || "";
  return { start: start - added, end: end + appended };
}
