import { typeidUnboxed } from "typeid-js";

/** Prefix of each kind of id. An id is the prefix, `_`, and a UUIDv7 in base32 (TypeID 0.3): sortable by time of creation. */
export type IdPrefix =
  | "agt"
  | "sec"
  | "run"
  | "trg"
  | "wsp"
  | "key"
  | "tok"
  | "prv"
  | "evt"
  | "art"
  | "cnv"
  | "prc"
  | "aud"
  | "req"
  | "usr"
  | "ses"
  | "acc"
  | "inv";

/** A new id, for example `run_01jdb8tq5ke5ktbqrs4n1h9m0z`. */
export function newId(prefix: IdPrefix): string {
  return typeidUnboxed(prefix);
}

const digits = "0123456789abcdefghjkmnpqrstvwxyz";

/** Below every id made at `time` or later, and above every one made before: a range of time is a range of ids. */
export function lowestIdAt(prefix: IdPrefix, time: Date): string {
  // The first ten digits hold a UUIDv7's 48 bits of milliseconds, the other sixteen what tells apart ids of one millisecond.
  let rest = Math.max(0, time.getTime());
  let text = "";
  for (let place = 0; place < 10; place++) {
    text = `${digits[rest % 32]}${text}`;
    rest = Math.floor(rest / 32);
  }
  return `${prefix}_${text}${"0".repeat(16)}`;
}
