import type { UseFormRegisterReturn } from "react-hook-form";
import { reasonWithout, useWorkspace } from "../../data/index.ts";
import { Checkbox } from "../../ui/index.ts";

/** The checkbox that marks a provider as free. */
export function FreeField({ input }: { readonly input: UseFormRegisterReturn }) {
  const { can } = useWorkspace();
  const reason = reasonWithout("limits:write", can);
  return (
    <Checkbox
      {...input}
      label="Calls cost nothing"
      disabled={reason !== undefined}
      hint={reason ?? "They count as $0, except those of models for which you set a price."}
    />
  );
}
