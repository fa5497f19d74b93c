import { LRUCache } from "lru-cache";
import { unavailableIfLost } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { unauthorizedMessage } from "../../credentials/index.ts";
import { readTriggerOfToken, type TriggerOfToken } from "../../triggers/index.ts";
import { readDeadline } from "../request/index.ts";
import type { Services } from "../services.ts";

/**
 * Cache of the triggers whose tokens were valid at an earlier request, with their settings. A body
 * is read only if its trigger is in the cache or a query finds the token valid. Every outcome is
 * decided or confirmed by an SQL statement that checks the token and the version of the settings
 * again. A rotated token or outdated settings in the cache therefore have no effect. Rejected
 * tokens are not cached.
 */
export interface AdmittedTriggers {
  /** Returns the cached trigger; undefined if it is not in the cache. */
  get(tokenHash: Buffer): TriggerOfToken | undefined;
  /**
   * Reads the trigger from the database. The result is never older than the call.
   * @throws ApiError `unauthorized`; `unavailable` if the database does not reply in time
   */
  read(tokenHash: Buffer): Promise<TriggerOfToken>;
  forget(tokenHash: Buffer): void;
}

/**
 * Maximum number of triggers in the cache. When there are more, the least recently used one is
 * dropped, and queried again when needed.
 */
const maxTriggers = 50_000;
/** Maximum size of the cache, as `bytesOf` estimates it: settings can be large. */
const maxBytes = 64 * 1024 * 1024;

interface Reads {
  readonly current: Promise<TriggerOfToken>;
  /**
   * The read that begins when the current one has ended. It serves calls that came after the
   * current one began, because the result of the current one can be older than these calls.
   */
  next: Promise<TriggerOfToken> | undefined;
}

/** Creates the cache of admitted triggers of one process. */
export function createAdmittedTriggers(
  services: Pick<Services, "database" | "cipher">,
): AdmittedTriggers {
  const known = new LRUCache<string, TriggerOfToken>({
    max: maxTriggers,
    maxSize: maxBytes,
    sizeCalculation: bytesOf,
  });
  /**
   * Reads in progress, by token. However many requests need a trigger, it is read at most once at a
   * time.
   */
  const reads = new Map<string, Reads>();

  function start(id: string, tokenHash: Buffer): Promise<TriggerOfToken> {
    const entry: Reads = { current: readNow(tokenHash), next: undefined };
    reads.set(id, entry);
    return entry.current.finally(() => {
      if (entry.next === undefined) reads.delete(id);
    });
  }

  async function readNow(tokenHash: Buffer): Promise<TriggerOfToken> {
    const id = idOf(tokenHash);
    try {
      const trigger = await readDeadline().limit(readTriggerOfToken(services, tokenHash));
      if (trigger === undefined) throw new ApiError("unauthorized", unauthorizedMessage);
      known.set(id, trigger);
      return trigger;
    } catch (thrown) {
      known.delete(id);
      throw unavailableIfLost(thrown);
    }
  }

  return {
    get: (tokenHash) => known.get(idOf(tokenHash)),
    read(tokenHash) {
      const id = idOf(tokenHash);
      const running = reads.get(id);
      if (running === undefined) return start(id, tokenHash);
      const begin = () => start(id, tokenHash);
      running.next ??= running.current.then(begin, begin);
      return running.next;
    },
    forget: (tokenHash) => known.delete(idOf(tokenHash)),
  };
}

function idOf(tokenHash: Buffer): string {
  return tokenHash.toString("latin1");
}

/**
 * Estimates the memory of a trigger in the cache, in bytes: about 500 for its ids and secrets, and
 * four for each character of its settings as JSON, because objects take more memory than text.
 */
function bytesOf({ settings }: TriggerOfToken): number {
  return 500 + (settings === undefined ? 0 : 4 * JSON.stringify(settings.receiving).length);
}
