import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { testDatabase } from "../test/database.ts";
import { ConfigError } from "./base/errors.ts";
import { checkMasterKey, createSecretCipher } from "./base/secrets/index.ts";
import { newMasterKey } from "./new-master-key.ts";

const encrypted = await testDatabase();
const key = randomBytes(32);
await checkMasterKey(encrypted.database.engine, createSecretCipher(key));

/** Returns the bytes of a new master key for the database. */
async function bytesOf(url: string, own: { previous?: Buffer; lost?: boolean } = {}) {
  const { previous, lost = false } = own;
  const settings = { previousMasterKey: previous?.toString("base64"), masterKeyLost: lost };
  const made = await newMasterKey("/data/master.key", url, { ...settings, trustStorage: true });
  return Buffer.from(made, "base64").length;
}

test("a database that no key has encrypted gets one, also if its migrations are not complete", async () => {
  const empty = await testDatabase({ empty: true });
  const unencrypted = await testDatabase();
  for (const { url } of [empty, unencrypted]) expect(await bytesOf(url)).toBe(32);
});

test("an encrypted database gets none, so that nothing hides that its key is missing", async () => {
  for (const own of [{}, { previous: randomBytes(32) }]) {
    const refused = bytesOf(encrypted.url, own);
    await expect(refused).rejects.toBeInstanceOf(ConfigError);
    await expect(refused).rejects.toThrow(
      /^The master key is missing: \/data\/master\.key does not exist.*BECKON_MASTER_KEY_LOST=1/,
    );
  }
});

test("an encrypted database gets one if the settings contain its key, or say that it is lost", async () => {
  expect(await bytesOf(encrypted.url, { previous: key })).toBe(32);
  expect(await bytesOf(encrypted.url, { lost: true })).toBe(32);
});
