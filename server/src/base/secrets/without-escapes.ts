/** A text without escapes: its bytes in UTF-8, one a character. */
export interface Unescaped {
  readonly text: string;
  /**
   * Where each character of `text` begins in the given text, and last where that text ends;
   * undefined if both texts have the same positions.
   */
  readonly starts: Uint32Array | undefined;
}

/** Returns whether a text has only ASCII and nothing that can be an escape. */
const isPlain = (text: string) => /^[^\\%&\u0080-\uffff]*$/.test(text);

/**
 * Returns a text in lower case and without the escapes of JSON, URLs and HTML, however often and in
 * whatever mixture they were applied. So two texts become equal if they are encodings of the same
 * text. Takes a time that is proportional to the length. All backslashes are removed, and base64url
 * becomes base64.
 */
export function withoutEscapes(text: string): Unescaped {
  return isPlain(text) ? { text: fold(text), starts: undefined } : new Unescaping(text).result();
}

const fold = (ascii: string) => ascii.toLowerCase().replaceAll("-", "+").replaceAll("_", "/");

const [backslash, percent, ampersand, semicolon, letterU] = [0x5c, 0x25, 0x26, 0x3b, 0x75];

const htmlNames: Readonly<Record<string, number>> = {
  amp: ampersand,
  lt: 0x3c,
  gt: 0x3e,
  quot: 0x22,
  apos: 0x27,
};

/** Maximum characters between `&` and `;`, as in `&#x0000026;`. */
const maxHtmlLength = 10;

/** Above all values of two digits. */
const noDigit = 256;

/** The value of each byte as a digit of base 16 in lower case. */
const digits = Uint16Array.from({ length: 256 }, (_, byte) => {
  const digit = "0123456789abcdef".indexOf(String.fromCharCode(byte));
  return digit === -1 ? noDigit : digit;
});

const folded = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x80 ? fold(String.fromCharCode(byte)).charCodeAt(0) : byte,
);

/**
 * Writes the bytes of a text one after the other. As soon as the last ones are an escape, they are
 * replaced by the byte that it stands for, which can complete another escape.
 */
class Unescaping {
  readonly #given: string;
  readonly #bytes: Uint8Array;
  readonly #starts: Uint32Array;
  /** Whether backslashes were removed before a byte. They belong to it. */
  readonly #isEscaped: Uint8Array;
  #length = 0;
  /** Where the backslashes before the next byte begin; -1 if there are none. */
  #backslashesAt = -1;

  constructor(given: string) {
    this.#given = given;
    // A UTF-16 unit has at most 3 bytes in UTF-8. Each surrogate is encoded alone.
    this.#bytes = new Uint8Array(3 * given.length);
    this.#isEscaped = new Uint8Array(3 * given.length);
    this.#starts = new Uint32Array(3 * given.length + 1);
  }

  result(): Unescaped {
    for (let at = 0; at < this.#given.length; at++) this.#write(this.#given.charCodeAt(at), at);
    this.#starts[this.#length] = this.#given.length;
    const text = Buffer.from(this.#bytes.buffer, 0, this.#length).toString("latin1");
    return { text, starts: this.#starts };
  }

  /** Writes a character that begins at `start`, and what it means if it completes an escape. */
  #write(character: number, start: number): void {
    let next = character;
    let at = start;
    while (next !== -1 && next < 0x80 && next !== backslash) {
      this.#append(next, at);
      next = this.#takeEscape();
      // Where the removed escape began.
      at = this.#starts[this.#length] ?? at;
    }
    if (next >= 0x80) this.#writeBytes(next, at);
    else if (next === backslash && this.#backslashesAt === -1) this.#backslashesAt = at;
  }

  #writeBytes(character: number, start: number): void {
    if (character > 0xffff) {
      for (const unit of String.fromCodePoint(character).split(""))
        this.#writeBytes(unit.charCodeAt(0), start);
    } else if (character < 0x800) {
      this.#append(0xc0 | (character >> 6), start);
      this.#append(0x80 | (character & 0x3f), start);
    } else {
      this.#append(0xe0 | (character >> 12), start);
      this.#append(0x80 | ((character >> 6) & 0x3f), start);
      this.#append(0x80 | (character & 0x3f), start);
    }
  }

  #append(byte: number, start: number): void {
    const hasBackslashes = this.#backslashesAt !== -1;
    this.#bytes[this.#length] = folded[byte] ?? byte;
    this.#isEscaped[this.#length] = hasBackslashes ? 1 : 0;
    this.#starts[this.#length] = hasBackslashes ? this.#backslashesAt : start;
    this.#backslashesAt = -1;
    this.#length++;
  }

  /** Removes the escape that the last byte completes. Returns its character; -1 for none. */
  #takeEscape(): number {
    const last = this.#length - 1;
    if (this.#bytes[last] === semicolon) return this.#takeHtml();
    const low = this.#digit(last - 1) * 16 + this.#digit(last);
    if (low >= noDigit) return -1;
    if (this.#bytes[last - 2] === percent) {
      this.#length -= 3;
      if (low < 0x80) return low;
      this.#append(low, this.#starts[this.#length] ?? 0);
      return -1;
    }
    const high = this.#digit(last - 3) * 16 + this.#digit(last - 2);
    const isUnicode = this.#bytes[last - 4] === letterU && this.#isEscaped[last - 4] === 1;
    if (!isUnicode || high >= noDigit) return -1;
    this.#length -= 5;
    return high * 256 + low;
  }

  #takeHtml(): number {
    const end = this.#length - 1;
    let start = end - 1;
    while (this.#bytes[start] !== ampersand)
      if (--start < Math.max(0, end - maxHtmlLength)) return -1;
    const name = String.fromCharCode(...this.#bytes.subarray(start + 1, end));
    const [, hex, decimal] = /^#(?:x([\da-f]+)|(\d+))$/.exec(name) ?? [];
    const character =
      hex !== undefined ? Number.parseInt(hex, 16) : decimal ? Number(decimal) : htmlNames[name];
    if (character === undefined || character > 0x10ffff) return -1;
    this.#length = start;
    return character;
  }

  #digit(index: number): number {
    return digits[this.#bytes[index] ?? 0] ?? noDigit;
  }
}
