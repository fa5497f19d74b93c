import { LRUCache } from "lru-cache";
import { type Database, inWorkspace } from "../base/database/index.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { hashCredential } from "../base/secrets/index.ts";
import { noteUse } from "./secret-store.ts";

/** Updates `last_used_at` of keys, at most once a minute per key. */
export interface KeyUse {
  /**
   * Records that a valid key was used now. Returns at once and writes later. If the write fails,
   * `last_used_at` keeps its older value.
   */
  note(use: { workspaceId: string; credential: string }): void;
}

const intervalMs = 60_000;
/**
 * Maximum number of secrets that are remembered, each for a minute after its use was noted. If the
 * cache drops one earlier, the next use of this secret executes the update again. The update then
 * changes no row, because `last_used_at` is less than a minute old.
 */
const maxSecrets = 10_000;

/** Creates the recorder of key uses. Failed updates are logged at level `debug`. */
export function createKeyUse(database: Database, log: Log): KeyUse {
  const recentlyNoted = new LRUCache<string, true>({ max: maxSecrets, ttl: intervalMs });
  return {
    note({ workspaceId, credential }) {
      const hash = hashCredential(credential);
      const secret = hash.toString("hex");
      if (recentlyNoted.has(secret)) return;
      recentlyNoted.set(secret, true);
      inWorkspace(database.tenant, workspaceId, (tx) => noteUse(tx, hash)).catch((thrown) => {
        recentlyNoted.delete(secret);
        log.write("last_used_at of a key was not updated", { reason: messageOf(thrown) });
      });
    },
  };
}
