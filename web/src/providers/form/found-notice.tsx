import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../../data/index.ts";
import { Banner } from "../../ui/index.ts";
import { modelsQuery } from "../queries.ts";
import type { ProviderPreset } from "./presets.ts";

/**
 * Explains that a model server need not be added, because Beckon has found it on the machine on
 * which Beckon runs. Renders nothing if Beckon has not found it.
 */
export function FoundNotice({ preset }: { readonly preset: ProviderPreset }) {
  const { data: lists = [] } = useQuery(modelsQuery(useWorkspace()));
  const isFound = lists.some(
    ({ provider, origin }) => origin === "discovered" && provider === preset.discovered,
  );
  if (!isFound) return null;
  return (
    <Banner>
      {`Beckon has found ${preset.label} on its own machine. Agents can use it already, so add it only if yours runs elsewhere.`}
    </Banner>
  );
}
