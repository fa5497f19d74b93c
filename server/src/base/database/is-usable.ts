import type { Database } from "./connect.ts";

/** Whether the database answers and has our schema. */
export async function isUsable(database: Database): Promise<boolean> {
  try {
    await database.engine.query("select from installation");
    return true;
  } catch {
    return false;
  }
}
