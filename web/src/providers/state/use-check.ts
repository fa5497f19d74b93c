import type { Provider } from "@beckon/client";
import { skipToken, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useWorkspace } from "../../data/index.ts";
import { checkKey, type MadeCheck, modelsQuery } from "../queries.ts";
import { stateOf } from "./state.ts";

/** Returns the state of a provider, and a function that checks it now. */
export function useCheck(provider: Pick<Provider, "id" | "name">) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const queryKey = checkKey(workspace.id, provider.id);
  const { data: made } = useQuery<MadeCheck>({ queryKey, queryFn: skipToken });
  const models = useQuery(modelsQuery(workspace));
  const check = useMutation({
    mutationFn: async (): Promise<MadeCheck> => {
      const requestedAtMs = Date.now();
      const result = await workspace.client.providers.check(provider.id);
      return { ...result, requestedAtMs, checkedAtMs: Date.now() };
    },
    onSuccess: (result) => {
      // A provider can be checked again during a check, for example after its settings were
      // changed. The first check can end later, so the result of the check that was requested last
      // is kept.
      queryClient.setQueryData<MadeCheck>(queryKey, (known) =>
        known !== undefined && known.requestedAtMs > result.requestedAtMs ? known : result,
      );
    },
  });
  const lists = {
    lists: models.data,
    readAtMs: models.dataUpdatedAt,
    isPending: models.isPending,
  };
  return {
    state: stateOf(provider, lists, made),
    check: () => check.mutate(),
    isChecking: check.isPending,
    /** Whether `check` has not been called yet. */
    isIdle: check.isIdle,
    /** The error if the check could not be made; null otherwise. */
    error: check.error,
  };
}
