import { receiving, senderSecret, type Verification } from "@beckon/contract";
import { expect, test } from "vitest";
import { senders } from "../../test/senders.ts";
import { generateSenderSecret, presets, senderSecretMistake } from "./index.ts";

const hmac = (secret_encoding: string): Verification =>
  receiving.parse({
    verification: {
      kind: "hmac",
      header: "x-signature",
      algorithm: "sha256",
      encoding: "hex",
      signed: ["body"],
      secret_encoding,
    },
  }).verification;

test("a generated secret is new, can be entered, and fits the verification", () => {
  const verifications = [
    ...presets.map(({ receiving: { verification } }) => verification),
    ...["text", "hex", "base64", "whsec"].map(hmac),
  ];
  for (const verification of verifications) {
    const secret = generateSenderSecret(verification);
    expect(senderSecret.parse(secret)).toBe(secret);
    expect(senderSecretMistake(verification, secret)).toBeUndefined();
    expect(generateSenderSecret(verification)).not.toBe(secret);
    expect(secret.length).toBeGreaterThan(40);
  }
});

test("the secrets of the senders are accepted", () => {
  for (const { preset, secret } of senders) {
    const verification = presets.find(({ name }) => name === preset)?.receiving.verification;
    if (verification === undefined) throw new Error(preset);
    expect(senderSecretMistake(verification, secret)).toBeUndefined();
  }
});

test.each([
  [hmac("hex"), "abc", "must be hex"],
  [hmac("base64"), "a b", "must be base64"],
  [hmac("whsec"), "whsec_%", "must be base64, with or without whsec_ before it"],
  [hmac("whsec"), "whsec_", "must be base64, with or without whsec_ before it"],
  [{ kind: "basic" } as const, "user", "must be user and password, separated by a colon"],
])("a secret of another form is rejected", (verification, secret, message) => {
  expect(senderSecretMistake(verification, secret)).toBe(message);
});
