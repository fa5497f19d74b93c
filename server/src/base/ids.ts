import { typeid } from "typeid-js";

/** Prefix of each kind of id. An id is the prefix, `_`, and a UUIDv7 in base32 (TypeID 0.3): sortable by time of creation. */
export type IdPrefix = "agt" | "sec" | "run" | "trg" | "wsp" | "key" | "tok" | "prv" | "evt" | "art" | "cnv" | "prc" | "aud" | "req";

/** A new id, for example `run_01jdb8tq5ke5ktbqrs4n1h9m0z`. */
export function newId(prefix: IdPrefix): string {
  return typeid(prefix).toString();
}
