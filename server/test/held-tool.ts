import type { Tool } from "../src/engine/index.ts";
import { eventually } from "./eventually.ts";

export interface HeldTool {
  /** Called `hold`: counts as many KiB as its argument `kib` says in the run's hold, and waits. */
  readonly tool: Tool;
  /** Lets all calls return, those that come later too. */
  letGo(): void;
  /** Resolves when so many calls have begun. */
  called(count: number): Promise<void>;
  readonly calls: number;
}

/** A tool of the operator's that holds memory until it is let go. */
export function heldTool(): HeldTool {
  const gate = Promise.withResolvers<void>();
  let calls = 0;
  return {
    tool: {
      name: "hold",
      description: "holds memory",
      parameters: { type: "object" },
      safeToRepeat: true,
      async execute(args, { hold }) {
        const taken = hold?.grow((args as { kib: number }).kib * 1024);
        calls++;
        await gate.promise;
        return taken === true ? "held" : "refused";
      },
    },
    letGo: () => gate.resolve(),
    called: async (count) =>
      void (await eventually(`${count} calls of the tool`, () => calls >= count || undefined)),
    get calls() {
      return calls;
    },
  };
}
