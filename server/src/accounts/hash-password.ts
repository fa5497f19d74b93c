import * as library from "better-auth/crypto";
import { ApiError } from "../base/errors.ts";

/**
 * scrypt in Node's threads, so that the main loop goes on. One hash takes 32 MiB and some tens of milliseconds of a core: of what asks
 * at the same time two are computed and some wait, and the rest is told to come again. A flood of sign-ins slows sign-ins only.
 */
const maxAtOnce = 2;
const maxWaiting = 40;

let running = 0;
const waiting: (() => void)[] = [];

/** @throws ApiError `unavailable` when too many ask at once. */
export function hashPassword(password: string): Promise<string> {
  return inTurn(() => library.hashPassword(password));
}

/** @throws ApiError `unavailable` when too many ask at once. */
export function verifyPassword(given: { hash: string; password: string }): Promise<boolean> {
  return inTurn(() => library.verifyPassword(given));
}

/** Has the form of a hash and is that of no password. */
const noHash = `${"0".repeat(32)}:${"0".repeat(128)}`;

/**
 * Returns the index of the first of `hashes` that is this password's, or -1. It takes the time of
 * `count` comparisons, however many hashes there are and whichever one matches.
 * @throws ApiError `unavailable` when too many ask at once.
 */
export function matchPassword(
  hashes: readonly (string | null)[],
  { password, count }: { password: string; count: number },
): Promise<number> {
  return inTurn(async () => {
    let match = -1;
    for (let index = 0; index < count; index++) {
      const isPassword = await library.verifyPassword({ hash: hashes[index] ?? noHash, password });
      if (isPassword && match === -1) match = index;
    }
    return match;
  });
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (waiting.length >= maxWaiting) throw tooMany();
  if (running >= maxAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
  else running++;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}

function tooMany(): ApiError {
  return new ApiError(
    "unavailable",
    "Too many people sign in at this moment. Nothing was done; try again shortly.",
    { retryAfter: 1 },
  );
}
