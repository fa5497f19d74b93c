import { mayStart, type StartRequest } from "../runs/index.ts";
import type { Services } from "./services.ts";

/** Credentials that the gate has accepted before, by hash in hex; beyond this the oldest is forgotten. */
const maxHints = 50_000;

/**
 * Lets a body be read before the gate has judged the credential: from a known one at once, from another after asking. That is all a hint
 * permits; the gate judges each start anew, so a hint that has outlived its credential opens nothing. Refusals are never remembered.
 */
export interface Hints {
  /** @throws Refusal of the gate, for a credential that does not stand. */
  permitBody(request: Pick<StartRequest, "door" | "credentialHash" | "member" | "agentId">): Promise<void>;
  forget(credentialHash: Buffer): void;
}

export function createHints(services: Pick<Services, "runtime">): Hints {
  const known = new Set<string>();
  return {
    async permitBody(request) {
      const hint = request.credentialHash.toString("hex");
      if (known.has(hint)) return;
      await mayStart(services.runtime, request);
      for (const oldest of known) {
        if (known.size < maxHints) break;
        known.delete(oldest);
      }
      known.add(hint);
    },
    forget: (credentialHash) => known.delete(credentialHash.toString("hex")),
  };
}
