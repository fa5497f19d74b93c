import { ApiError } from "../base/errors.ts";
import { networkOf } from "../credentials/index.ts";

/**
 * Maximum number of scrypt hashes that are computed at the same time, and maximum number of
 * requests that wait for a hash. A hash takes 32 MiB and tens of milliseconds of a core in Node's
 * thread pool. While the queue is full, further requests are rejected, so a flood of sign-ins slows
 * down only sign-ins.
 */
const maxConcurrent = 2;
const maxWaiting = 40;
/** Maximum hashes of one network that are computed or wait, so that it leaves room for others. */
const maxOfNetwork = 12;

/** Loads the library when the first password is hashed, because few processes ever hash one. */
const library = () => import("better-auth/crypto");

let running = 0;
const waiting: (() => void)[] = [];
/** Number of hashes that are computed or wait, by network. */
const ofNetworks = new Map<string, number>();

/**
 * Hashes a password with scrypt.
 * @param address IP address of the client.
 * @throws ApiError `unavailable` if the queue is full.
 */
export function hashPassword(password: string, address: string): Promise<string> {
  return withConcurrencyLimit(address, async () => (await library()).hashPassword(password));
}

/**
 * Returns whether the hash is that of the password.
 * @throws ApiError `unavailable` if the queue is full.
 */
export function verifyPassword(
  given: { hash: string; password: string },
  address: string,
): Promise<boolean> {
  return withConcurrencyLimit(address, async () => (await library()).verifyPassword(given));
}

/** A well-formed hash that matches no password. */
const noHash = `${"0".repeat(32)}:${"0".repeat(128)}`;

/**
 * Returns the index of the first hash that matches the password, or -1. Always makes `count`
 * comparisons, so that the response time does not reveal the number of hashes.
 * @throws ApiError `unavailable` if the queue is full.
 */
export function matchPassword(
  hashes: readonly (string | null)[],
  { password, count, address }: { password: string; count: number; address: string },
): Promise<number> {
  return withConcurrencyLimit(address, async () => {
    const { verifyPassword } = await library();
    let match = -1;
    for (let index = 0; index < count; index++) {
      const isPassword = await verifyPassword({ hash: hashes[index] ?? noHash, password });
      if (isPassword && match === -1) match = index;
    }
    return match;
  });
}

async function withConcurrencyLimit<T>(address: string, work: () => Promise<T>): Promise<T> {
  const network = networkOf(address);
  const ofNetwork = ofNetworks.get(network) ?? 0;
  if (waiting.length >= maxWaiting || ofNetwork >= maxOfNetwork) throw tooMany();
  ofNetworks.set(network, ofNetwork + 1);
  if (running >= maxConcurrent) await new Promise<void>((resolve) => waiting.push(resolve));
  else running++;
  try {
    return await work();
  } finally {
    const left = (ofNetworks.get(network) ?? 1) - 1;
    if (left === 0) ofNetworks.delete(network);
    else ofNetworks.set(network, left);
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}

function tooMany(): ApiError {
  return new ApiError(
    "unavailable",
    "Too many sign-ins are in progress. Nothing was changed; try again after one second.",
    { retryAfter: 1 },
  );
}
