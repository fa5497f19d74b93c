import type { Database } from "../base/database/index.ts";
import { readSomeSubscriptions } from "./store.ts";

/**
 * Whether any workspace has a subscription, as far as this process knows. While none is known, the
 * statements of every run are sent in a variant that cannot write deliveries and therefore costs
 * less. This variant queries the subscriptions itself and writes nothing if there is one, so an
 * outdated value costs time and no delivery.
 */
export class KnownSubscriptions {
  some = false;

  /** Reads whether there is a subscription, so that deleting the last one is noticed, too. */
  async refresh(database: Pick<Database, "engine">): Promise<void> {
    this.some = await readSomeSubscriptions(database);
  }
}
