import type { CreateProviderBody, Provider } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import {
  announceChanges,
  announceIfOutdated,
  useIdempotencyKey,
  useWorkspace,
} from "../../data/index.ts";
import { modelsKey, providersKey } from "../queries.ts";

/**
 * Returns the mutation that creates a provider and then refetches the lists of providers and
 * models.
 */
export function useCreateProvider(onCreated: (provider: Provider) => void) {
  const { id, client } = useWorkspace();
  const queryClient = useQueryClient();
  const { keyOf, release } = useIdempotencyKey();
  return useMutation({
    mutationFn: (body: CreateProviderBody) =>
      client.providers.create(body, { idempotencyKey: keyOf(body) }),
    onSuccess: (provider) => {
      release();
      onCreated(provider);
      void announceChanges(queryClient, providersKey(id), modelsKey(id));
    },
    onError: (thrown) =>
      void announceIfOutdated(queryClient, thrown, providersKey(id), modelsKey(id)),
  });
}
