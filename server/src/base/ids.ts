import { randomFillSync } from "node:crypto";

/**
 * Prefix of each kind of id. An id is the prefix, `_` and a UUIDv7 in base32 (TypeID 0.3), so ids
 * sort by time of creation.
 */
export type IdPrefix =
  | "agt"
  | "sec"
  | "run"
  | "trg"
  | "wsp"
  | "key"
  | "prv"
  | "pri"
  | "pln"
  | "sub"
  | "dlv"
  | "evt"
  | "art"
  /** Conversations. Reserved for later, not used yet. */
  | "cnv"
  | "prc"
  | "aud"
  | "req"
  | "usr"
  | "ses"
  | "acc"
  | "inv"
  /**
   * HTTP requests, in the header `beckon-request-id`. The prefix `req` is not used for them,
   * because it is the prefix of the requests that triggers received.
   */
  | "rid";

/** TypeID's base32 alphabet (Crockford's): 5 bits per digit, in ascending order. */
const digits = "0123456789abcdefghjkmnpqrstvwxyz";

/**
 * `millisecond` is the Unix time of the last id. `timeDigits` is the same time as ten digits, which
 * encode two zero bits and the 48 bits of time of a UUIDv7.
 */
let millisecond = 0;
let timeDigits = "";
/**
 * Counter of the ids of one millisecond, in the 12 bits after the version (RFC 9562, section 6.2,
 * method 1). It starts at a random value below 2,048, so that at least 2,048 ids fit in a
 * millisecond.
 */
let count = 0;

/**
 * Maximum time, in milliseconds, by which ids are ahead of the clock. If the clock is set back by
 * less, ids keep the highest time, so that they ascend. It is less than `idSlackMs`: a query for a
 * range of times does not find rows whose ids are further ahead.
 */
const maxAheadMs = 60_000;

/**
 * Random 16-bit numbers, which are fetched from the system in advance: one system call costs more
 * CPU than all other work for an id.
 */
const random = { words: new Uint16Array(4_096), used: 4_096 };
const wordsPerId = 7;

/**
 * The two base32 digits of each value of ten bits, in ascending order. Ids are joined from these
 * pairs instead of single digits, because fewer pieces of text cost less CPU to join.
 */
export const digitPairs: readonly string[] = Array.from(
  { length: 1_024 },
  (_, bits) => digit(bits >> 5) + digit(bits),
);

/**
 * Returns a new id, for example `run_01jdb8tq5ke5ktbqrs4n1h9m0z`. It is greater than every earlier
 * id of this process with the same prefix, unless the clock was set back by more than a minute. It
 * has 62 random bits.
 */
export function newId(prefix: IdPrefix): string {
  const from = takeRandomWords();
  const now = Date.now();
  if (now > millisecond || now < millisecond - maxAheadMs) {
    setTime(now);
    count = wordAt(from + 6) & 0x7ff;
  } else if (++count > 0xfff) {
    setTime(millisecond + 1);
    count = 0;
  }
  // 4 bits of version (7), 12 of counter, 2 of variant (binary 10), then the random bits: the
  // highest two of the first word, and the lowest ten of six words.
  const version = pairOf((0b0111 << 6) | (count >> 6));
  const variant = pairOf((count << 4) | 0b1000 | (wordAt(from) >> 14));
  return (
    `${prefix}_${timeDigits}${version}${variant}` +
    `${pairOf(wordAt(from))}${pairOf(wordAt(from + 1))}${pairOf(wordAt(from + 2))}` +
    `${pairOf(wordAt(from + 3))}${pairOf(wordAt(from + 4))}${pairOf(wordAt(from + 5))}`
  );
}

/** Returns the two digits of the lowest ten bits. */
function pairOf(bits: number): string {
  return digitPairs[bits & 1_023] ?? "";
}

/** Returns the digit of the lowest five bits. */
function digit(bits: number): string {
  return digits[bits & 31] ?? "";
}

function setTime(time: number): void {
  millisecond = time;
  timeDigits = digitsOf(time);
}

/** Returns the index of the first random word for one id. */
function takeRandomWords(): number {
  if (random.used + wordsPerId > random.words.length) {
    randomFillSync(random.words);
    random.used = 0;
  }
  random.used += wordsPerId;
  return random.used - wordsPerId;
}

function wordAt(index: number): number {
  return random.words[index] ?? 0;
}

/** Returns the ten base32 digits of a 48-bit number. */
function digitsOf(time: number): string {
  let rest = time;
  let text = "";
  for (let index = 0; index < 10; index++) {
    text = `${digits[rest % 32]}${text}`;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/**
 * Returns a text that sorts before every id created at `time` or later and after every id created
 * earlier, so that a query for a range of times can use a range of ids.
 */
export function lowestIdAt(prefix: IdPrefix, time: Date): string {
  return `${prefix}_${digitsOf(Math.max(0, time.getTime()))}${"0".repeat(16)}`;
}

/**
 * Maximum difference, in milliseconds, between the time in an id and the row's time in the
 * database. They differ because a process generates the id before it sends the statement, while the
 * database sets the time, and their clocks may differ. A query for a range of times can search the
 * range of ids that is wider by this time at both ends.
 */
export const idSlackMs = 300_000;

/**
 * Returns the time in an id. Checks only the digits that encode the time.
 * @throws Error if one of them is not a base32 digit
 */
export function timeOf(id: string): Date {
  let time = 0;
  for (const each of id.slice(4, 14)) {
    const value = digits.indexOf(each);
    if (value < 0) throw new Error(`${id} is not an id`);
    time = time * 32 + value;
  }
  return new Date(time);
}

/**
 * Chooses the newest ids, at most `max`. The caller's next query starts below the time of the
 * oldest chosen id and would skip other ids of the same millisecond. Therefore the ids of a
 * millisecond are chosen either all or not at all.
 * @param ids newest first. Pass one id more than `max` if there is one: it shows whether the last
 *   millisecond has more ids.
 * @returns `isPart`: true in the exceptional case that more than `max` ids have the newest
 *   millisecond. Then `max` of them are chosen.
 */
export function wholeMilliseconds(
  ids: readonly string[],
  max: number,
): { chosen: readonly string[]; isPart: boolean } {
  const newest = ids.slice(0, max);
  const left = ids[max];
  if (left === undefined) return { chosen: newest, isPart: false };
  const whole = newest.filter((id) => timeOf(id) > timeOf(left));
  return whole.length > 0 ? { chosen: whole, isPart: false } : { chosen: newest, isPart: true };
}

/**
 * Returns the UUID in a complete id as 32 hex digits.
 * @throws Error if a character after the prefix is not a base32 digit
 */
export function uuidOf(id: string): string {
  let bits = 0n;
  for (const each of id.slice(4)) {
    const value = digits.indexOf(each);
    if (value < 0) throw new Error(`${id} is not an id`);
    bits = (bits << 5n) | BigInt(value);
  }
  return bits.toString(16).padStart(32, "0");
}
