import { type RawBuilder, sql } from "kysely";
import type { AccessibleAgents } from "./access.ts";

/** Returns the SQL condition that the agent in `column` is one of `agentIds`. */
export const isAccessible = (column: string, agentIds: AccessibleAgents): RawBuilder<boolean> =>
  agentIds === undefined ? sql`true` : sql`${sql.ref(column)} = any (${[...agentIds]}::text[])`;
