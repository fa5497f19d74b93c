import type { UseFormRegisterReturn } from "react-hook-form";
import { useWorkspace } from "../../data/index.ts";
import { Checkbox } from "../../ui/index.ts";

/** The checkbox that marks a provider as free. */
export function FreeField({ input }: { readonly input: UseFormRegisterReturn }) {
  const { whyNot } = useWorkspace();
  const reason = whyNot("limits:write");
  return (
    <Checkbox
      {...input}
      label="Calls cost nothing"
      disabled={reason !== undefined}
      hint={reason ?? "They count as $0, except those of models for which you set a price."}
    />
  );
}
