import { once } from "node:events";
import { run, type Started } from "../processes.ts";

/** Receivers of deliveries, each a process. */
export type Receivers = Readonly<Record<"fast" | "hanging", Started<{ port: number }>>>;

export async function startReceivers(opened: AsyncDisposableStack): Promise<Receivers> {
  return {
    fast: await run<{ port: number }>(opened, "receivers/receiver.ts", ["fast"]),
    hanging: await run<{ port: number }>(opened, "receivers/receiver.ts", ["hanging"]),
  };
}

/** Returns how many requests a receiver got so far. */
export async function countReceived({ child }: Receivers["fast"]): Promise<number> {
  const answer = once(child, "message");
  child.send("count");
  const [{ received }] = (await answer) as [{ received: number }];
  return received;
}
