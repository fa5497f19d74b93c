/** Result of verifying a request. `reason` says what was wrong and what to do, without secrets. */
export type VerificationResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: string };

/** The secrets that are valid now. While a secret is rotated, there are two. */
export interface ValidSecrets {
  readonly current: string | null;
  /** null unless the previous secret is still accepted. */
  readonly previous: string | null;
}

export const verified: VerificationResult = { ok: true };

export function rejected(reason: string): VerificationResult {
  return { ok: false, reason };
}
