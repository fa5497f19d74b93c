import type { z } from "zod";
import { Refusal } from "./errors.ts";

/**
 * `value` as the schema describes it.
 * @throws Refusal `bad_request` that names every member at fault, unknown ones too, and what each may be.
 */
export function parse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.slice(0, 10).map((issue) => {
    const path = issue.path.map(String).join(".");
    if (issue.code === "unrecognized_keys") {
      const names = issue.keys.map((key) => [path, key].filter(Boolean).join("."));
      return `unknown member${names.length > 1 ? "s" : ""} ${names.join(", ")}`;
    }
    return path === "" ? issue.message : `${path}: ${issue.message}`;
  });
  throw new Refusal("bad_request", `${problems.join("; ")}.`);
}
