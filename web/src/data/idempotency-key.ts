import { newIdempotencyKey } from "@beckon/client";
import { useRef } from "react";
import { forgetKept, keep, keptKey, readKept } from "./storage/tab-storage.ts";

interface Attempt {
  readonly body: string;
  readonly key: string;
}

/**
 * Returns `keyOf`, which returns the same Idempotency-Key for the same body. If a form is sent
 * again after a lost response, the server does not execute the call a second time. A changed body
 * gets a new key. Call `release` after a success, so that a later form with equal values gets a new
 * key.
 */
export function useIdempotencyKey() {
  const attempt = useRef<Attempt>(undefined);
  return {
    keyOf(body: unknown): string {
      const text = JSON.stringify(body) ?? "";
      if (attempt.current?.body !== text)
        attempt.current = { body: text, key: newIdempotencyKey() };
      return attempt.current.key;
    },
    release() {
      attempt.current = undefined;
    },
  };
}

/** The attempts that could not be stored, because the storage is full. */
const unstored = new Map<string, string>();

/**
 * Returns where this tab keeps an attempt until `release` is called, also while another page is
 * open and over a reload.
 * @param userId id of the signed-in person
 * @param action what is done with which resource: `retry.run_1`
 */
export function storedAttempt(userId: string, action: string) {
  const key = keptKey("attempt", userId, action);
  return {
    read: () => readKept(key) ?? unstored.get(key),
    write(attempt: string) {
      if (!keep(key, attempt)) unstored.set(key, attempt);
    },
    release() {
      forgetKept(key);
      unstored.delete(key);
    },
  };
}

/**
 * Returns `keyOf` and `release` as `useIdempotencyKey` does. The attempt and the parameters
 * are those of `storedAttempt`.
 */
export function storedIdempotencyKey(userId: string, action: string) {
  const { read, write, release } = storedAttempt(userId, action);
  return {
    keyOf(body: unknown): string {
      const attempt = read() ?? newIdempotencyKey();
      write(attempt);
      return keyOfBody(attempt, body);
    },
    release,
  };
}

/**
 * Returns an Idempotency-Key, which is the same for the same attempt and the same body. To get the
 * same key after a reload, a page stores the attempt. It must not store the body, which can contain
 * secrets.
 * @param attempt a random key from `newIdempotencyKey`
 */
export function keyOfBody(attempt: string, body: unknown): string {
  // FNV-1a, because browsers offer `crypto.subtle` only on HTTPS and localhost.
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(JSON.stringify(body)))
    hash = Math.imul(hash ^ byte, 0x01000193);
  return `${attempt}-${(hash >>> 0).toString(16)}`;
}
