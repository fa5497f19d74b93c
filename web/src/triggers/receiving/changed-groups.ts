import { isEqual } from "../../ui/index.ts";
import type { Draft } from "./draft.ts";

/** The groups of the settings form and their settings, in the form's order. */
const groups: Readonly<Record<string, readonly (keyof Draft)[]>> = {
  Sender: ["isDefault", "preset"],
  "Prompt prefix": ["promptPrefix"],
  "Message template": ["template"],
  "Headers and query": ["headers", "query"],
  Filter: ["filter"],
  Verification: [
    "kind",
    "header",
    "prefix",
    "algorithm",
    "encoding",
    "form",
    "signed",
    "timestampAt",
    "timestamp",
    "idHeader",
    "tolerance",
    "secretEncoding",
    "handshake",
    "addresses",
  ],
  "Event id and type": ["eventId", "eventIdDays", "eventType"],
  "Bodies and limits": ["multipart", "xml", "ndjson", "csv", "gzip", "maxKib", "maxPerMinute"],
  "While paused or disabled": ["whenPaused", "whenDisabled"],
  "Web forms": ["origins", "honeypot", "answer", "redirect", "text"],
};

/** Returns the names of the groups with unsaved changes. */
export function changedGroups(saved: Draft, draft: Draft): string[] {
  return Object.entries(groups)
    .filter(([, settings]) => settings.some((name) => !isEqual(saved[name], draft[name])))
    .map(([name]) => name);
}
