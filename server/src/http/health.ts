import type { Services } from "./services.ts";

/** Whether this process can take work: the database answers, and room is not exhausted. */
export async function isReady({ database }: Services): Promise<boolean> {
  try {
    await database.engine.query("select from installation");
    return true;
  } catch {
    return false;
  }
}
