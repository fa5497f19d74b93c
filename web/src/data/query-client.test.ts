import { MutationObserver } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";
import { createQueryClient } from "./query-client.ts";

test("what a mutation was called with and what it returned leave the cache with its screen", async () => {
  vi.useFakeTimers();
  try {
    const client = createQueryClient();
    const rotate = new MutationObserver(client, {
      mutationFn: async (key: string) => `new ${key}`,
    });
    const close = rotate.subscribe(() => {});
    await rotate.mutate("secret");
    await vi.advanceTimersByTimeAsync(10_000);
    expect(client.getMutationCache().getAll()).toHaveLength(1);
    close();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(client.getMutationCache().getAll()).toEqual([]);
  } finally {
    vi.useRealTimers();
  }
});
