import type { SecretBinding } from "../base/secrets/index.ts";
import type { Subject } from "./store.ts";

/** What a token is sealed to: its own row, so that not even the predecessor of the same agent or trigger can stand in its place. */
export function placeOfToken({
  workspaceId,
  subject,
  hash,
}: {
  workspaceId: string;
  subject: Subject;
  hash: Buffer;
}): SecretBinding {
  return {
    workspaceId,
    kind: "token",
    row: `${subject.triggerId ?? subject.agentId} ${hash.toString("hex")}`,
    remedy: "It still works where it is used; rotate it to get a new one that can be shown.",
  };
}
