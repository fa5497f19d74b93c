import type { IncomingMessage } from "node:http";
import { hashCredential } from "../../base/secrets/index.ts";
import type { StreamCredential } from "../../credentials/index.ts";
import { headerOf } from "../request/index.ts";
import type { Authenticated } from "./authenticate.ts";

/**
 * Returns the kind and id of the credential of a request. The server checks this credential
 * repeatedly while it sends a stream, a file or JSON Lines.
 */
export function streamCredentialOf(
  { actor, sessionId }: Authenticated,
  incoming: IncomingMessage,
): Pick<StreamCredential, "kind" | "id"> {
  switch (actor.kind) {
    case "token":
    case "key":
      return {
        kind: actor.kind,
        id: credentialId(hashCredential(headerOf(incoming, "x-api-key") ?? "")),
      };
    case "user":
      if (sessionId === undefined) throw new Error("a member has a session");
      return { kind: "session", id: sessionId };
    case "system":
      throw new Error("the system does not use HTTP");
  }
}

/** Returns the id of a credential in the registry of open streams: its hash in hexadecimal. */
export function credentialId(hash: Buffer): string {
  return hash.toString("hex");
}
