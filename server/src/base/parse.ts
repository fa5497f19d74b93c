import type { z } from "zod";
import { Refusal } from "./errors.ts";

/**
 * `value` as the schema describes it. A body that a door could not read arrives as the refusal it deserves, which is given here:
 * when the body's turn comes, after credential, resource and idempotency.
 * @throws Refusal `bad_request` that names every member at fault, unknown ones too, and what each may be.
 */
export function parse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  if (value instanceof Refusal) throw value;
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
