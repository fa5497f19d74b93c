import { chown, open, rename } from "node:fs/promises";
import { join } from "node:path";
import type { Placement } from "./placement.ts";
import { syncFolder } from "./sync-folder.ts";

/** Who may connect, and how, beside the role `beckon` on its own database. Both are for tests. */
export interface Access {
  /** Any role on any database over the socket, the superuser too. */
  readonly everyone: boolean;
  /** Any role with a password on 127.0.0.1. */
  readonly tcp: boolean;
}

/**
 * Writes `pg_hba.conf` anew at every start. In production it has one line: `beckon` on `beckon` over the socket, trusted because
 * the socket's folder is 0700. Rejected: `peer`, which a user namespace confuses and which would tell apart nobody, since the
 * servers run as the supervisor's user.
 */
export async function writeAccessRules(placement: Placement, cluster: string, { everyone, tcp }: Access): Promise<void> {
  const lines = [everyone ? "local all all trust" : "local beckon beckon trust"];
  if (tcp) lines.push("host all all 127.0.0.1/32 scram-sha-256");
  const path = join(cluster, "pg_hba.conf");
  const file = await open(`${path}.new`, "w", 0o600);
  try {
    await file.writeFile(`${lines.join("\n")}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  if (placement.owner !== undefined) await chown(`${path}.new`, placement.owner.uid, placement.owner.gid);
  await rename(`${path}.new`, path);
  await syncFolder(cluster);
}
