import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ApiError } from "../errors.ts";
import { createSecretCipher, parseMasterKey, type SecretBinding } from "./secret-cipher.ts";

const place: SecretBinding = {
  workspaceId: "wsp_1",
  kind: "token",
  row: "agt_1",
  remedy: "Rotate it.",
};
const cipher = createSecretCipher(randomBytes(32));

/** What opening it says. */
function refusalOf(sealed: string, at = place, by = cipher): ApiError {
  try {
    const opened = by.decrypt(sealed, at);
    throw new Error(`it opened: ${opened}`);
  } catch (thrown) {
    if (thrown instanceof ApiError) return thrown;
    throw thrown;
  }
}

test("what was sealed opens in its place, whatever it is", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme" }),
      (secret) => cipher.decrypt(cipher.encrypt(secret, place), place) === secret,
    ),
  );
});

test("a sealed text names its version and its key, hides the secret, and is never the same twice", () => {
  const sealed = cipher.encrypt("the secret", place);
  expect(sealed).toMatch(/^v1\.[0-9a-f]{8}\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]{35}$/);
  expect(Buffer.from(sealed.split(".")[3] ?? "", "base64url").includes("the secret")).toBe(false);
  expect(cipher.encrypt("the secret", place)).not.toBe(sealed);
});

test("a sealed text that was moved to another workspace, kind or row does not open", () => {
  const sealed = cipher.encrypt("secret", place);
  for (const elsewhere of [{ workspaceId: "wsp_2" }, { kind: "provider key" }, { row: "agt_2" }]) {
    expect(refusalOf(sealed, { ...place, ...elsewhere }).code).toBe("secret_unreadable");
  }
  // Members cannot lend characters to their neighbours.
  const tricky = cipher.encrypt("secret", { ...place, workspaceId: "a", kind: 'b","c', row: "d" });
  expect(refusalOf(tricky, { ...place, workspaceId: "a", kind: "b", row: 'c","d' }).code).toBe(
    "secret_unreadable",
  );
});

test("another master key does not open it, and the refusal names the remedy and not the secret", () => {
  const refusal = refusalOf(createSecretCipher(randomBytes(32)).encrypt("secret", place));
  expect(refusal.code).toBe("secret_unreadable");
  expect(refusal.message).toMatch(/token .*another master key.*rotate/i);
  expect(refusal.message).not.toContain("secret ");
});

test("a sealed text with any bit changed does not open", () => {
  const parts = cipher.encrypt("secret", place).split(".");
  for (const part of [2, 3]) {
    const bytes = Buffer.from(parts[part] ?? "", "base64url");
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(refusalOf(parts.with(part, changed.toString("base64url")).join(".")).code).toBe(
        "secret_unreadable",
      );
    }
  }
});

test("a sealed text that was cut short or added to does not open", () => {
  const sealed = cipher.encrypt("secret", place);
  const [version, key, nonce, text = ""] = sealed.split(".");
  const bytes = Buffer.from(text, "base64url");
  for (let length = 0; length < bytes.length; length++) {
    const cut = bytes.subarray(0, length).toString("base64url");
    expect(refusalOf([version, key, nonce, cut].join(".")).code).toBe("secret_unreadable");
  }
  for (const other of [
    "",
    "v1",
    "....",
    `${sealed}.more`,
    sealed.replace("v1", "v2"),
    "plain text",
  ]) {
    expect(refusalOf(other).code).toBe("secret_unreadable");
  }
});

test("a shortened tag, which would be easy to guess, is not accepted", () => {
  // An empty secret is all tag; its first bytes are a valid shorter one.
  const [version, key, nonce, tag = ""] = cipher.encrypt("", place).split(".");
  for (const length of [4, 8, 12, 15]) {
    const short = Buffer.from(tag, "base64url").subarray(0, length).toString("base64url");
    expect(refusalOf([version, key, nonce, short].join(".")).code).toBe("secret_unreadable");
  }
});

test("a master key is read from hex and from base64, padded or not", () => {
  const key = randomBytes(32);
  for (const text of [
    key.toString("hex"),
    key.toString("hex").toUpperCase(),
    key.toString("base64"),
    key.toString("base64").replace("=", ""),
  ]) {
    expect(parseMasterKey(text)).toEqual(key);
  }
  expect(() => createSecretCipher(parseMasterKey("too short"))).toThrow("32 bytes");
});
