import { type FieldPath, get, useFormContext } from "react-hook-form";
import { messageOf } from "../../../data/index.ts";
import type { ToolValues } from "./tool-values.ts";

/** Returns the form of a tool, with a function that returns the error message of a field. */
export function useMessageAt() {
  const form = useFormContext<ToolValues>();
  const { errors } = form.formState;
  return {
    ...form,
    messageAt: (path: FieldPath<ToolValues> | `${string}.root`): string | undefined =>
      messageOf(get(errors, path) as { readonly message?: string } | undefined),
  };
}
