import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { ConfigError } from "../errors.ts";
import { checkMasterKey } from "./check-master-key.ts";
import { createSecretCipher } from "./secret-cipher.ts";

/**
 * Returns a fake database that contains only the row of the table `installation`. An update keeps
 * the check value if one is stored.
 */
function installation() {
  const row: { master_key_check: string | null } = { master_key_check: null };
  return {
    row,
    async query<Row extends object>(
      text: string,
      values: unknown[] = [],
    ): Promise<{ rows: Row[] }> {
      if (text.startsWith("update")) row.master_key_check ??= String(values[0]);
      return { rows: [row as Row] };
    },
  };
}

test("the first startup stores a check value, and the same key passes it later", async () => {
  const database = installation();
  const key = randomBytes(32);
  await checkMasterKey(database, createSecretCipher(key));
  const kept = database.row.master_key_check;
  expect(kept).toMatch(/^v1\./);
  await checkMasterKey(database, createSecretCipher(key));
  expect(database.row.master_key_check).toBe(kept);
});

test("another key is rejected with a way to fix it, and changes nothing", async () => {
  const database = installation();
  const key = randomBytes(32);
  await checkMasterKey(database, createSecretCipher(key));
  const kept = database.row.master_key_check;
  const rejected = checkMasterKey(database, createSecretCipher(randomBytes(32)));
  await expect(rejected).rejects.toBeInstanceOf(ConfigError);
  await expect(rejected).rejects.toThrow(
    /Start with that key: BECKON_MASTER_KEY, or the file master\.key.*BECKON_MASTER_KEY_PREVIOUS.*BECKON_MASTER_KEY_LOST=1/,
  );
  expect(database.row.master_key_check).toBe(kept);
  await checkMasterKey(database, createSecretCipher(key));
});
