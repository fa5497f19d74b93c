import type { Answer } from "./beckon.ts";

/**
 * Sends a request until it gets another response than 503. Requests of one workspace take turns, so
 * the last of many at once can get 503 on a busy machine. As with each 503 that has `Retry-After`,
 * nothing was done then.
 */
export async function repeatUnavailable(send: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await send();
    if (answer.status !== 503) return answer;
    if (answer.headers.get("retry-after") === null) throw new Error("503 without Retry-After");
  }
}
