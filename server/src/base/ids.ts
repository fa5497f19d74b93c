import { randomFillSync } from "node:crypto";

/** Prefix of each kind of id. An id is the prefix, `_`, and a UUIDv7 in base32 (TypeID 0.3): sortable by time of creation. */
export type IdPrefix =
  | "agt"
  | "sec"
  | "run"
  | "trg"
  | "wsp"
  | "key"
  | "prv"
  | "evt"
  | "art"
  /** Conversations. Reserved: no id has it yet. */
  | "cnv"
  | "prc"
  | "aud"
  | "req"
  | "usr"
  | "ses"
  | "acc"
  | "inv"
  /** HTTP requests, in the header `beckon-request-id`. `req` is reserved for received requests. */
  | "rid";

/** Base32 as TypeID writes it, by Douglas Crockford: each digit 5 bits, and in the order of their values. */
const digits = "0123456789abcdefghjkmnpqrstvwxyz";

/** The millisecond of the last id, and its ten digits: a UUIDv7's 48 bits of time, two empty bits before them. */
let millisecond = 0;
let timeDigits = "";
/** RFC 9562, 6.2, method 1: the 12 bits after the version count the ids of one millisecond, from a random beginning in their lower half. */
let count = 0;

const unused = { bytes: new Uint8Array(8_192), from: 8_192 };

/** A new id, for example `run_01jdb8tq5ke5ktbqrs4n1h9m0z`: above every one that this process has made, with 62 random bits. */
export function newId(prefix: IdPrefix): string {
  const random = randomBytes(13);
  const now = Date.now();
  if (now > millisecond) {
    setTime(now);
    count = ((random[12] ?? 0) << 3) | ((random[0] ?? 0) >> 5);
  } else if (++count > 0xfff) {
    setTime(millisecond + 1);
    count = 0;
  }
  // 4 bits of version (7), 12 of count, 2 of variant (binary 10), then what is random.
  let text = `${prefix}_${timeDigits}${digits[0b01110 | (count >> 11)]}${digit(count >> 6)}${digit(count >> 1)}`;
  text += digits[((count & 1) << 4) | 0b1000 | ((random[1] ?? 0) >> 6)];
  for (let place = 0; place < 12; place++) text += digit(random[place] ?? 0);
  return text;
}

/** Of the lowest five bits. */
function digit(bits: number): string {
  return digits[bits & 31] ?? "";
}

function setTime(time: number): void {
  millisecond = time;
  timeDigits = digitsOf(time);
}

/** Asked of the system in larger pieces: one request costs more than the rest of an id. */
function randomBytes(length: number): Uint8Array {
  if (unused.from + length > unused.bytes.length) {
    randomFillSync(unused.bytes);
    unused.from = 0;
  }
  unused.from += length;
  return unused.bytes.subarray(unused.from - length, unused.from);
}

/** The ten digits of 48 bits. */
function digitsOf(time: number): string {
  let rest = time;
  let text = "";
  for (let place = 0; place < 10; place++) {
    text = `${digits[rest % 32]}${text}`;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** Below every id made at `time` or later, and above every one made before: a range of time is a range of ids. */
export function lowestIdAt(prefix: IdPrefix, time: Date): string {
  return `${prefix}_${digitsOf(Math.max(0, time.getTime()))}${"0".repeat(16)}`;
}
