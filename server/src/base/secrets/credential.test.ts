import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type CredentialPrefix,
  hashCredential,
  isCredential,
  newCredential,
} from "./credential.ts";

const prefixes: readonly CredentialPrefix[] = ["bka_", "bkt_", "bkw_"];

test.each(prefixes)("a new %s credential is valid, only as its kind, and unique", (prefix) => {
  const made = new Set(Array.from({ length: 100 }, () => newCredential(prefix)));
  expect(made.size).toBe(100);
  for (const credential of made) {
    expect(credential).toMatch(new RegExp(`^${prefix}[A-Za-z0-9_-]{48}$`));
    for (const other of prefixes) expect(isCredential(other, credential)).toBe(other === prefix);
  }
});

test("a credential with one changed character is invalid", () => {
  const credential = newCredential("bka_");
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  fc.assert(
    fc.property(fc.integer({ min: 4, max: 51 }), fc.constantFrom(...alphabet), (at, letter) => {
      const changed = credential.slice(0, at) + letter + credential.slice(at + 1);
      expect(isCredential("bka_", changed)).toBe(letter === credential[at]);
    }),
  );
});

test("a credential is invalid with the prefix of another kind", () => {
  expect(isCredential("bkw_", newCredential("bka_").replace("bka_", "bkw_"))).toBe(false);
});

test("malformed texts are no credentials", () => {
  const credential = newCredential("bka_");
  for (const text of [
    "",
    "bka_",
    credential.slice(0, -1),
    `${credential}A`,
    ` ${credential}`,
    `${credential}\n`,
    credential.replace(/.$/, "="),
  ]) {
    expect(isCredential("bka_", text)).toBe(false);
  }
  fc.assert(fc.property(fc.string(), (text) => isCredential("bka_", `bka_${text}`) === false));
});

test("the stored hash is the SHA-256 of the whole text", () => {
  expect(hashCredential("abc").toString("hex")).toBe(
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
});
