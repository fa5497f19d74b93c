/**
 * Result of verifying a request. `reason` says what was wrong and what to do. It is sent and
 * stored, so it has no secret, no signature and at most 500 characters.
 */
export type VerificationResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: string };

/** The secrets that are valid now. While a secret is rotated, there are two. */
export interface ValidSecrets {
  readonly current: string | null;
  /** The secret from before the last rotation, while it is still accepted; else null. */
  readonly previous: string | null;
}

export const verified: VerificationResult = { ok: true };

export function rejected(reason: string): VerificationResult {
  return { ok: false, reason };
}
