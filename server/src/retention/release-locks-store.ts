import {
  type Database,
  isCancelled,
  type QueryConfig,
  type QueryResultRow,
} from "../base/database/index.ts";
import type { Queryable } from "./kinds.ts";

/**
 * Returns the engine's connections with a `query` that rejects only when the locks of a cancelled
 * statement are released. PostgreSQL reports the error before that: a smaller batch on another
 * connection would find the rows locked, skip them, and leave them to the next pass.
 */
export function releasingLocks(engine: Pick<Database["engine"], "connect">): Queryable {
  return {
    async query<R extends QueryResultRow>(statement: QueryConfig) {
      const client = await engine.connect();
      let isUsable = true;
      try {
        return await client.query<R>(statement);
      } catch (thrown) {
        // PostgreSQL answers, or closes the connection after `transaction_timeout`, only once the
        // transaction of the cancelled statement has ended.
        const answers = () =>
          client.query("select").then(
            () => true,
            () => false,
          );
        isUsable = isCancelled(thrown) && (await answers());
        throw thrown;
      } finally {
        client.release(!isUsable);
      }
    },
  };
}
