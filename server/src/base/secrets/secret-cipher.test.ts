import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ApiError } from "../errors.ts";
import { createSecretCipher, parseMasterKey, type SecretBinding } from "./secret-cipher.ts";

const binding: SecretBinding = {
  workspaceId: "wsp_1",
  kind: "token",
  row: "agt_1",
  remedy: "Rotate it.",
};
const cipher = createSecretCipher(randomBytes(32));

/** Returns the error of decrypting `encrypted`. */
function errorOf(encrypted: string, at = binding, by = cipher): ApiError {
  try {
    const decrypted = by.decrypt(encrypted, at);
    throw new Error(`it was decrypted: ${decrypted}`);
  } catch (thrown) {
    if (thrown instanceof ApiError) return thrown;
    throw thrown;
  }
}

test("a secret can be decrypted with its own binding, whatever it contains", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme" }),
      (secret) => cipher.decrypt(cipher.encrypt(secret, binding), binding) === secret,
    ),
  );
});

test("an encrypted text has version and key id, not the secret, and is never the same twice", () => {
  const encrypted = cipher.encrypt("the secret", binding);
  expect(encrypted).toMatch(/^v1\.[0-9a-f]{8}\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]{35}$/);
  expect(Buffer.from(encrypted.split(".")[3] ?? "", "base64url").includes("the secret")).toBe(
    false,
  );
  expect(cipher.encrypt("the secret", binding)).not.toBe(encrypted);
});

test("an encrypted text cannot be decrypted with another workspace, kind or row", () => {
  const encrypted = cipher.encrypt("secret", binding);
  for (const elsewhere of [{ workspaceId: "wsp_2" }, { kind: "provider key" }, { row: "agt_2" }]) {
    expect(errorOf(encrypted, { ...binding, ...elsewhere }).code).toBe("secret_unreadable");
  }
  // Quotes inside a part of the binding are escaped, so these two bindings differ.
  const tricky = cipher.encrypt("secret", {
    ...binding,
    workspaceId: "a",
    kind: 'b","c',
    row: "d",
  });
  expect(errorOf(tricky, { ...binding, workspaceId: "a", kind: "b", row: 'c","d' }).code).toBe(
    "secret_unreadable",
  );
});

test("another master key cannot decrypt it, and the error has the remedy and not the secret", () => {
  const error = errorOf(createSecretCipher(randomBytes(32)).encrypt("secret", binding));
  expect(error.code).toBe("secret_unreadable");
  expect(error.message).toMatch(/token .*another master key.*rotate/i);
  expect(error.message).not.toContain("secret ");
});

test("an encrypted text with any changed bit cannot be decrypted", () => {
  const parts = cipher.encrypt("secret", binding).split(".");
  for (const part of [2, 3]) {
    const bytes = Buffer.from(parts[part] ?? "", "base64url");
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(errorOf(parts.with(part, changed.toString("base64url")).join(".")).code).toBe(
        "secret_unreadable",
      );
    }
  }
});

test("a truncated or extended text cannot be decrypted", () => {
  const encrypted = cipher.encrypt("secret", binding);
  const [version, key, nonce, text = ""] = encrypted.split(".");
  const bytes = Buffer.from(text, "base64url");
  for (let length = 0; length < bytes.length; length++) {
    const cut = bytes.subarray(0, length).toString("base64url");
    expect(errorOf([version, key, nonce, cut].join(".")).code).toBe("secret_unreadable");
  }
  for (const other of [
    "",
    "v1",
    "....",
    `${encrypted}.more`,
    encrypted.replace("v1", "v2"),
    "plain text",
  ]) {
    expect(errorOf(other).code).toBe("secret_unreadable");
  }
});

test("a truncated tag, which would be easy to forge, is rejected", () => {
  // The ciphertext of an empty secret is only the tag. The first bytes of a GCM tag are a valid
  // shorter tag.
  const [version, key, nonce, tag = ""] = cipher.encrypt("", binding).split(".");
  for (const length of [4, 8, 12, 15]) {
    const short = Buffer.from(tag, "base64url").subarray(0, length).toString("base64url");
    expect(errorOf([version, key, nonce, short].join(".")).code).toBe("secret_unreadable");
  }
});

test("a master key is parsed from hex and from base64, with or without padding", () => {
  const key = randomBytes(32);
  for (const text of [
    key.toString("hex"),
    key.toString("hex").toUpperCase(),
    key.toString("base64"),
    key.toString("base64").replace("=", ""),
  ]) {
    expect(parseMasterKey(text)).toEqual(key);
  }
  expect(() => createSecretCipher(parseMasterKey("too short"))).toThrow(
    "has 6 bytes. It must have 32.",
  );
});
