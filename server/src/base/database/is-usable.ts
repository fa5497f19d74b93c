import { within } from "../clock.ts";
import type { Database } from "./connect.ts";

/** A probe is promised an answer in 3 s; the rest is for a busy machine. */
const maxWaitMs = 1_500;

/** A query of its own limit, since a connection that hangs must not be given to the next probe. */
const question = { text: "select from installation", query_timeout: maxWaitMs };

const asked = new WeakMap<Database, Promise<boolean>>();

/**
 * Whether the database answers in time and has our schema. Those who ask at once share one query. It takes a connection of the
 * engine's pool and not one of its own: a process whose connections all hang can start nothing.
 */
export function isUsable(database: Database): Promise<boolean> {
  let answer = asked.get(database);
  if (answer === undefined) {
    answer = ask(database).finally(() => asked.delete(database));
    asked.set(database, answer);
  }
  return answer;
}

async function ask({ engine }: Database): Promise<boolean> {
  try {
    await within(
      engine.query(question),
      maxWaitMs,
      () => new Error("the database did not answer in time"),
    );
    return true;
  } catch {
    return false;
  }
}
