import { type FieldPath, get, useFormContext } from "react-hook-form";
import { messageOf } from "../../../data/index.ts";
import type { ToolValues } from "./tool-values.ts";

/** Returns the form of a tool, and the function that gives the error of one of its fields. */
export function useMessageAt() {
  const form = useFormContext<ToolValues>();
  const { errors } = form.formState;
  return {
    ...form,
    messageAt: (path: FieldPath<ToolValues> | `${string}.root`): string | undefined =>
      messageOf(get(errors, path) as { readonly message?: string } | undefined),
  };
}
