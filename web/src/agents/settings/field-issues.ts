import type { z } from "zod";
import { wording } from "../../data/form/form-messages.ts";

/** An error in a part of a JSON value. */
export interface FieldIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** True if the last part of the path is itself wrong, for example the name of a header. */
  readonly isKey: boolean;
}

/** Returns what the contract's schema rejects in a value, in words for people. */
export function fieldIssues(schema: z.ZodType, value: unknown): readonly FieldIssue[] {
  const { error } = schema.safeParse(value, {
    error: (issue) => {
      if (issue.code === "invalid_type" && issue.expected === "record")
        return "must be a JSON object";
      if (issue.code === "too_big" && issue.origin === "array")
        return `Use at most ${issue.maximum}.`;
      if (issue.code === "too_small" && issue.origin === "array") return "Add at least one.";
      return wording(issue);
    },
  });
  return (error?.issues ?? []).map((issue) => {
    const isKey = issue.code === "invalid_key";
    const message = isKey ? issue.issues[0]?.message : undefined;
    return { path: issue.path, message: message ?? issue.message, isKey };
  });
}
