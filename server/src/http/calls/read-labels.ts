import type { IncomingMessage } from "node:http";
import { runLabels } from "@beckon/contract";
import { ApiError, attempt, type Result } from "../../base/errors.ts";
import { parse } from "../../base/parse.ts";
import type { RunLabels } from "../../runs/index.ts";
import { headerOf } from "../request/index.ts";
import { requirePrintableAscii } from "./printable-ascii.ts";

const externalIdHeader = "beckon-external-id";
const tagsHeader = "beckon-tags";

/** Names of the headers that label a run, in the format of `Access-Control-Allow-Headers`. */
export const labelHeaders = `${externalIdHeader}, ${tagsHeader}`;

const none: Result<undefined> = { ok: true, value: undefined };

/**
 * Returns the id and the tags that the caller gives the run; undefined if the request has neither
 * header. Values are percent-encoded UTF-8, like those of W3C Baggage. HTTP clients differ in how
 * they encode non-ASCII characters, so characters sent unencoded could be stored as different ones.
 */
export function readLabels(incoming: IncomingMessage): Result<RunLabels | undefined> {
  const externalId = headerOf(incoming, externalIdHeader);
  const tags = headerOf(incoming, tagsHeader);
  if (externalId === undefined && tags === undefined) return none;
  return attempt(() => {
    const labels = parse(runLabels, {
      [externalIdHeader]:
        externalId === undefined ? undefined : decoded(externalIdHeader, externalId),
      [tagsHeader]: tags?.split(",").map((tag) => decoded(tagsHeader, tag)),
    });
    return { externalId: labels[externalIdHeader] ?? null, tags: labels[tagsHeader] ?? [] };
  });
}

function decoded(header: string, value: string): string {
  const trimmed = value.trim();
  requirePrintableAscii(header, trimmed);
  try {
    return decodeURIComponent(trimmed);
  } catch {
    throw new ApiError(
      "bad_request",
      `${header} is not percent-encoded UTF-8. Write a percent sign as %25.`,
    );
  }
}
