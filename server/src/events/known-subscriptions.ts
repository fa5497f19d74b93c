import type { Database } from "../base/database/index.ts";
import { readSomeSubscriptions } from "./store.ts";

/**
 * Whether any workspace has a subscription, as far as this process knows. While none is known, the
 * statements that write events of runs (`sendStarts`, `appendToRuns`) are sent in a variant that
 * cannot write deliveries and therefore costs less. If this variant finds a subscription, it writes
 * nothing, and the statement is sent again in the variant that writes deliveries. So an outdated
 * value loses no delivery.
 */
export class KnownSubscriptions {
  some = false;

  /** Reads `some` from the database. It becomes false if the last subscription was deleted. */
  async refresh(database: Pick<Database, "engine">): Promise<void> {
    this.some = await readSomeSubscriptions(database);
  }
}
