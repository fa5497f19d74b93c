import { mayStart, type StartRequest } from "../runs/index.ts";
import type { Services } from "./services.ts";

/** Credentials that the gate has accepted before, by hash in hex; beyond this the oldest is forgotten. */
const maxHints = 50_000;

/**
 * Lets a body be read before the gate has judged the credential: from a known one at once, from another after asking. That is all a hint
 * permits; the gate judges each start anew, so a hint that has outlived its credential opens nothing. Refusals are never remembered.
 */
export interface Hints {
  /** Whether a body may be read without asking. */
  has(credentialHash: Buffer): boolean;
  /** Asks the gate. @throws Refusal of it, for a credential that does not stand. */
  ask(request: Pick<StartRequest, "door" | "credentialHash" | "member" | "agentId">): Promise<void>;
  forget(credentialHash: Buffer): void;
}

export function createHints(services: Pick<Services, "runtime">): Hints {
  const known = new Set<string>();
  return {
    has: (credentialHash) => known.has(credentialHash.toString("hex")),
    async ask(request) {
      await mayStart(services.runtime, request);
      for (const oldest of known) {
        if (known.size < maxHints) break;
        known.delete(oldest);
      }
      known.add(request.credentialHash.toString("hex"));
    },
    forget: (credentialHash) => known.delete(credentialHash.toString("hex")),
  };
}
