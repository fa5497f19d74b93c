import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readOrCreateSecret } from "./read-or-create-secret.ts";

function secretPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "beckon-secret-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, "a.key");
}

test("concurrent calls get the same secret, only its owner can read it, and no other file remains", async () => {
  const path = secretPath();
  let made = 0;
  const secrets = await Promise.all(
    Array.from({ length: 20 }, () => readOrCreateSecret(path, () => `secret ${++made}`)),
  );
  expect(new Set(secrets).size).toBe(1);
  expect(readFileSync(path, "utf8")).toBe(`${secrets[0]}\n`);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(path, ".."))).toEqual(["a.key"]);
});

test("a secret that cannot be created leaves no file", async () => {
  const path = secretPath();
  const make = () => {
    throw new Error("no entropy");
  };
  await expect(readOrCreateSecret(path, make)).rejects.toThrow("no entropy");
  expect(readdirSync(join(path, ".."))).toEqual([]);
});

test("an existing secret is never replaced, not even an empty file", async () => {
  const path = secretPath();
  writeFileSync(path, "mine");
  expect(await readOrCreateSecret(path, () => "another")).toBe("mine");
  writeFileSync(path, "\n");
  await expect(readOrCreateSecret(path, () => "another")).rejects.toThrow("is empty");
  expect(readFileSync(path, "utf8")).toBe("\n");
});
