import { LRUCache } from "lru-cache";
import { type Database, inWorkspace } from "../base/database/index.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { hashCredential } from "../base/secrets/index.ts";
import { noteUse } from "./secret-store.ts";

/** Keeps `last_used_at` of keys, to the minute. */
export interface KeyUse {
  /** This credential, a key that stands, was used now. Returns at once: what it writes is on no request's path, and may be lost. */
  note(use: { workspaceId: string; credential: string }): void;
}

const intervalMs = 60_000;
/** Secrets remembered at once. Beyond that one is forgotten, which costs one more write. */
const maxSecrets = 10_000;

/** Records when keys were last used, to the minute and after the response. */
export function recordKeyUse(database: Database, log: Log): KeyUse {
  const noted = new LRUCache<string, true>({ max: maxSecrets, ttl: intervalMs });
  return {
    note({ workspaceId, credential }) {
      const hash = hashCredential(credential);
      const secret = hash.toString("hex");
      if (noted.has(secret)) return;
      noted.set(secret, true);
      inWorkspace(database.tenant, workspaceId, (tx) => noteUse(tx, hash)).catch((thrown) => {
        noted.delete(secret);
        log.debug({ reason: messageOf(thrown) }, "the use of a key was not noted");
      });
    },
  };
}
