import { chmod, chown, open, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Placement } from "../placement/index.ts";
import { syncFolder } from "../sync-folder.ts";

/**
 * Writes `pg_hba.conf` at every startup. In production it has two lines:
 * - Role `beckon` can connect to database `beckon` over the socket without a password, because the
 *   socket's folder has mode 0700.
 * - The superuser can open replication connections over the socket, for backups. Such a connection
 *   cannot execute SQL. It gives access only to files that every user who can enter the socket's
 *   folder can read anyway.
 *
 * Rejected: `peer`, which does not work in a user namespace, and could not distinguish the servers
 * from other processes of the user who runs the supervisor.
 * @param options `everyone`: all roles can connect to all databases, and also over 127.0.0.1 with a
 *   password. Only tests set it.
 */
export async function writeAccessRules(
  placement: Placement,
  cluster: string,
  { everyone }: { everyone: boolean },
): Promise<void> {
  const lines = everyone
    ? ["local all all trust", "host all all 127.0.0.1/32 scram-sha-256", replication]
    : ["local beckon beckon trust", replication];
  const path = join(cluster, "pg_hba.conf");
  const file = await open(`${path}.new`, "w", 0o600);
  try {
    await file.writeFile(`${lines.join("\n")}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  if (placement.owner !== undefined)
    await chown(`${path}.new`, placement.owner.uid, placement.owner.gid);
  await rename(`${path}.new`, path);
  await syncFolder(cluster);
}

/** Replication needs its own line, because the database keyword `all` does not match it. */
const replication = "local replication postgres trust";

/** The access of group and others with which PostgreSQL does not start. */
const rejectedAccess = 0o027;

/**
 * Takes the access to the cluster's folder from other users if PostgreSQL would not start because
 * of it. Copies of files can widen the mode, and so does Kubernetes for the group of `fsGroup`.
 */
export async function denyOtherUsers(cluster: string): Promise<void> {
  // Not changed otherwise, because some file systems have fixed modes.
  if (((await stat(cluster)).mode & rejectedAccess) !== 0) await chmod(cluster, 0o700);
}
