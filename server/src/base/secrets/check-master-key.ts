import { ConfigError } from "../errors.ts";
import type { Sealer } from "./sealer.ts";

const place = { workspaceId: "*", kind: "check value", row: "installation" };

interface Queryable {
  query<Row extends object>(text: string, values?: unknown[]): Promise<{ rows: Row[] }>;
}

/**
 * Compares the master key with the one this database was first started with, by a check value sealed then.
 * @throws ConfigError with the remedy: with a wrong key everything sealed would be unreadable, which is better learnt at the start.
 */
export async function checkMasterKey(client: Queryable, sealer: Sealer): Promise<void> {
  await client.query("update installation set master_key_check = $1 where master_key_check is null", [sealer.seal("beckon", place)]);
  const { rows } = await client.query<{ master_key_check: string }>("select master_key_check from installation");
  try {
    sealer.open(rows[0]?.master_key_check ?? "", place);
  } catch {
    throw new ConfigError(
      "The master key is not the one this database was sealed with. Start with the key of its first start: " +
        "BECKON_MASTER_KEY, or the file master.key of its data folder.",
    );
  }
}
