import { runLabels } from "@beckon/contract";
import { ApiError, attempt, type Result } from "../../base/errors.ts";
import { parse, requirePrintableAscii } from "../../base/parse.ts";
import type { RunLabels } from "./start-row.ts";

const externalIdHeader = "beckon-external-id";
const tagsHeader = "beckon-tags";

/** Names of the headers that label a run, in the format of `Access-Control-Allow-Headers`. */
export const labelHeaders = `${externalIdHeader}, ${tagsHeader}`;

const none: Result<undefined> = { ok: true, value: undefined };

/**
 * Returns the id and the tags that the caller gives the run; undefined if the request has neither
 * header. Values are percent-encoded UTF-8, like those of W3C Baggage. HTTP clients differ in how
 * they encode non-ASCII characters, so characters sent unencoded could be stored as different ones.
 * @param header returns the value of a header, by its name in lower case.
 */
export function readLabels(
  header: (name: string) => string | undefined,
): Result<RunLabels | undefined> {
  const externalId = header(externalIdHeader);
  const tags = header(tagsHeader);
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
